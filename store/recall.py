"""Recall answers, and on which day each item comes back (store/scheduling.py)."""

from __future__ import annotations

import hashlib
import unicodedata
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone, tzinfo
from typing import cast

from sqlite_utils import Database

from lessons.model import RecallItem
from store import moments
from store.connection import Connection
from store.days import beginning_of, day_of, local_time
from store.errors import StoreError
from store.scheduling import RATINGS, Grade, Review, due_day, review
from store.texts import storable

LAPSES_OF_A_LEECH = 4
"""An item graded "again" this often is not learned by asking it once more: what helps is going back to its source."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer to a recall item. grade, graded_at and due_on are None until the person has graded it.

    item_hash: item_hash() of the item as it was when it was answered.
    utc_offset_s: the person's clock against UTC when it was graded.
    due_on: the person's day (store/days.py) on which the item comes back.
    """

    id: int
    lesson: str
    item: str
    answer: str
    item_hash: str
    answered_at: datetime
    grade: Grade | None = None
    graded_at: datetime | None = None
    utc_offset_s: int | None = None
    due_on: date | None = None

    @property
    def due_at(self) -> datetime | None:
        """When that day began, or begins, on the clock by which it was graded."""
        return _due_at(self.due_on, self.utc_offset_s)


@dataclass(frozen=True, slots=True)
class Due:
    """due_on: the person's day on which the item comes back, wherever they are by then."""

    lesson: str
    item: str
    due_on: date
    utc_offset_s: int

    @property
    def due_at(self) -> datetime:
        """When that day began, or begins, on the clock by which the item was graded."""
        return cast(datetime, _due_at(self.due_on, self.utc_offset_s))


@dataclass(frozen=True, slots=True)
class Graded:
    """One grade in the history of an item. undone_at: when it was taken back, None while it counts."""

    item: str
    answer_id: int
    grade: Grade
    graded_at: datetime
    due_on: date
    undone_at: datetime | None


def item_hash(item: RecallItem) -> str:
    """Changes when the question or its answer is reworded; not with white space."""
    words = " ".join(" ".join((item.question, item.answer, *item.points)).split())
    return hashlib.sha256(unicodedata.normalize("NFC", words).encode("utf-8", "replace")).hexdigest()[:16]


