"""Recall answers, and when each item comes back (FSRS, through the fsrs package)."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, cast

from fsrs import Card, Rating, Scheduler
from sqlite_utils import Database

from lessons.model import RecallItem
from store import moments
from store.connection import Connection
from store.errors import StoreError
from store.texts import storable

Grade = Literal["again", "hard", "good", "easy"]
RATINGS: dict[str, Rating] = {
    "again": Rating.Again,
    "hard": Rating.Hard,
    "good": Rating.Good,
    "easy": Rating.Easy,
}

# No steps of minutes: an answer comes back on another day. No random shift: the day can be computed again.
SCHEDULER = Scheduler(learning_steps=(), relearning_steps=(), enable_fuzzing=False)


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer to a recall item. grade, graded_at and due_at are None until the person has graded it.

    item_hash: item_hash() of the item as it was when it was answered.
    utc_offset_s: the person's clock against UTC when it was graded, for the day on which it is due.
    """

    id: int
    lesson: str
    item: str
    answer: str
    item_hash: str
    answered_at: datetime
    grade: Grade | None = None
    graded_at: datetime | None = None
    due_at: datetime | None = None
    utc_offset_s: int | None = None


@dataclass(frozen=True, slots=True)
class Due:
    lesson: str
    item: str
    due_at: datetime


def item_hash(item: RecallItem) -> str:
    """Changes when the question or its answer is reworded; not with white space."""
    words = " ".join(" ".join((item.question, item.answer, *item.points)).split())
    return hashlib.sha256(unicodedata.normalize("NFC", words).encode("utf-8", "replace")).hexdigest()[:16]


class Recall:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add_answer(self, lesson_id: str, item_id: str, answer: str, item_hash: str) -> Answer:
        answered_at = moments.now()
        row = {
            "lesson": lesson_id,
            "item": item_id,
            "answer": storable(answer),
            "item_hash": item_hash,
            "answered_at": moments.to_text(answered_at),
        }
        with self._connection.writing() as db:
            answer_id = db.table("recall_answers").insert(row).last_pk
        return Answer(cast(int, answer_id), lesson_id, item_id, row["answer"], item_hash, answered_at)

    def grade(self, answer_id: int, grade: Grade, now: datetime | None = None) -> Answer:
        """Grades an answer and sets when its item comes back.

        Grading an answer again replaces its grade; the earlier one stays in the history as undone.
        """
        if grade not in RATINGS:
            raise StoreError("There is no such grade", f"{grade!r}", f"Use one of {', '.join(RATINGS)}.", exit_code=2)
        local = (now or moments.now()).astimezone()
        graded_at = local.astimezone(UTC)
        with self._connection.writing() as db:
            answer = self._one(db, answer_id)
            if answer.grade is not None:
                self._undo(db, answer)
            card, _ = SCHEDULER.review_card(self._card(db, answer), RATINGS[grade], graded_at)
            offset = local.utcoffset()
            db.table("recall_grades").insert(
                {
                    "answer_id": answer_id,
                    "lesson": answer.lesson,
                    "item": answer.item,
                    "grade": grade,
                    "graded_at": moments.to_text(graded_at),
                    "utc_offset_s": int(offset.total_seconds()) if offset else 0,
                    "due_at": moments.to_text(card.due),
                    "card": json.dumps(card.to_dict()),
                    "undone_at": None,
                }
            )
            return self._one(db, answer_id)

    def undo_grade(self, answer_id: int) -> Answer:
        """Takes the grade back: the item is due as before it. The answer stays, ungraded."""
        with self._connection.writing() as db:
            answer = self._one(db, answer_id)
            if answer.grade is None:
                raise StoreError(
                    "There is no grade to undo", f"answer {answer_id} is not graded", "Grade it.", exit_code=2
                )
            self._undo(db, answer)
            return self._one(db, answer_id)

    def answers(self, lesson_id: str, item_id: str | None = None) -> list[Answer]:
        """Newest first."""
        with self._connection.reading() as db:
            rows = db.execute(
                ANSWERS + " WHERE a.lesson = :lesson AND (:item IS NULL OR a.item = :item) ORDER BY a.id DESC",
                {"lesson": lesson_id, "item": item_id},
            ).fetchall()
        return [_answer(row) for row in rows]

    def latest(self, lesson_id: str) -> dict[str, Answer]:
        """The newest answer of each item that has one."""
        newest: dict[str, Answer] = {}
        for answer in self.answers(lesson_id):
            newest.setdefault(answer.item, answer)
        return newest

    def schedule(self, lesson_id: str | None = None) -> list[Due]:
        """When each graded item comes back, the soonest first. Items never graded are not in it."""
        with self._connection.reading() as db:
            rows = db.execute(
                "SELECT lesson, item, due_at FROM recall_grades WHERE id IN "
                "(SELECT max(id) FROM recall_grades WHERE undone_at IS NULL GROUP BY lesson, item) "
                "AND (:lesson IS NULL OR lesson = :lesson) ORDER BY due_at, lesson, item",
                {"lesson": lesson_id},
            ).fetchall()
        return [Due(row[0], row[1], moments.from_text(row[2])) for row in rows]

    def due(self, now: datetime | None = None, lesson_id: str | None = None) -> list[Due]:
        """The graded items whose time has come, the longest overdue first."""
        moment = now or moments.now()
        return [item for item in self.schedule(lesson_id) if item.due_at <= moment]

    def _one(self, db: Database, answer_id: int) -> Answer:
        row = db.execute(ANSWERS + " WHERE a.id = ?", [answer_id]).fetchone()
        if row is None:
            raise StoreError(
                "There is no such answer", f"no answer has the number {answer_id}", "See labtui recall.", exit_code=2
            )
        return _answer(row)

    def _undo(self, db: Database, answer: Answer) -> None:
        grade_id, of_answer = db.execute(
            "SELECT id, answer_id FROM recall_grades WHERE lesson = ? AND item = ? AND undone_at IS NULL "
            "ORDER BY id DESC LIMIT 1",
            [answer.lesson, answer.item],
        ).fetchone()
        if of_answer != answer.id:
            raise StoreError(
                "The grade cannot be changed",
                f"a later answer to {answer.item} was graded after it, and its day was computed from this grade",
                "Undo the later grade first.",
                exit_code=2,
            )
        db.execute("UPDATE recall_grades SET undone_at = ? WHERE id = ?", [moments.to_text(moments.now()), grade_id])

    def _card(self, db: Database, answer: Answer) -> Card:
        row = db.execute(
            "SELECT card FROM recall_grades WHERE lesson = ? AND item = ? AND undone_at IS NULL "
            "ORDER BY id DESC LIMIT 1",
            [answer.lesson, answer.item],
        ).fetchone()
        return Card.from_dict(json.loads(row[0])) if row else Card(card_id=answer.id)


ANSWERS = (
    "SELECT a.id, a.lesson, a.item, a.answer, a.item_hash, a.answered_at, g.grade, g.graded_at, g.due_at, "
    "g.utc_offset_s FROM recall_answers a LEFT JOIN recall_grades g ON g.answer_id = a.id AND g.undone_at IS NULL"
)


def _answer(row: tuple[int, str, str, str, str, str, Grade | None, str | None, str | None, int | None]) -> Answer:
    return Answer(
        id=row[0],
        lesson=row[1],
        item=row[2],
        answer=row[3],
        item_hash=row[4],
        answered_at=moments.from_text(row[5]),
        grade=row[6],
        graded_at=moments.from_text_or_none(row[7]),
        due_at=moments.from_text_or_none(row[8]),
        utc_offset_s=row[9],
    )
