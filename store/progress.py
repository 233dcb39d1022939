from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlite_utils import Database

from store import moments
from store.connection import Connection
from store.texts import storable


@dataclass(frozen=True, slots=True)
class Guess:
    """What the person said about a misconception before they were told."""

    misconception: str
    believed: bool
    why: str
    saved_at: datetime


@dataclass(frozen=True, slots=True)
class GateEvidence:
    gate: str
    evidence: str
    saved_at: datetime


@dataclass(frozen=True, slots=True)
class Note:
    """What the person wrote at a step: a remark, a stage of their harness map, the outcome of a practice piece."""

    step: str
    text: str
    saved_at: datetime


@dataclass(frozen=True, slots=True)
class ReadText:
    """A step as it was read: the fingerprint of its text (lessons/fingerprints.py), and when it was marked."""

    fingerprint: str
    marked_at: datetime


@dataclass(frozen=True, slots=True)
class Draft:
    text: str
    changed_at: datetime


class Progress:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def mark(self, lesson_id: str, step_id: str, done: bool = True, fingerprint: str = "") -> None:
        """fingerprint: of the text that the person had before them (lessons/fingerprints.py); empty: not known."""
        with self._connection.writing() as db:
            db.execute(
                "INSERT INTO steps (lesson, step, done, changed_at, fingerprint) VALUES (?, ?, ?, ?, ?) "
                "ON CONFLICT (lesson, step) DO UPDATE SET done = excluded.done, "
                "changed_at = max(excluded.changed_at, steps.changed_at), fingerprint = excluded.fingerprint",
                [lesson_id, step_id, done, moments.to_text(moments.now()), fingerprint],
            )

    def done(self, lesson_id: str) -> set[str]:
        with self._connection.reading() as db:
            return {row[0] for row in db.execute("SELECT step FROM steps WHERE lesson = ? AND done", [lesson_id])}

    def read_as(self, lesson_id: str) -> dict[str, ReadText]:
        """The text as which each step was marked as done, where that is known."""
        with self._connection.reading() as db:
            rows = db.execute(
                "SELECT step, fingerprint, changed_at FROM steps WHERE lesson = ? AND done AND fingerprint <> ''",
                [lesson_id],
            ).fetchall()
        return {row[0]: ReadText(row[1], moments.from_text(row[2])) for row in rows}

    def set_position(self, lesson_id: str, step_id: str) -> None:
        with self._connection.writing() as db:
            db.execute(
                "INSERT INTO positions (lesson, step, changed_at) VALUES (?, ?, ?) ON CONFLICT (lesson) "
                "DO UPDATE SET step = excluded.step, changed_at = max(excluded.changed_at, positions.changed_at)",
                [lesson_id, step_id, moments.to_text(moments.now())],
            )

    def position(self, lesson_id: str) -> str | None:
        with self._connection.reading() as db:
            row = db.execute("SELECT step FROM positions WHERE lesson = ?", [lesson_id]).fetchone()
        return None if row is None else str(row[0])

    def last_lesson(self) -> str | None:
        """The lesson in which the person was last."""
        with self._connection.reading() as db:
            row = db.execute("SELECT lesson FROM positions ORDER BY changed_at DESC LIMIT 1").fetchone()
        return None if row is None else str(row[0])

    def save_guess(self, lesson_id: str, misconception_id: str, believed: bool, why: str) -> Guess:
        with self._connection.writing() as db:
            saved_at = _newest_time(db, "guesses", "misconception", lesson_id, misconception_id)
            db.execute(
                "INSERT INTO guesses (lesson, misconception, believed, why, saved_at) VALUES (?, ?, ?, ?, ?)",
                [lesson_id, misconception_id, believed, storable(why), moments.to_text(saved_at)],
            )
        return Guess(misconception_id, believed, storable(why), saved_at)

    def guesses(self, lesson_id: str) -> dict[str, Guess]:
        """The newest guess for each misconception that has one."""
        return {guess.misconception: guess for guess in reversed(self.guess_history(lesson_id))}

    def guess_history(self, lesson_id: str) -> list[Guess]:
        """Newest first."""
        with self._connection.reading() as db:
            rows = db.execute(
                "SELECT misconception, believed, why, saved_at FROM guesses WHERE lesson = ? "
                "ORDER BY saved_at DESC, id DESC",
                [lesson_id],
            ).fetchall()
        return [Guess(row[0], bool(row[1]), row[2], moments.from_text(row[3])) for row in rows]

    def save_gate(self, lesson_id: str, gate_id: str, evidence: str) -> GateEvidence:
        """Keeps the evidence for a gate beside the earlier ones. Empty evidence takes the gate back."""
        with self._connection.writing() as db:
            saved_at = _newest_time(db, "gate_evidence", "gate", lesson_id, gate_id)
            db.execute(
                "INSERT INTO gate_evidence (lesson, gate, evidence, saved_at) VALUES (?, ?, ?, ?)",
                [lesson_id, gate_id, storable(evidence), moments.to_text(saved_at)],
            )
        return GateEvidence(gate_id, storable(evidence), saved_at)

    def gates(self, lesson_id: str) -> dict[str, GateEvidence]:
        """The evidence of each gate that is met."""
        newest = {met.gate: met for met in reversed(self.gate_history(lesson_id))}
        return {gate: met for gate, met in newest.items() if met.evidence.strip()}

    def gate_history(self, lesson_id: str, gate_id: str | None = None) -> list[GateEvidence]:
        """Newest first, taken-back ones (empty evidence) included."""
        with self._connection.reading() as db:
            rows = db.execute(
                "SELECT gate, evidence, saved_at FROM gate_evidence WHERE lesson = :lesson "
                "AND (:gate IS NULL OR gate = :gate) ORDER BY saved_at DESC, id DESC",
                {"lesson": lesson_id, "gate": gate_id},
            ).fetchall()
        return [GateEvidence(row[0], row[1], moments.from_text(row[2])) for row in rows]

    def save_note(self, lesson_id: str, step_id: str, text: str) -> Note:
        """Keeps a note for a step beside the earlier ones. An empty one takes the note away."""
        with self._connection.writing() as db:
            saved_at = _newest_time(db, "notes", "step", lesson_id, step_id)
            db.execute(
                "INSERT INTO notes (lesson, step, text, saved_at) VALUES (?, ?, ?, ?)",
                [lesson_id, step_id, storable(text), moments.to_text(saved_at)],
            )
        return Note(step_id, storable(text), saved_at)

    def notes(self, lesson_id: str) -> dict[str, Note]:
        """The newest note of each step that has one."""
        newest = {note.step: note for note in reversed(self.note_history(lesson_id))}
        return {step: note for step, note in newest.items() if note.text.strip()}

    def note_history(self, lesson_id: str) -> list[Note]:
        """Newest first, taken-away ones (empty) included."""
        with self._connection.reading() as db:
            rows = db.execute(
                "SELECT step, text, saved_at FROM notes WHERE lesson = ? ORDER BY saved_at DESC, id DESC", [lesson_id]
            ).fetchall()
        return [Note(row[0], row[1], moments.from_text(row[2])) for row in rows]

    def save_draft(self, key: str, text: str) -> None:
        """Keeps a half-typed text. The key names the field, such as "verdict/diffusiongemma"."""
        with self._connection.writing() as db:
            db.execute(
                "INSERT INTO drafts (key, text, changed_at) VALUES (?, ?, ?) ON CONFLICT (key) "
                "DO UPDATE SET text = excluded.text, changed_at = max(excluded.changed_at, drafts.changed_at)",
                [key, storable(text), moments.to_text(moments.now())],
            )

    def draft(self, key: str) -> str | None:
        with self._connection.reading() as db:
            row = db.execute("SELECT text FROM drafts WHERE key = ?", [key]).fetchone()
        return None if row is None or not row[0] else str(row[0])

    def drafts(self, prefix: str) -> dict[str, Draft]:
        """Those whose key begins so, by key; drafts that were done with are not among them."""
        with self._connection.reading() as db:
            rows = db.execute(
                "SELECT key, text, changed_at FROM drafts WHERE substr(key, 1, length(:prefix)) = :prefix "
                "AND text <> '' ORDER BY key",
                {"prefix": prefix},
            ).fetchall()
        return {row[0]: Draft(row[1], moments.from_text(row[2])) for row in rows}

    def clear_draft(self, key: str) -> None:
        """The row stays, empty: a draft that was done with here must not come back with an older progress file."""
        with self._connection.writing() as db:
            db.execute(
                "UPDATE drafts SET text = '', changed_at = max(?, changed_at) WHERE key = ? AND text <> ''",
                [moments.to_text(moments.now()), key],
            )


def _newest_time(db: Database, table: str, part: str, lesson_id: str, part_id: str) -> datetime:
    """Now, or the time of the newest row about the same thing where the clock was set back since."""
    (newest,) = db.execute(
        f"SELECT max(saved_at) FROM {table} WHERE lesson = ? AND {part} = ?", [lesson_id, part_id]
    ).fetchone()
    return moments.not_before(moments.now(), newest)
