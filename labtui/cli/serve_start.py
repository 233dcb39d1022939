from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import click

from labtui.cli.interrupting import ctrl_c_sets
from labtui.cli.lazy_group import LabCommand
from labtui.cli.narration import working
from labtui.cli.serve_plan import MEASURED_LOOKED_AT, make_chosen_plan, plan_options
from labtui.cli.serve_text import offer_lines, status_line, status_lines
from labtui.cli.session import Session, json_option, pass_session
from labtui.errors import DONE, FAILED, NO_SERVER, USAGE, LabError
from labtui.terminal_text import visible_line

if TYPE_CHECKING:
    from labtui.serving.plan import Plan
    from labtui.serving.state import ServerState
    from labtui.serving.status import Status
    from labtui.serving.supervisor import Supervisor


@click.command(cls=LabCommand)
@plan_options
@click.option("--wait", is_flag=True, help="Return when the server has answered a request of ours.")
@click.option(
    "--fix",
    type=click.IntRange(min=1),
    is_flag=False,
    flag_value=1,
    metavar="[N]",
    help="Start again with the change that avoids what ended the last server; N: with the Nth that serve status names.",
)
@click.option("--anyway", is_flag=True, help="Start although an estimate says that it will not fit.")
@json_option
@pass_session
def start(session: Session, /, wait: bool, fix: int | None, anyway: bool, as_json: bool, **choices: Any) -> int:
    """Start the server. It outlives this command; labtui serve stop ends it.

    What follows -- goes to vLLM: labtui serve start --wait -- --max-num-seqs 2. Ctrl-C while waiting leaves the
    server starting.
    """
    from labtui.cli.faults import INTERRUPTED
    from labtui.serving.status import status_to_json

    supervisor = session.supervisor()
    plan = mended(session, supervisor, fix) if fix is not None else make_chosen_plan(session, **choices)
    try:
        launch = supervisor.start(plan, anyway=anyway)
    except LabError as error:
        if error.exit_code == FAILED:
            raise LabError(error.title, error.cause, error.fix, NO_SERVER) from error
        raise
    status = supervisor.status(wait_s=0)
    record(session, supervisor, status)
    session.say(f"{launch.checkpoint}{' (practice)' if launch.practice else ''} on {launch.url}, pid {launch.pid}")
    session.say(f"log: {launch.log_path}")
    interrupted = threading.Event()
    try:
        if wait:
            with working(session, status_line(status)) as narrator, ctrl_c_sets(interrupted):
                status = supervisor.wait_ready(lambda now: narrator.now(status_line(now)), interrupted)
            ask_for_flags_beside(launch)
    except LabError:
        status = supervisor.status(wait_s=0)
        for line in offer_lines(supervisor.offers(status)):
            session.say(line)
        raise
    finally:
        record(session, supervisor, status)
    if as_json:
        session.emit(status_to_json(status))
    else:
        for line in status_lines(status):
            click.echo(line)
    if interrupted.is_set():
        session.say("Not waiting any longer; the server goes on. labtui serve status says where it stands.")
        return INTERRUPTED
    return DONE


def mended(session: Session, supervisor: Supervisor, number: int = 1) -> Plan:
    """The plan that avoids what ended the last server, or the one of that number.

    Raises LabError where nothing ended it, nothing is known, or there are not so many.
    """
    from labtui.serving.measured import measured_launches

    status = supervisor.status(wait_s=0)
    store = session.store_if_usable()
    measured = () if store is None else measured_launches(store.launches.list(MEASURED_LOOKED_AT))
    found = supervisor.offers(status, measured=measured)
    if not found:
        raise LabError(
            "There is nothing to mend by a setting",
            "The last server did not die." if not status.died else f"{status.message or 'No known cause'}.",
            status.causes[0].fix if status.causes else "labtui serve status says how the last server ended.",
        )
    if number > len(found):
        raise LabError(
            f"There is no change number {number}",
            f"{len(found)} would avoid it." if len(found) > 1 else "One would avoid it.",
            "labtui serve status lists what would.",
            USAGE,
        )
    cause, remedy = found[number - 1]
    session.say(f"{visible_line(cause.title)}. Now {visible_line(remedy.words)}:")
    session.say(f"  {visible_line(remedy.command)}")
    return remedy.plan


def ask_for_flags_beside(launch: ServerState) -> None:
    """The server is ready: the machine has time for the question that takes vLLM half a minute."""
    from labtui.serving.known_flags import ask_beside
    from labtui.serving.machine import installed_vllm

    vllm = installed_vllm()
    if vllm is not None and launch.command[: len(vllm.program)] == vllm.program:
        ask_beside(vllm)


def record(session: Session, supervisor: Supervisor, status: Status) -> None:
    """Keeps what the store does not know yet of this launch. A store that fails never stops the server's business."""
    from labtui.launch_record import record_launch
    from store.errors import StoreError

    store = session.store_if_usable()
    if store is None:
        return
    try:
        record_launch(store, supervisor.launch, status)
    except StoreError as error:
        session.say(f"The launch was not written down. {error.title}: {error.cause}")
