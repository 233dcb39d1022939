"""The artifact as one Markdown page, made to be read and to be pasted into a learning app."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

from exercises.records import Run
from exercises.speed import DEFINITIONS, LABELS
from labtui.artifacts import markdown_measured
from labtui.artifacts.document import Artifact, Believed, GateStanding, Recalled
from labtui.artifacts.harness_map import label, map_title
from labtui.artifacts.made_pieces import made_text, piece_of
from labtui.artifacts.markdown_text import (
    cell,
    code,
    fenced,
    item,
    link,
    own_cell,
    plain,
    quoted,
    table,
    without_html,
)
from labtui.artifacts.prediction_row import prediction_row
from labtui.artifacts.run_facts import (
    SPEED_COLUMNS,
    left_out_words,
    measured_with,
    outcome,
    shown_in_table,
    speed_values,
    task_words,
)
from lessons.model import PracticePiece

MARK = "labtui artifact, format 1"
PRACTICE_NOTE = (
    "**Practice.** These numbers come from the small practice checkpoint. They show that the harness works and how "
    "to measure; they say nothing about the model of the lesson and are not to be compared with any claim about it."
)


def to_markdown(artifact: Artifact) -> str:
    sections = (
        _title,
        _rule,
        _map,
        _verdict,
        _blind,
        _runs,
        _sweeps,
        markdown_measured.baseline,
        _source_check,
        _misconceptions,
        _predictions,
        _recall,
        _gates,
        _studio,
        _notes,
        _editor_notes,
        _sources,
        _answers,
        _foot,
    )
    blocks = [block for section in sections for block in section(artifact) if block]
    return "\n\n".join(blocks) + "\n"


def _title(artifact: Artifact) -> Iterator[str]:
    lesson = artifact.lesson
    yield f"# {map_title(lesson)}: {plain(lesson.title)}"
    yield quoted(lesson.summary)
    video = lesson.video
    if video.title:
        yield f"From the video {link(video.title, video.url)}, {plain(video.channel)}."
    if artifact.has_practice:
        yield PRACTICE_NOTE if not artifact.other_runs else f"{PRACTICE_NOTE} They stand in a table of their own."


def _rule(artifact: Artifact) -> Iterator[str]:
    if artifact.lesson.frame.principle.strip():
        yield "## The rule behind it"
        yield quoted(artifact.lesson.frame.principle)


def _map(artifact: Artifact) -> Iterator[str]:
    rows = artifact.harness_map
    if not rows:
        return
    yield "## The map"
    yield " → ".join(f"**{plain(row.stage)}**" for row in rows)
    bounded = any(row.boundary for row in rows)
    yield table(
        ("Stage", *(("In this lab", "Tool boundary") if bounded else ("What it is about",)), "Proof signal"),
        [
            (
                own_cell(f"**{plain(row.stage)}**"),
                cell(row.here) if row.stage.casefold() == "intent" else own_cell(plain(row.here)),
                *((own_cell(plain(row.boundary)),) if bounded else ()),
                own_cell(f"○ {plain(row.proof)}" if row.open else f"● {plain(row.proof)}"),
            )
            for row in rows
        ],
    )
    yield "● proved · ○ open"
    for row in rows:
        if row.note:
            yield f"My words on **{plain(row.stage)}**:"
            yield quoted(row.note)
    if artifact.weakest is not None:
        notice = artifact.weakest.notice.strip()
        yield f"Weakest link: **{plain(artifact.weakest.stage)}**." + (
            f" I would notice: {plain(notice)}" if notice else ""
        )


def _verdict(artifact: Artifact) -> Iterator[str]:
    if not artifact.has_lab:
        return
    yield "## Verdict"
    yield quoted(artifact.lesson.frame.lab_question)
    verdict = artifact.verdict
    if verdict is None:
        yield "No verdict was written yet."
        return
    yield f"My answer, {_day(verdict.saved_at)}:"
    yield quoted(verdict.text)
    if not verdict.runs:
        yield "It cites no run."
        return
    cited = artifact.cited_runs
    if all(run.practice for run in cited):
        yield "It rests on **practice** runs alone:"
    else:
        yield "It rests on:"
    yield _list(_headline(run) for run in cited)


def _blind(artifact: Artifact) -> Iterator[str]:
    if artifact.blind:
        yield "Judged blind, by eye:"
        yield _list(plain(one.sentence) for one in artifact.blind)
        for one in artifact.blind:
            yield from map(quoted, one.notes)


def _headline(run: Run) -> str:
    passed = "answer passed its checks" if run.check.passed else "answer failed a check"
    state = "" if run.valid else f"; invalid: {plain(run.invalid_reason or '')}"
    rate = speed_values(run)["end_to_end_tps"]
    return (
        f"{code(run.id)} · {plain(task_words(run))} · {plain(label(run))} · "
        f"{plain(rate)} {plain(LABELS['end_to_end_tps'])} · {passed}{state}"
    )


def _runs(artifact: Artifact) -> Iterator[str]:
    if not artifact.has_lab:
        return
    yield "## Runs"
    if not artifact.runs:
        yield "Nothing was run yet."
        return
    if artifact.other_runs:
        yield from _run_table(artifact, artifact.other_runs)
    if artifact.practice_runs:
        yield "### Practice runs"
        yield PRACTICE_NOTE
        yield from _run_table(artifact, artifact.practice_runs)
    yield "What the numbers mean:"
    yield _list(f"**{plain(LABELS[key])}**: {plain(DEFINITIONS[key])}" for key in SPEED_COLUMNS)
    yield from _settings(artifact.runs)


def _run_table(artifact: Artifact, runs: tuple[Run, ...]) -> Iterator[str]:
    cited = artifact.cited_ids
    shown = shown_in_table(runs, cited)
    if shown:
        yield table(
            ("Run", "Task", "Checkpoint", *(LABELS[key] for key in SPEED_COLUMNS), "Answer"),
            [_run_row(run, run.id in cited) for run in shown],
        )
    yield left_out_words(runs, shown)


def _run_row(run: Run, cited: bool) -> tuple[str, ...]:
    values = speed_values(run)
    return (
        own_cell(code(run.id) + (" (cited)" if cited else "")),
        own_cell(plain(task_words(run))),
        own_cell(plain(label(run))),
        *(own_cell(plain(values[key])) for key in SPEED_COLUMNS),
        own_cell(plain(outcome(run))),
    )


def _settings(runs: Iterable[Run]) -> Iterator[str]:
    settings = measured_with(runs)
    if settings:
        yield "Measured with:"
        yield _list(
            "; ".join([plain(one.label), *(f"{name} {code(value)}" for name, value in one.facts)])
            + f" ({one.runs} {'run' if one.runs == 1 else 'runs'})"
            for one in settings
        )


def _sweeps(artifact: Artifact) -> Iterator[str]:
    return markdown_measured.sweeps(artifact, PRACTICE_NOTE)


def _source_check(artifact: Artifact) -> Iterator[str]:
    if not artifact.source_check:
        return
    yield "## Source check"
    yield table(
        ("Timestamp", "Claim", "What the demo proves", "Confidence", "What still needs verification"),
        [
            (
                own_cell(link(row.timestamp, row.url)),
                own_cell(f"**{plain(row.anchor.title)}**: “{plain(row.anchor.quote)}”"),
                cell(row.anchor.proves) or "not stated",
                cell(row.confidence) if row.confidence else "not judged yet",
                " ".join(
                    part
                    for part in (
                        f"Not proved: {cell(row.anchor.does_not_prove)}" if row.anchor.does_not_prove.strip() else "",
                        cell(row.anchor.to_verify),
                    )
                    if part
                )
                or "not stated",
            )
            for row in artifact.source_check
        ],
    )
    yield "Claims are the words of the source, unchanged. Nothing in this table was measured here."


def _misconceptions(artifact: Artifact) -> Iterator[str]:
    if artifact.misconceptions:
        yield "## Misconceptions"
        yield "\n".join(item(_misconception(believed)) for believed in artifact.misconceptions)


def _misconception(believed: Believed) -> str:
    guess = believed.guess
    said = "not asked yet"
    if guess is not None:
        said = f"before I was told, I said {'true' if guess.believed else 'false'}"
    reason = f"\n\n{quoted(guess.why)}" if guess is not None and guess.why.strip() else ""
    claim = f"**{plain(believed.misconception.claim)}** ({said}){reason}"
    return claim if guess is None else f"{claim}\n\n{without_html(believed.misconception.correction)}"


def _predictions(artifact: Artifact) -> Iterator[str]:
    if artifact.predictions:
        yield "## Predictions"
        yield "Each was written down before the number was told."
        yield table(
            ("What", "Predicted", "Seen", "So"),
            [tuple(own_cell(plain(words)) for words in prediction_row(one)) for one in artifact.predictions],
        )


def _recall(artifact: Artifact) -> Iterator[str]:
    if artifact.recall:
        yield "## Recall"
        for recalled in artifact.recall:
            yield f"**{plain(recalled.item.question)}**"
            yield from _recalled(recalled)


def _recalled(recalled: Recalled) -> Iterator[str]:
    answer = recalled.answer
    if answer is None:
        yield "Not answered yet."
        return
    yield quoted(answer.answer) or "(an empty answer)"
    facts = [f"Answered {_day(answer.answered_at)}", f"graded {answer.grade}" if answer.grade else "not graded yet"]
    if recalled.due_on is not None:
        facts.append(f"again on {recalled.due_on}")
    if recalled.changed_since:
        facts.append("the question was reworded since")
    yield f"{', '.join(facts)}. A good answer says:"
    yield _list(plain(point) for point in recalled.item.points) or quoted(recalled.item.answer)


def _gates(artifact: Artifact) -> Iterator[str]:
    if artifact.gates:
        yield "## Gates"
        yield f"{artifact.gates_met} of {len(artifact.gates)} met. The lesson counts as learned when all are."
        yield "\n".join(item(_gate(standing)) for standing in artifact.gates)


def _gate(standing: GateStanding) -> str:
    title = f"**{plain(standing.gate.title)}**"
    lines = [f"[{'x' if standing.met else ' '}] {title}"]
    if standing.evidence is not None:
        lines[0] += f", {_day(standing.evidence.saved_at)}"
    if standing.missing:
        lines.append(plain(f"Open: {' '.join(standing.missing)}"))
    if standing.evidence is not None:
        lines.append(quoted(standing.evidence.evidence))
    return "\n\n".join(lines)


def _studio(artifact: Artifact) -> Iterator[str]:
    if artifact.lesson.practice:
        yield "## Practice studio"
        yield "\n".join(item(_piece(artifact, piece)) for piece in artifact.lesson.practice)


def _piece(artifact: Artifact, piece: PracticePiece) -> str:
    signal = f"**{plain(piece.title)}**. Done when: {without_html(piece.done_signal)}"
    made = [noted.note for noted in artifact.notes if noted.note.step == f"practice/{piece.id}"]
    return "\n\n".join([signal, *(f"{_day(note.saved_at)}:\n\n{_made(note.text)}" for note in made)])


def _made(kept: str) -> str:
    """A piece of the studio lives from its lines and indentation, a free text from its Markdown."""
    return quoted(kept) if piece_of(kept) is None else fenced(made_text(kept), "text")


def _notes(artifact: Artifact) -> Iterator[str]:
    if artifact.other_notes:
        yield "## My notes"
        for noted in artifact.other_notes:
            yield f"**{plain(noted.title)}**, {_day(noted.note.saved_at)}:"
            yield quoted(noted.note.text)


def _editor_notes(artifact: Artifact) -> Iterator[str]:
    if artifact.lesson.notes:
        yield "## Editor's notes"
        yield "\n".join(
            item(f"{without_html(note.body)}\n\nSource: {plain(note.source)}") for note in artifact.lesson.notes
        )


def _sources(artifact: Artifact) -> Iterator[str]:
    if artifact.lesson.sources:
        yield "## Source shelf"
        yield "\n".join(
            item(f"{link(source.title, source.url)}{': ' if source.note.strip() else ''}{without_html(source.note)}")
            for source in artifact.lesson.sources
        )


def _answers(artifact: Artifact) -> Iterator[str]:
    runs = artifact.answers_shown
    if not runs:
        return
    yield "## Answers of the model"
    yield "As they came, as text. Do not run what you have not read."
    for run in runs:
        yield f"{code(run.id)} · {plain(run.task)} · {plain(label(run))}"
        prompt = run.evidence.get("prompt")
        if isinstance(prompt, str) and prompt.strip():
            yield f"Asked:\n\n{fenced(prompt, 'text')}"
        yield f"Answered:\n\n{fenced(run.output, 'text')}" if run.output else "The answer is empty."
        yield _list(
            f"{'passed' if fact.passed else 'failed'}: {plain(fact.name)}"
            + (f" ({plain(fact.detail)})" if fact.detail else "")
            for fact in run.check.facts
        )


def _foot(artifact: Artifact) -> Iterator[str]:
    lesson = artifact.lesson
    yield "---"
    yield (
        f"Made on {artifact.made_at:%Y-%m-%d %H:%M} UTC by {plain(artifact.made_by)} from lesson {code(lesson.id)}, "
        f"version {plain(lesson.version)}. {MARK}."
    )


def _list(items: Iterable[str]) -> str:
    return "\n".join(item(text) for text in items)


def _day(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d}"