class Recall:
    """Rows are in the order of their times, then of their ids: what another machine kept may be older than it is new
    here. Where the clock was set back, what is saved takes the time of the newest row, so that it stays the newest."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add_answer(self, lesson_id: str, item_id: str, answer: str, item_hash: str) -> Answer:
        row = {
            "lesson": lesson_id,
            "item": item_id,
            "answer": storable(answer),
            "item_hash": item_hash,
        }
        with self._connection.writing() as db:
            newest = db.execute(
                "SELECT max(answered_at) FROM recall_answers WHERE lesson = ? AND item = ?", [lesson_id, item_id]
            ).fetchone()
            answered_at = moments.not_before(moments.now(), newest[0])
            row["answered_at"] = moments.to_text(answered_at)
            answer_id = db.table("recall_answers").insert(row).last_pk
        return Answer(cast(int, answer_id), lesson_id, item_id, row["answer"], item_hash, answered_at)

    def grade(self, answer_id: int, grade: Grade, now: datetime | None = None, *, zone: tzinfo | None = None) -> Answer:
        """Grades an answer and sets the day on which its item comes back.

        Grading an answer again replaces its grade; the earlier one stays in the history as undone.
        zone: the person's time zone, None for the system's.
        """
        if grade not in RATINGS:
            raise StoreError("There is no such grade", f"{grade!r}", f"Use one of {', '.join(RATINGS)}.", exit_code=2)
        with self._connection.writing() as db:
            answer = self._one(db, answer_id)
            if answer.grade is not None:
                self._undo(db, answer)
            before = self._last_review(db, answer.lesson, answer.item)
            graded_at = moments.not_before(now or moments.now(), moments.to_text(before.graded_at) if before else None)
            offset = local_time(graded_at, zone).utcoffset() or timedelta()
            reviewed = review(before, grade, graded_at, int(offset.total_seconds()))
            db.table("recall_grades").insert(
                {
                    "answer_id": answer_id,
                    "lesson": answer.lesson,
                    "item": answer.item,
                    "grade": grade,
                    "graded_at": moments.to_text(graded_at),
                    "utc_offset_s": reviewed.utc_offset_s,
                    "due_at": moments.to_text(reviewed.due_at),
                    "card": reviewed.card,
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
                ANSWERS + " WHERE a.lesson = :lesson AND (:item IS NULL OR a.item = :item) "
                "ORDER BY a.answered_at DESC, a.id DESC",
                {"lesson": lesson_id, "item": item_id},
            ).fetchall()
        return [_answer(row) for row in rows]

    def latest(self, lesson_id: str) -> dict[str, Answer]:
        """The newest answer of each item that has one."""
        newest: dict[str, Answer] = {}
        for answer in self.answers(lesson_id):
            newest.setdefault(answer.item, answer)
        return newest

    def grades(self, lesson_id: str, item_id: str | None = None) -> list[Graded]:
        """Every grade that was ever given, newest first, those taken back included."""
        with self._connection.reading() as db:
            rows = db.execute(
                "SELECT item, answer_id, grade, graded_at, utc_offset_s, due_at, undone_at FROM recall_grades "
                "WHERE lesson = :lesson AND (:item IS NULL OR item = :item) ORDER BY graded_at DESC, id DESC",
                {"lesson": lesson_id, "item": item_id},
            ).fetchall()
        return [
            Graded(
                row[0], row[1], row[2], moments.from_text(row[3]), _due_on(*row[3:6]), moments.from_text_or_none(row[6])
            )
            for row in rows
        ]

    def lapses(self, lesson_id: str) -> dict[str, int]:
        """How often each item was graded "again"; items that never were are not in it. See LAPSES_OF_A_LEECH."""
        with self._connection.reading() as db:
            rows = db.execute(
                "SELECT item, count(*) FROM recall_grades WHERE lesson = ? AND grade = 'again' AND undone_at IS NULL "
                "GROUP BY item",
                [lesson_id],
            ).fetchall()
        return {row[0]: row[1] for row in rows}

    def schedule(self, lesson_id: str | None = None) -> list[Due]:
        """When each graded item comes back, the soonest first. Items never graded are not in it."""
        with self._connection.reading() as db:
            rows = db.execute(
                "SELECT lesson, item, graded_at, utc_offset_s, due_at FROM (SELECT *, row_number() OVER "
                "(PARTITION BY lesson, item ORDER BY graded_at DESC, id DESC) AS place FROM recall_grades "
                "WHERE undone_at IS NULL AND (:lesson IS NULL OR lesson = :lesson)) WHERE place = 1",
                {"lesson": lesson_id},
            ).fetchall()
        found = [Due(row[0], row[1], _due_on(*row[2:5]), row[3]) for row in rows]
        return sorted(found, key=lambda one: (one.due_on, one.lesson, one.item))

    def due(
        self, now: datetime | None = None, lesson_id: str | None = None, *, zone: tzinfo | None = None
    ) -> list[Due]:
        """The graded items whose day has come, the longest overdue first.

        zone: where the person is now, None for the system's time zone.
        """
        today = day_of(now or moments.now(), zone)
        return [item for item in self.schedule(lesson_id) if item.due_on <= today]

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
            "ORDER BY graded_at DESC, id DESC LIMIT 1",
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

    def _last_review(self, db: Database, lesson_id: str, item_id: str) -> Review | None:
        row = db.execute(
            "SELECT graded_at, utc_offset_s, due_at, card FROM recall_grades "
            "WHERE lesson = ? AND item = ? AND undone_at IS NULL ORDER BY graded_at DESC, id DESC LIMIT 1",
            [lesson_id, item_id],
        ).fetchone()
        if row is None:
            return None
        return Review(moments.from_text(row[0]), row[1], moments.from_text(row[2]), row[3])


ANSWERS = (
    "SELECT a.id, a.lesson, a.item, a.answer, a.item_hash, a.answered_at, g.grade, g.graded_at, g.utc_offset_s, "
    "g.due_at FROM recall_answers a LEFT JOIN recall_grades g ON g.answer_id = a.id AND g.undone_at IS NULL"
)


def _answer(row: tuple[int, str, str, str, str, str, Grade | None, str | None, int | None, str | None]) -> Answer:
    graded_at, utc_offset_s, due_at = row[7:10]
    due_on = None
    if graded_at is not None and utc_offset_s is not None and due_at is not None:
        due_on = _due_on(graded_at, utc_offset_s, due_at)
    return Answer(
        id=row[0],
        lesson=row[1],
        item=row[2],
        answer=row[3],
        item_hash=row[4],
        answered_at=moments.from_text(row[5]),
        grade=row[6],
        graded_at=moments.from_text_or_none(graded_at),
        utc_offset_s=utc_offset_s,
        due_on=due_on,
    )


def _due_on(graded_at: str, utc_offset_s: int, due_at: str) -> date:
    return due_day(moments.from_text(graded_at), utc_offset_s, moments.from_text(due_at))


def _due_at(day: date | None, utc_offset_s: int | None) -> datetime | None:
    if day is None or utc_offset_s is None:
        return None
    return beginning_of(day, timezone(timedelta(seconds=utc_offset_s)))
