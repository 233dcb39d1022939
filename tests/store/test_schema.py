from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from sqlite_utils import Database, Migrations

from store import Store, StoreError
from store.connection import Connection
from store.migrations import MIGRATION_SET, m001_first_schema
from store.migrations import migrations as own_migrations
from store.schema import migrate, names, program_version, schema_state

FIRST = Path(__file__).parent / "fixtures" / "first-schema.sql"


def first_store(path: Path) -> Path:
    """A store as the first schema left it, with one row in each table."""
    with sqlite3.connect(path) as db:
        db.executescript(FIRST.read_text("utf-8"))
    db.close()
    return path


def later_migrations(fails: bool = False) -> Migrations:
    later = Migrations(MIGRATION_SET)
    later()(m001_first_schema)

    @later()
    def m002_moods(db: Database) -> None:
        db.execute("ALTER TABLE verdicts ADD COLUMN mood TEXT")
        db.execute("UPDATE verdicts SET mood = 'calm'")
        if fails:
            db.execute("INSERT INTO nowhere VALUES (1)")

    return later


def contents(path: Path) -> dict[str, list[tuple[object, ...]]]:
    db = sqlite3.connect(path)
    tables = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
    found = {table: db.execute(f"SELECT * FROM {table}").fetchall() for table in tables if table[0] != "_"}
    db.close()
    return found


def test_migrations_are_numbered_without_a_gap():
    numbers = [int(name[1:4]) for name in names(own_migrations)]
    assert numbers == list(range(1, program_version() + 1))


def test_a_store_of_the_first_schema_opens_with_everything_in_it(tmp_path):
    path = first_store(tmp_path / "labtui.db")
    before = contents(path)
    assert all(rows for rows in before.values()), "the fixture has a row in every table"
    with Store.open(path) as store:
        run = store.runs.get("x7k")
        assert (run.task, run.speed.end_to_end_tps, run.timeline.completion_tokens) == ("coding", 350.0, 700)
        verdict = store.verdicts.latest("diffusiongemma")
        assert verdict is not None and verdict.runs == (run.id,)
        (answer,) = store.recall.answers("diffusiongemma")
        assert answer.grade == "good" and answer.due_at is not None
        assert store.recall.schedule()[0].due_at == answer.due_at
        assert store.progress.done("diffusiongemma") == {"card/intent"}
        assert store.progress.read_as("diffusiongemma") == {}, "of which text it was marked was not kept then"
        assert store.progress.position("diffusiongemma") == "deep/denoising"
        assert store.progress.guesses("diffusiongemma")["more-tools"].believed
        assert store.progress.gates("diffusiongemma")["claim"].evidence == "In my words."
        assert store.progress.notes("diffusiongemma")["card/tools"].text == "One picture in."
        assert store.progress.draft("verdict/diffusiongemma") == "Half a sen"
        assert store.launches.list()[0].ready_after_s == 33.5
        assert store.check() == []
        assert schema_state(store._connection._db).version == program_version()


def test_a_copy_is_made_before_a_migration_and_holds_the_old_schema(tmp_path):
    path = first_store(tmp_path / "labtui.db")
    before = contents(path)
    connection = Connection(path, 5)
    with connection.writing() as db:
        copy = migrate(db, path, later_migrations())
    connection.close()
    assert copy is not None and copy.parent == path.parent
    assert copy.name.startswith("labtui-v1-2")
    assert copy.stat().st_mode & 0o777 == 0o600
    assert contents(copy) == before
    assert contents(path)["verdicts"][0][-1] == "calm"
    with Store.open(copy) as store:
        assert store.check() == []


def test_a_migration_that_fails_changes_nothing_and_the_copy_stays(tmp_path):
    path = first_store(tmp_path / "labtui.db")
    before = contents(path)
    connection = Connection(path, 5)
    with pytest.raises(StoreError, match="nowhere"), connection.writing() as db:
        migrate(db, path, later_migrations(fails=True))
    connection.close()
    assert contents(path) == before
    assert len(list(tmp_path.glob("labtui-v1-*.db"))) == 1
    with Store.open(path) as store:
        assert store.runs.count() == 1


def test_nothing_is_copied_where_nothing_is_to_be_changed(tmp_path):
    path = tmp_path / "labtui.db"
    Store.open(path).close()
    Store.open(path).close()
    assert [file.name for file in tmp_path.iterdir()] == ["labtui.db"]


def test_two_copies_of_one_second_do_not_overwrite_each_other(tmp_path):
    path = first_store(tmp_path / "labtui.db")
    for _ in range(2):
        connection = Connection(path, 5)
        with pytest.raises(StoreError), connection.writing() as db:
            migrate(db, path, later_migrations(fails=True))
        connection.close()
    assert len(list(tmp_path.glob("labtui-v1-*.db"))) == 2


def test_a_copy_that_cannot_be_made_stops_the_migration(tmp_path, monkeypatch):
    path = first_store(tmp_path / "labtui.db")
    before = contents(path)

    def no_room(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("store.schema.copy_database", no_room)
    monkeypatch.setattr("store.opening.migrate", lambda db, path: migrate(db, path, later_migrations()))
    with pytest.raises(StoreError) as caught:
        Store.open(path)
    assert caught.value.exit_code == 4 and "No space left" in caught.value.cause
    assert contents(path) == before


def test_the_person_is_told_where_the_copy_is(tmp_path, monkeypatch):
    path = first_store(tmp_path / "labtui.db")
    monkeypatch.setattr("store.opening.migrate", lambda db, path: migrate(db, path, later_migrations()))
    with Store.open(path) as store:
        assert len(store.notices) == 1
        assert str(next(tmp_path.glob("labtui-v1-*.db")).resolve()) in store.notices[0]


def schema_of(path: Path) -> set[str]:
    db = sqlite3.connect(path)
    statements = {" ".join(sql.split()) for (sql,) in db.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")}
    db.close()
    return statements


def test_the_first_migration_is_what_it_was_when_it_was_released(tmp_path):
    only_the_first = Migrations(MIGRATION_SET)
    only_the_first()(m001_first_schema)
    connection = Connection(tmp_path / "new.db", 5)
    with connection.writing() as db:
        migrate(db, tmp_path / "new.db", only_the_first)
    connection.close()
    assert schema_of(tmp_path / "new.db") == schema_of(first_store(tmp_path / "first.db"))


def test_a_store_of_the_first_schema_becomes_what_a_new_one_is(tmp_path):
    Store.open(tmp_path / "new.db").close()
    Store.open(first_store(tmp_path / "first.db")).close()
    assert schema_of(tmp_path / "new.db") == schema_of(tmp_path / "first.db")
