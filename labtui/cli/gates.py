"""lesson gates: what each gate of a lesson counts, and the evidence for it."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from labtui.cli.lazy_group import LabCommand
from labtui.cli.session import Session, json_option, pass_session
from labtui.errors import USAGE, LabError

if TYPE_CHECKING:
    from labtui.standing import Standing
    from lessons.model import Gate, Lesson


@click.command(cls=LabCommand)
@click.argument("lesson_id", metavar="[LESSON]", required=False)
@click.argument("gate_id", metavar="[GATE]", required=False)
@click.argument("words", metavar="[TEXT]", required=False)
@click.option("--runs", "with_runs", is_flag=True, help="Name your newest valid run of each lab task in the text.")
@json_option
@pass_session
def gates(
    session: Session, lesson_id: str | None, gate_id: str | None, words: str | None, with_runs: bool, as_json: bool
) -> None:
    """The gates: what counts, what is missing.

    With GATE and TEXT the text is kept as its evidence; earlier evidence is kept too, and an empty TEXT takes it back.
    --runs adds the ids of your runs to TEXT, or to what is kept. A gate stays open until nothing is missing.
    """
    from labtui import gates as runs_at_gates
    from labtui.standing import standing_of

    lesson, store = session.lesson(lesson_id), session.store
    gate = _find(lesson, gate_id) if gate_id is not None else None
    standing = standing_of(lesson, store)
    if words is not None or with_runs:
        if gate is None:
            raise LabError("Which gate?", "--runs is for the evidence of one gate", "Give LESSON and GATE.", USAGE)
        kept = store.progress.gates(lesson.id).get(gate.id)
        text = words if words is not None else kept.evidence if kept is not None else ""
        if with_runs:
            runs = [run.id for run in standing.runs.values()]
            if not runs:
                raise LabError(
                    "There is no run to name",
                    f"no valid run of the tasks of {lesson.id} is kept",
                    "Make one: labtui run TASK, or in the lab.",
                    USAGE,
                )
            text = runs_at_gates.with_runs(text, runs)
        store.progress.save_gate(lesson.id, gate.id, text)
        session.say("Saved." if text.strip() else "The evidence is taken back.")
        standing = standing_of(lesson, store)
    shown = [gate] if gate is not None else list(lesson.gates)
    written = {one: met.evidence for one, met in store.progress.gates(lesson.id).items()}
    if as_json:
        session.emit([_as_data(one, standing, written.get(one.id)) for one in shown])
        return
    for one in shown:
        for line in _lines(one, standing, written.get(one.id), whole=gate is not None):
            click.echo(line)
    if not shown:
        session.say(f"{lesson.id} has no gates.")


def _lines(gate: Gate, standing: Standing, evidence: str | None, whole: bool) -> Iterator[str]:
    from labtui.cli.conversation import body_lines
    from labtui.gates import runs_for_gate
    from labtui.plain_markdown import WIDTH, plain_lines, plain_text
    from labtui.terminal_text import visible, visible_line
    from lessons.evidence import counts_for_gate

    missing = standing.gates[gate.id]
    yield f"{'open' if missing else 'met '}  {gate.id}  {plain_text(gate.title)}"
    if whole:
        yield from body_lines(gate.body)
    yield from (f"  {line}" for line in plain_lines(f"What counts: {counts_for_gate(gate)}.", WIDTH - 2))
    yield from (f"  - {visible_line(one)}" for one in missing)
    if whole:
        yield from (f"  Your run: {run.words}" for run in runs_for_gate(gate, standing.runs))
        if evidence is not None:
            yield "  Your evidence:"
            yield from (f"    {line}" for line in visible(evidence).splitlines())


def _as_data(gate: Gate, standing: Standing, evidence: str | None) -> dict[str, Any]:
    from labtui.gates import runs_for_gate
    from lessons.evidence import counts_for_gate

    missing = standing.gates[gate.id]
    return {
        "id": gate.id,
        "title": gate.title,
        "needs": list(gate.needs),
        "counts": counts_for_gate(gate),
        "met": not missing,
        "missing": list(missing),
        "evidence": evidence,
        "runs": [run.id for run in runs_for_gate(gate, standing.runs)],
    }


def _find(lesson: Lesson, gate_id: str) -> Gate:
    ids = [gate.id for gate in lesson.gates]
    if gate_id in ids:
        return lesson.gates[ids.index(gate_id)]
    near = difflib.get_close_matches(gate_id, ids, n=1, cutoff=0.4)
    raise LabError(
        f"{lesson.id} has no gate {gate_id!r}",
        f"it has {', '.join(ids)}" if ids else "it has none",
        f"Is {near[0]!r} meant?" if near else "Name a lesson first, then one of its gates.",
        USAGE,
    )
