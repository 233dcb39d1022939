"""Whether a text has changed since a person dealt with it. Ids carry progress; fingerprints only tell."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Mapping

from lessons.model import Lesson, RecallItem
from lessons.walk import steps


def fingerprint(*texts: str) -> str:
    """Changes with every change of wording; not with white space or the way letters are composed."""
    words = " ".join(" ".join(texts).split())
    return hashlib.sha256(unicodedata.normalize("NFC", words).encode("utf-8", "replace")).hexdigest()[:16]


def recall_fingerprint(item: RecallItem) -> str:
    """The same as item_hash of the store, under which answers are kept."""
    return fingerprint(item.question, item.answer, *item.points)


def step_fingerprints(lesson: Lesson) -> dict[str, str]:
    """For each step of the walk what a person reads there, anchors and order left out."""
    parts: dict[str, tuple[str, ...]] = {"frame": tuple(getattr(lesson.frame, name) for name in FRAME)}
    parts |= {f"card/{one.id}": (one.stage, one.body) for one in lesson.cards}
    parts |= {f"deep/{one.id}": (one.title, one.quote, one.body, one.task) for one in lesson.deep_points}
    parts |= {
        f"anchor/{one.id}": (one.title, one.quote, one.proves, one.does_not_prove, one.to_verify)
        for one in lesson.anchors
    }
    parts |= {f"example/{one.id}": (one.title, one.body) for one in lesson.examples}
    parts |= {f"pitfall/{one.id}": (one.body,) for one in lesson.pitfalls}
    parts |= {f"misconception/{one.id}": (one.claim, one.correction, one.why) for one in lesson.misconceptions}
    parts |= {f"practice/{one.id}": (one.title, one.body, one.done_signal) for one in lesson.practice}
    parts |= {f"predict/{one.id}": (one.title, one.exercise, one.body, one.worked) for one in lesson.predictions}
    parts |= {f"lab/{one.id}": (one.task, one.title, one.body) for one in lesson.lab_tasks}
    parts |= {f"recall/{one.id}": (one.question, one.answer, *one.points) for one in lesson.recall}
    parts |= {f"gate/{one.id}": (one.title, one.body) for one in lesson.gates}
    parts["verdict"] = (lesson.frame.lab_question,)
    return {step.id: fingerprint(*parts[step.id]) for step in steps(lesson)}


def changed_steps(lesson: Lesson, read: Mapping[str, str]) -> frozenset[str]:
    """Steps whose text is another one than when it was read. read: the fingerprint then, by the id of the step."""
    now = step_fingerprints(lesson)
    return frozenset(step for step, before in read.items() if step in now and now[step] != before)


FRAME = ("principle", "why", "skill", "watch_for", "thesis", "goal", "lab_question")
