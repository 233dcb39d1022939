"""The command `labtui`: its commands, what they share, and how it ends."""

from __future__ import annotations

import sys
from typing import Any, NoReturn

import click

from labtui.cli.faults import exit_code_of
from labtui.cli.lazy_group import LazyGroup, shared_options
from labtui.cli.output import OutputLost, end_without_output, guarded_output, leave_quietly
from labtui.cli.session import Session
from labtui.program import program

COMMANDS = {
    "study": ("labtui.cli.study:study", "Walk a lesson through stdin and stdout."),
    "next": ("labtui.cli.next:next_command", "The one thing to do next, and the command for it."),
    "lessons": ("labtui.cli.lessons:lessons_command", "What lessons there are and how far you are."),
    "lesson": ("labtui.cli.lessons:lesson", "Write lessons: import, check, new."),
    "serve": ("labtui.cli.serve:serve", "Plan, start, watch and stop the model server."),
    "doctor": ("labtui.cli.doctor:doctor", "What this machine can run and what would stop it."),
    "diagnose": ("labtui.cli.doctor:diagnose", "The named cause in a vLLM log, and the fix."),
    "run": ("labtui.cli.run:run", "Run a task on the served model and measure it."),
    "tasks": ("labtui.cli.tasks:tasks", "What can be run; write tasks of your own."),
    "sweeps": ("labtui.cli.sweep:sweeps_command", "The sweeps that were kept: by kind, at once, by steps."),
    "measure": ("labtui.cli.measure:measure", "Speed from a recorded stream."),
    "runs": ("labtui.cli.runs:runs_command", "The runs that were kept."),
    "show": ("labtui.cli.runs:show", "One run with every number, and how it comes about."),
    "blind": ("labtui.cli.blind:blind", "Judge two answers without knowing whose they are."),
    "compare": ("labtui.cli.runs:compare", "Two runs side by side."),
    "predict": ("labtui.cli.predict:predict", "Write a number down first, then see it in your server's log."),
    "verdict": ("labtui.cli.verdict:verdict", "Write or read the verdict of a lesson."),
    "recall": ("labtui.cli.recall:recall", "Answer first, then reveal, then grade yourself."),
    "due": ("labtui.cli.recall:due", "Recall questions that are due."),
    "export": ("labtui.cli.export:export", "The artifact of a lesson, as files."),
    "progress": ("labtui.cli.progress:progress", "Everything you have done, to and from another machine."),
    "web": ("labtui.cli.web:web", "The same app in a browser, on 127.0.0.1."),
    "store": ("labtui.cli.store:store", "Where everything is kept; check it, copy it."),
}

EXIT_CODES = """\b
Exit codes: 0 done, 1 the check or task failed or nothing could be written, 2 usage: wrong words, ids
or files, 3 the server is not there or not ready, 4 the store is unusable, 130 stopped by Ctrl-C."""


class RootGroup(LazyGroup):
    def main(self, args: Any = None, prog_name: str | None = None, **extra: Any) -> NoReturn:  # type: ignore[override]
        arguments = list(sys.argv[1:] if args is None else args)
        own = arguments[: arguments.index("--")] if "--" in arguments else arguments
        session = Session(as_json="--json" in own)
        with guarded_output():
            try:
                code = self._run(arguments, program(), session, extra)
                sys.stdout.flush()
            except OutputLost as lost:
                code = end_without_output(lost)
            finally:
                session.close()
        leave_quietly()
        sys.exit(code)

    def _run(self, arguments: list[str], prog_name: str, session: Session, extra: dict[str, Any]) -> int:
        """Raises OutputLost."""
        try:
            code = super().main(arguments, prog_name, obj=session, **extra | {"standalone_mode": False})
        except OutputLost:
            raise
        except (Exception, KeyboardInterrupt) as error:
            return exit_code_of(error, session)
        return code if isinstance(code, int) else 0


def _show_version(ctx: click.Context, parameter: click.Parameter, wanted: bool) -> None:
    if wanted:
        from labtui.version import version

        click.echo(f"labtui {version()}")
        ctx.exit()


@click.group(
    cls=RootGroup,
    lazy=COMMANDS,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=EXIT_CODES,
    params=shared_options(),
)
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_show_version, help="Show it.")
@click.pass_context
def labtui(ctx: click.Context) -> None:
    """A terminal lab for learning a model by running it.

    Without a command it opens the app. Read the lesson, serve the model, measure the claim, keep the verdict.
    """
    if ctx.invoked_subcommand is None:
        from labtui.cli.opening import open_app

        open_app(ctx.obj)
