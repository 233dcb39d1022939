"""serve attach, status, logs, stop."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from labtui.cli.faults import INTERRUPTED
from labtui.cli.given_files import read_given
from labtui.cli.lazy_group import LabCommand
from labtui.cli.narration import working
from labtui.cli.serve_start import record
from labtui.cli.serve_text import engine_lines, offer_lines, status_lines
from labtui.cli.session import Session, json_option, pass_session
from labtui.errors import DONE, FAILED, NO_SERVER, USAGE, LabError
from labtui.terminal_text import visible_line

if TYPE_CHECKING:
    from labtui.serving.stopping import StopReport
    from labtui.serving.supervisor import Supervisor

LARGEST_KEY = 16 * 1024


@click.command(cls=LabCommand)
@click.argument("url")
@click.option("--key-file", type=click.Path(path_type=Path), metavar="FILE", help="A file with the API key.")
@json_option
@pass_session
def attach(session: Session, url: str, key_file: Path | None, as_json: bool) -> None:
    """Use an OpenAI-compatible server that runs already. It is never stopped by labtui.

    The API key comes from --key-file or from the variable LABTUI_API_KEY: a command line can be read by everybody.
    """
    from labtui.serving.status import status_to_json

    supervisor = session.supervisor()
    supervisor.attach(url, _key_in(key_file) if key_file else None)
    status = supervisor.status()
    if as_json:
        session.emit(status_to_json(status))
        return
    for line in status_lines(status):
        click.echo(line)


def _key_in(file: Path) -> str:
    fix = "Give a file that holds the API key and nothing else."
    content = read_given(file, LARGEST_KEY, "The API key cannot be read", fix)
    try:
        return content.decode("utf-8-sig").strip()
    except UnicodeDecodeError as error:
        raise LabError("The API key cannot be read", f"{file} is not text in UTF-8", fix, USAGE) from error


@click.command(cls=LabCommand)
@json_option
@pass_session
def status(session: Session, as_json: bool) -> None:
    """Where the server stands. Exit 0 in every state; labtui run says with exit 3 that it is not ready."""
    from labtui.serving.status import status_to_json

    supervisor = session.supervisor()
    seen = supervisor.status()
    record(session, supervisor, seen)
    if as_json:
        others = supervisor.others()
        engines = {"leftovers": others.ours, "others": others.foreign}
        listed = {name: [asdict(one) for one in found] for name, found in engines.items()}
        offered = [{"words": one.words, "command": one.command} for _, one in supervisor.offers(seen)]
        offers = {"remedy": offered[0] if offered else None, "remedies": offered}
        session.emit(status_to_json(seen) | listed | offers)
        return
    for line in [*status_lines(seen), *offer_lines(supervisor.offers(seen))]:
        click.echo(line)
    for line in engine_lines(supervisor.others()):
        click.echo(line)


@click.command(cls=LabCommand)
@click.option("-f", "--follow", is_flag=True, help="Go on as lines come, until Ctrl-C or until the server has ended.")
@click.option("-n", "--lines", "count", type=click.IntRange(min=0), default=200, show_default=True, metavar="N")
@pass_session
def logs(session: Session, follow: bool, count: int) -> int:
    """The last lines of the server's log, made safe to print."""
    from labtui.serving.supervisor import Supervisor

    supervisor = Supervisor()
    path = supervisor.log_path
    if path is None:
        raise LabError("There is no log", "no server was started here", "Start one: labtui serve start", NO_SERVER)
    session.say(f"{path}")
    if not follow:
        for line in supervisor.log_lines(count):
            click.echo(line)
        return DONE
    _follow(session, supervisor, path, count)
    return DONE


def _follow(session: Session, supervisor: Supervisor, path: Path, count: int) -> None:
    import time

    from labtui.serving.log_tail import LogFollower

    follower = LogFollower(path)
    follower.poll()
    for line in list(follower.lines)[-count:] if count else []:
        click.echo(line)
    try:
        while True:
            arrived = follower.poll()
            for line in arrived:
                click.echo(line)
            if not arrived:
                launch = supervisor.launch
                if launch is None or launch.ended is not None or supervisor.status(wait_s=0).state == "stopped":
                    session.say("The server has ended.")
                    return
                time.sleep(0.5)
    except KeyboardInterrupt:
        session.say("")


@click.command(cls=LabCommand)
@click.option("--leftovers", is_flag=True, help="End only what earlier servers left behind; the one in use goes on.")
@json_option
@pass_session
def stop(session: Session, leftovers: bool, as_json: bool) -> int:
    """End the server that labtui started, and look that nothing of it is left. Others are never signalled."""
    if leftovers:
        with working(session, "ending what is left") as narrator:
            report = session.supervisor().stop_leftovers(lambda text: narrator.now(visible_line(text)))
        return _told(session, report, as_json)
    from labtui.launch_record import record_stop
    from store.errors import StoreError

    supervisor = session.supervisor()
    record(session, supervisor, supervisor.status(wait_s=0))
    launch = supervisor.launch
    ours = launch is not None and launch.kind == "launched" and launch.ended is None
    try:
        with working(session, "stopping the server" if ours else "looking for a server of ours") as narrator:
            report = supervisor.stop(lambda text: narrator.now(visible_line(text)))
    except KeyboardInterrupt:
        session.say(f"Not waiting any longer. {_standing_words(supervisor)}")
        return INTERRUPTED
    store = session.store_if_usable()
    if store is not None and report.outcome == "stopped":
        try:
            record_stop(store, launch)
        except StoreError as error:
            session.say(f"The end was not written down. {error.title}: {error.cause}")
    return _told(session, report, as_json)


def _standing_words(supervisor: Supervisor) -> str:
    """What is known of a server while it goes down, or before it was asked to."""
    state = supervisor.status(wait_s=0).state
    if state == "stopped":
        return "The server has ended."
    if state == "dying":
        return "The server was told to end and is ending: labtui serve status says when it has."
    return f"The server is {state} and goes on; labtui serve stop ends it."


def _told(session: Session, report: StopReport, as_json: bool) -> int:
    if as_json:
        session.emit(asdict(report))
    else:
        click.echo(visible_line(report.message))
    return DONE if report.ok else FAILED
