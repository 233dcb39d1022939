"""Which schema a database has, and bringing it to this program's."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from sqlite_utils import Database, Migrations

from store.copying import copy_database, free_name
from store.errors import StoreError
from store.migrations import migrations as own_migrations
from store.moments import now


@dataclass(frozen=True, slots=True)
class SchemaState:
    """version: the number of the newest migration applied, 0 for none.

    unknown: applied migrations that this program does not have.
    """

    version: int
    unknown: tuple[str, ...]
    empty: bool


def program_version(migrations: Migrations = own_migrations) -> int:
    return max(_number(name) for name in names(migrations))


def names(migrations: Migrations = own_migrations) -> list[str]:
    nothing_applied = Database(memory=True)
    try:
        return [migration.name for migration in migrations.pending(nothing_applied)]
    finally:
        nothing_applied.close()


def schema_state(db: Database, migrations: Migrations = own_migrations) -> SchemaState:
    """Reads only."""
    applied = [migration.name for migration in migrations.applied(db)]
    known = set(names(migrations))
    (user_version,) = db.execute("PRAGMA user_version").fetchone()
    return SchemaState(
        version=max([int(user_version), *(_number(name) for name in applied)]),
        unknown=tuple(name for name in applied if name not in known),
        empty=not db.table_names(),
    )


def refuse_foreign_and_newer(state: SchemaState, path: Path, migrations: Migrations = own_migrations) -> None:
    ours = program_version(migrations)
    if state.unknown or state.version > ours:
        theirs = state.version if state.version > ours else f"{state.version} with {', '.join(state.unknown)}"
        raise StoreError(
            "The store is newer than this program",
            f"{path} has schema version {theirs}, this labtui knows versions up to {ours}. It was left as it is",
            "Update labtui, or choose another file with --store PATH.",
        )
    if state.version == 0 and not state.empty:
        raise StoreError(
            "This is the database of another program",
            f"{path} has tables, and none of them was made by labtui. It was left as it is",
            "Choose another file with --store PATH.",
        )


def migrate(db: Database, path: Path, migrations: Migrations = own_migrations) -> Path | None:
    """Brings the database to this program's schema, all or nothing, and returns the copy made before that.

    No copy is made of an empty database. Call it inside a write transaction: it keeps other processes out between
    the copy and the change.
    """
    state = schema_state(db, migrations)
    refuse_foreign_and_newer(state, path, migrations)
    ours = program_version(migrations)
    if not migrations.pending(db):
        return None
    copy = None
    if not state.empty:
        stamp = now().strftime("%Y%m%d-%H%M%S")
        copy = free_name(path.with_name(f"{path.stem}-v{state.version}-{stamp}{path.suffix}"))
        copy_database(path, copy)
    migrations.apply(db)
    db.execute(f"PRAGMA user_version = {ours}")
    return copy


def _number(name: str) -> int:
    found = re.match(r"m(\d+)_", name)
    return int(found.group(1)) if found else 0
