"""The artifact as JSON with stable keys: more may be added, these keep their names and meaning."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from exercises.predictions import Judged
from exercises.run_json import run_to_json, without_raw
from exercises.speed import DEFINITIONS
from labtui.artifacts.document import Artifact, PredictedInLesson
from labtui.artifacts.made_pieces import made_text, piece_of
from labtui.judging import tally_to_json
from labtui.predicting import judged
from labtui.terminal_text import json_text
from labtui.trial_comparison import baseline_to_json

FORMAT = "labtui-artifact"
FORMAT_VERSION = 1


def to_json(artifact: Artifact) -> str:
    return json_text(json_document(artifact)) + "\n"


def json_document(artifact: Artifact) -> dict[str, Any]:
    """Times are ISO 8601 in UTC; what is not there yet is null. Runs have the shape of `labtui show RUN --json`."""
    lesson = artifact.lesson
    verdict = artifact.verdict
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "made_at": _time(artifact.made_at),
        "made_by": artifact.made_by,
        "lesson": {
            "id": lesson.id,
            "title": lesson.title,
            "version": lesson.version,
            "summary": lesson.summary,
            "question": lesson.frame.lab_question,
            "video": {"title": lesson.video.title, "url": lesson.video.url, "channel": lesson.video.channel},
        },
        "practice": artifact.has_practice,
        "map": [
            {
                "card": row.card,
                "stage": row.stage,
                "here": row.here,
                "boundary": row.boundary,
                "proof": row.proof,
                "proved": not row.open,
                "note": row.note,
            }
            for row in artifact.harness_map
        ],
        "weakest_link": None
        if artifact.weakest is None
        else {"stage": artifact.weakest.stage, "notice": artifact.weakest.notice},
        "verdict": None
        if verdict is None
        else {
            "text": verdict.text,
            "saved_at": _time(verdict.saved_at),
            "runs": list(verdict.runs),
            "cites_practice": any(run.practice for run in artifact.cited_runs),
        },
        "blind": [{"task": one.task, **tally_to_json(one.tally), "notes": list(one.notes)} for one in artifact.blind],
        "runs": [_run(run) for run in map(run_to_json, artifact.runs)],
        "definitions": dict(DEFINITIONS),
        "sweeps": [dict(document) for document in artifact.sweeps],
        "baseline": None if artifact.baseline is None else baseline_to_json(artifact.baseline),
        "source_check": [
            {
                "anchor": row.anchor.id,
                "timestamp": row.timestamp,
                "at_s": row.anchor.start_s,
                "url": row.url,
                "title": row.anchor.title,
                "claim": row.anchor.quote,
                "proves": row.anchor.proves,
                "does_not_prove": row.anchor.does_not_prove,
                "confidence": row.confidence,
                "to_verify": row.anchor.to_verify,
            }
            for row in artifact.source_check
        ],
        "misconceptions": [
            {
                "id": believed.misconception.id,
                "claim": believed.misconception.claim,
                "correction": believed.misconception.correction,
                "believed": None if believed.guess is None else believed.guess.believed,
                "why": None if believed.guess is None else believed.guess.why,
            }
            for believed in artifact.misconceptions
        ],
        "predictions": [
            {
                "id": one.prediction.id,
                "title": one.prediction.title,
                "unit": None if one.exercise is None else one.exercise.unit,
                "predicted": None if one.predicted is None else one.predicted.value,
                "words": None if one.predicted is None else one.predicted.words,
                "seen": _seen(one),
                "right": None if (found := _judged(one)) is None else found.right,
                "percent_off": None if found is None else found.percent_off,
            }
            for one in artifact.predictions
        ],
        "recall": [
            {
                "id": recalled.item.id,
                "question": recalled.item.question,
                "answer": None if recalled.answer is None else recalled.answer.answer,
                "answered_at": None if recalled.answer is None else _time(recalled.answer.answered_at),
                "grade": None if recalled.answer is None else recalled.answer.grade,
                "due_on": None if recalled.due_on is None else recalled.due_on.isoformat(),
                "due_at": _time(recalled.due_at),
                "changed_since": recalled.changed_since,
                "expected": recalled.item.answer,
                "points": list(recalled.item.points),
            }
            for recalled in artifact.recall
        ],
        "gates": [
            {
                "id": standing.gate.id,
                "title": standing.gate.title,
                "met": standing.met,
                "missing": list(standing.missing),
                "evidence": None if standing.evidence is None else standing.evidence.evidence,
                "saved_at": None if standing.evidence is None else _time(standing.evidence.saved_at),
            }
            for standing in artifact.gates
        ],
        "notes": [
            {
                "step": noted.note.step,
                "title": noted.title,
                "text": made_text(noted.note.text),
                "piece": None if piece_of(noted.note.text) is None else json.loads(noted.note.text),
                "saved_at": _time(noted.note.saved_at),
            }
            for noted in artifact.notes
        ],
        "editor_notes": [
            {"id": note.id, "about": note.about, "body": note.body, "source": note.source} for note in lesson.notes
        ],
        "sources": [
            {"id": source.id, "title": source.title, "url": source.url, "note": source.note}
            for source in lesson.sources
        ],
    }


def _seen(one: PredictedInLesson) -> dict[str, Any] | None:
    seen = None if one.predicted is None else one.predicted.seen
    return None if seen is None else {"value": seen.value, "where": seen.where, "own": seen.own}


def _judged(one: PredictedInLesson) -> Judged | None:
    return None if one.predicted is None or one.exercise is None else judged(one.exercise, one.predicted)


def _run(run: dict[str, Any]) -> dict[str, Any]:
    """The definitions stand once for all runs; the raw stream is in the bundle of a run."""
    return {key: value for key, value in without_raw(run).items() if key != "definitions"}


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat(timespec="seconds")
