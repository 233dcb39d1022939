from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import click

from labtui.cli.interrupting import ctrl_c_sets
from labtui.cli.lazy_group import LabCommand
from labtui.cli.narration import working
from labtui.cli.serve_plan import make_chosen_plan, plan_options
from labtui.cli.serve_text import status_line, status_lines
from labtui.cli.session import Session, json_option, pass_session
from labtui.errors import DONE, FAILED, NO_SERVER, LabError

if TYPE_CHECKING:
    from labtui.serving.status import Status
    from labtui.serving.supervisor import Supervisor


@click.command(cls=LabCommand)
@plan_options
@click.option("--wait", is_flag=True, help="Return when the server has answered a request of ours.")
@click.option("--anyway", is_flag=True, help="Start although an estimate says that it will not fit.")
@json_option
@pass_session
def start(session: Session, /, wait: bool, anyway: bool, as_json: bool, **choices: Any) -> int:
    """Start the server. It outlives this command; labtui serve stop ends it.

    What follows -- goes to vLLM: labtui serve start --wait -- --max-num-seqs 2. Ctrl-C while waiting leaves the
    server starting.
    """
    from labtui.cli.faults import INTERRUPTED
    from labtui.serving.status import status_to_json

    plan = make_chosen_plan(session, **choices)
    supervisor = session.supervisor()
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
