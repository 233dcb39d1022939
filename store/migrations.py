"""Every change of the schema, oldest first. A migration that has been released is never edited: add the next one."""

from __future__ import annotations

from sqlite_utils import Database, Migrations

MIGRATION_SET = "labtui"
migrations = Migrations(MIGRATION_SET)


@migrations()
def m001_first_schema(db: Database) -> None:
    for statement in FIRST_SCHEMA.split(";"):
        if statement.strip():
            db.execute(statement)


@migrations()
def m002_sweeps_and_judgements(db: Database) -> None:
    for statement in SWEEPS_AND_JUDGEMENTS.split(";"):
        if statement.strip():
            db.execute(statement)


@migrations()
def m003_text_that_was_read(db: Database) -> None:
    db.execute(TEXT_THAT_WAS_READ)


# Times are UTC text of one width (store/moments.py). Answers, grades, guesses, gates, notes and verdicts are only
# ever added: the newest one counts, the older ones are the history.
FIRST_SCHEMA = """
CREATE TABLE runs (
    id TEXT PRIMARY KEY,
    task TEXT NOT NULL,
    task_set TEXT NOT NULL,
    checkpoint TEXT NOT NULL,
    practice INTEGER NOT NULL,
    valid INTEGER NOT NULL,
    warmup INTEGER NOT NULL,
    trial TEXT,
    started_at TEXT NOT NULL,
    end_to_end_tps REAL,
    document TEXT NOT NULL
);
CREATE INDEX runs_by_start ON runs (started_at);
CREATE INDEX runs_by_task ON runs (task, started_at);
CREATE INDEX runs_by_trial ON runs (trial);

CREATE TABLE verdicts (
    id INTEGER PRIMARY KEY,
    lesson TEXT NOT NULL,
    text TEXT NOT NULL,
    runs TEXT NOT NULL,
    saved_at TEXT NOT NULL
);
CREATE INDEX verdicts_by_lesson ON verdicts (lesson, id);

CREATE TABLE recall_answers (
    id INTEGER PRIMARY KEY,
    lesson TEXT NOT NULL,
    item TEXT NOT NULL,
    answer TEXT NOT NULL,
    item_hash TEXT NOT NULL,
    answered_at TEXT NOT NULL
);
CREATE INDEX recall_answers_by_item ON recall_answers (lesson, item, id);

CREATE TABLE recall_grades (
    id INTEGER PRIMARY KEY,
    answer_id INTEGER NOT NULL REFERENCES recall_answers (id),
    lesson TEXT NOT NULL,
    item TEXT NOT NULL,
    grade TEXT NOT NULL,
    graded_at TEXT NOT NULL,
    utc_offset_s INTEGER NOT NULL,
    due_at TEXT NOT NULL,
    card TEXT NOT NULL,
    undone_at TEXT
);
CREATE INDEX recall_grades_by_item ON recall_grades (lesson, item, id);
CREATE UNIQUE INDEX recall_grades_one_counts ON recall_grades (answer_id) WHERE undone_at IS NULL;

CREATE TABLE steps (
    lesson TEXT NOT NULL,
    step TEXT NOT NULL,
    done INTEGER NOT NULL,
    changed_at TEXT NOT NULL,
    PRIMARY KEY (lesson, step)
);

CREATE TABLE positions (
    lesson TEXT PRIMARY KEY,
    step TEXT NOT NULL,
    changed_at TEXT NOT NULL
);

CREATE TABLE guesses (
    id INTEGER PRIMARY KEY,
    lesson TEXT NOT NULL,
    misconception TEXT NOT NULL,
    believed INTEGER NOT NULL,
    why TEXT NOT NULL,
    saved_at TEXT NOT NULL
);
CREATE INDEX guesses_by_lesson ON guesses (lesson, misconception, id);

CREATE TABLE gate_evidence (
    id INTEGER PRIMARY KEY,
    lesson TEXT NOT NULL,
    gate TEXT NOT NULL,
    evidence TEXT NOT NULL,
    saved_at TEXT NOT NULL
);
CREATE INDEX gate_evidence_by_lesson ON gate_evidence (lesson, gate, id);

CREATE TABLE notes (
    id INTEGER PRIMARY KEY,
    lesson TEXT NOT NULL,
    step TEXT NOT NULL,
    text TEXT NOT NULL,
    saved_at TEXT NOT NULL
);
CREATE INDEX notes_by_lesson ON notes (lesson, step, id);

CREATE TABLE drafts (
    key TEXT PRIMARY KEY,
    text TEXT NOT NULL,
    changed_at TEXT NOT NULL
);

CREATE TABLE launches (
    id TEXT PRIMARY KEY,
    checkpoint TEXT NOT NULL,
    plan_key TEXT NOT NULL,
    command TEXT NOT NULL,
    started_at TEXT NOT NULL,
    ready_at TEXT,
    ready_after_s REAL,
    ended_at TEXT,
    ended TEXT,
    vllm_version TEXT,
    memory TEXT NOT NULL
);
CREATE INDEX launches_by_plan ON launches (plan_key, started_at);
CREATE INDEX launches_by_start ON launches (started_at)
"""


# A sweep grows while it runs: its document is replaced as each point is finished. Pairs and judgements are only ever
# added; blind: 1 for the first judgement of a pair, which was given before its runs were named.
SWEEPS_AND_JUDGEMENTS = """
CREATE TABLE sweeps (
    id TEXT PRIMARY KEY,
    axis TEXT NOT NULL,
    checkpoint TEXT NOT NULL,
    practice INTEGER NOT NULL,
    started_at TEXT NOT NULL,
    document TEXT NOT NULL
);
CREATE INDEX sweeps_by_start ON sweeps (started_at);

CREATE TABLE pairs (
    id TEXT PRIMARY KEY,
    task TEXT NOT NULL,
    left_run TEXT NOT NULL REFERENCES runs (id),
    right_run TEXT NOT NULL REFERENCES runs (id),
    made_at TEXT NOT NULL
);
CREATE INDEX pairs_by_task ON pairs (task, made_at);

CREATE TABLE judgements (
    id INTEGER PRIMARY KEY,
    pair TEXT NOT NULL REFERENCES pairs (id),
    choice TEXT NOT NULL,
    why TEXT NOT NULL,
    blind INTEGER NOT NULL,
    judged_at TEXT NOT NULL
);
CREATE INDEX judgements_by_pair ON judgements (pair, id);
CREATE UNIQUE INDEX judgements_one_is_blind ON judgements (pair) WHERE blind = 1
"""


# fingerprint: of the text of a step as it was when it was marked (lessons/fingerprints.py); empty where that is not
# known, as for marks from before there was this column.
TEXT_THAT_WAS_READ = "ALTER TABLE steps ADD COLUMN fingerprint TEXT NOT NULL DEFAULT ''"
