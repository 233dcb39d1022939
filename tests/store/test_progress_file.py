"""Progress between machines: whole, twice without duplicates, merged by rules, and nothing of a bad file."""

from __future__ import annotations

import copy
import json
import stat
import zipfile
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from exercises.speed import speed_of
from store import Store, StoreError, moments, progress_file
from store.progress_file import progress_document
from store.progress_sections import GRADES, LEFT_OUT, RUNS, SECTIONS, SWEEPS

BEGIN = datetime(2026, 11, 1, 12, tzinfo=UTC)
MADE_BY = "labtui 0.0.0"


@pytest.fixture
def at(monkeypatch):
    """Sets the clock of the store."""

    def set_clock(moment: datetime) -> None:
        monkeypatch.setattr(moments, "now", lambda: moment)

    return set_clock


def document_of(store: Store) -> dict:
    with store._connection.writing() as db:
        return progress_document(db, made_by=MADE_BY, made_at="now")


def moved(source: Store, target: Store, folder: Path, name: str = "progress.json"):
    source.export_progress(folder / name, MADE_BY)
    return target.import_progress(folder / name)


def answered(store: Store, grade=None, moment=BEGIN, item="tradeoff", text="Speed for quality."):
    answer = store.recall.add_answer("lesson", item, text, "hash")
    return answer if grade is None else store.recall.grade(answer.id, grade, moment)


def filled(store: Store, make_run) -> None:
    """One of everything."""
    first = store.runs.add(make_run(id="r-1"))
    other = store.runs.add(make_run(id="r-2", checkpoint="fp8", practice=False, output="half \ud83d of a character"))
    third = store.runs.add(make_run(id="r-3", checkpoint="nvfp4", practice=False))
    store.verdicts.save("lesson", "Fast enough.", [first.id, other.id])
    answered(store, "good")
    answered(store)
    undone = answered(store, "hard", BEGIN + timedelta(days=2))
    store.recall.undo_grade(undone.id)
    store.progress.mark("lesson", "card/tools")
    store.progress.set_position("lesson", "card/tools")
    store.progress.save_guess("lesson", "memory", True, "It keeps all.")
    store.progress.save_gate("lesson", "claim", "In my words.")
    store.progress.save_note("lesson", "anchor/speed", "Low.")
    store.progress.save_draft("verdict/lesson", "Half a sen")
    pair = store.judgements.make_pair(other.id, third.id)
    store.judgements.judge(pair.id, "left", "It has labels.")
    store.sweeps.save(
        {
            "id": "s-1",
            "axis": "steps",
            "checkpoint": "fp8",
            "practice": False,
            "started_at": BEGIN.isoformat(),
            "points": [],
        }
    )
    store.launches.add("practice", "plan", ["vllm", "serve"])


@contextmanager
def stores(folder: Path, *names: str):
    opened = [Store.open(folder / f"{name}.db") for name in names]
    try:
        yield opened
    finally:
        for store in opened:
            store.close()


@pytest.mark.parametrize("name", ["progress.json", "progress.zip"])
def test_an_empty_store_becomes_equal(tmp_path, make_run, name):
    with stores(tmp_path, "one", "two") as (one, two):
        filled(one, make_run)
        merged = moved(one, two, tmp_path, name)
        assert document_of(two) == document_of(one)
        assert merged.changed == {} and merged.already == {}
        assert merged.added == {key: len(document_of(one)[key]) for key in merged.added}
        assert {section.name for section in SECTIONS} == set(merged.added), "there was one of everything"
        assert two.runs.list() == one.runs.list()
        assert two.verdicts.history("lesson")[0].runs == one.verdicts.history("lesson")[0].runs
        assert two.recall.schedule() == one.recall.schedule()
        assert two.progress.notes("lesson") == one.progress.notes("lesson")
        assert two.progress.draft("verdict/lesson") == "Half a sen"
        assert two.judgements.tally() == one.judgements.tally()
        assert two.check() == []
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600


def test_twice_is_once(tmp_path, make_run):
    with stores(tmp_path, "one", "two") as (one, two):
        filled(one, make_run)
        moved(one, two, tmp_path)
        before = document_of(two)
        again = moved(one, two, tmp_path)
        assert (again.added, again.changed) == ({}, {})
        assert again.already == {section.name: len(before[section.name]) for section in SECTIONS}
        assert document_of(two) == before
        itself = moved(two, two, tmp_path, "own.json")
        assert (itself.added, itself.changed) == ({}, {})


def test_every_table_and_column_is_carried_or_left_out_by_name(tmp_path):
    with Store.open(tmp_path / "labtui.db") as store, store._connection.reading() as db:
        tables = {name: {column.name for column in db[name].columns} for name in db.table_names() if name[0] != "_"}
    known = {section.table: set(section.columns) for section in (*SECTIONS, GRADES)}
    assert tables.keys() == known.keys() | LEFT_OUT.keys()
    for table, columns in known.items():
        if table in (RUNS.table, SWEEPS.table):
            continue  # whole documents, from which the other columns are made
        assert tables[table] - columns <= ({"id", "answer_id", "lesson", "item"} if table == GRADES.table else {"id"})


steps = st.lists(
    st.tuples(
        st.sampled_from("nvgsdcauwp"),
        st.integers(0, 2),
        st.sampled_from(["again", "good", "easy"]),
        st.text(max_size=5),
    ),
    max_size=12,
)


def live(store: Store, ops, clock, make_run, run_prefix: str) -> None:
    """What a person does on one machine, each a while after the other."""
    for number, (kind, part, grade, text) in enumerate(ops):
        moment = clock(number)
        match kind:
            case "n":
                store.progress.save_note("lesson", f"card/{part}", text)
            case "v":
                store.verdicts.save("lesson", f"Slow{text}", [run.id for run in store.runs.list(limit=1)])
            case "g":
                store.progress.save_gate("lesson", f"gate-{part}", text)
            case "s":
                store.progress.mark("lesson", f"card/{part}", done=grade != "again")
            case "d":
                store.progress.save_draft(f"note/{part}", text)
            case "c":
                store.progress.clear_draft(f"note/{part}")
            case "a":
                answered(store, grade, moment, item=f"item-{part}", text=text)
            case "u":
                latest = store.recall.latest("lesson").get(f"item-{part}")
                if latest is not None and latest.grade is not None:
                    store.recall.undo_grade(latest.id)
            case "w":
                store.progress.set_position("lesson", f"card/{part}")
            case "p":
                store.runs.add(make_run(id=f"{run_prefix}-{number}", output=text))


@given(first=steps, second=steps, together=steps)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_two_machines_end_with_the_same_whatever_was_done_on_each(first, second, together, make_run, tmp_path_factory):
    folder = tmp_path_factory.mktemp("machines")
    with pytest.MonkeyPatch.context() as patch, stores(folder, "a", "b", "empty") as (a, b, empty):

        def clock_from(begin: datetime):
            def clock(number: int) -> datetime:
                moment = begin + timedelta(hours=7 * number, seconds=number)
                patch.setattr(moments, "now", lambda: moment)
                return moment

            return clock

        live(a, together, clock_from(BEGIN), make_run, "r-t")
        moved(a, b, folder)
        live(a, first, clock_from(BEGIN + timedelta(days=10)), make_run, "r-a")
        live(b, second, clock_from(BEGIN + timedelta(days=10, hours=3)), make_run, "r-b")
        a.export_progress(folder / "a.json", MADE_BY)
        moved(b, a, folder, "b.json")
        b.import_progress(folder / "a.json")
        assert document_of(a) == document_of(b)
        assert a.recall.schedule() == b.recall.schedule()
        moved(a, empty, folder, "both.json")
        assert document_of(empty) == document_of(a)
        for store in (a, b, empty):
            again = store.import_progress(folder / "both.json")
            assert (again.added, again.changed) == ({}, {})
            assert store.check() == []


def test_days_are_as_if_all_grades_had_been_given_on_one_machine(tmp_path, at):
    with stores(tmp_path, "one", "two", "all") as (one, two, everything):
        for day, machine, grade in ((0, one, "easy"), (2, two, "again"), (9, one, "good")):
            for store in (machine, everything):
                at(BEGIN + timedelta(days=day))
                answered(store, grade, BEGIN + timedelta(days=day))
        assert one.recall.schedule() != everything.recall.schedule()
        moved(two, one, tmp_path)
        assert one.recall.schedule() == everything.recall.schedule()
        assert document_of(one) == document_of(everything)


def test_an_answer_that_was_graded_on_both_counts_as_it_was_graded_last(tmp_path):
    with stores(tmp_path, "one", "two") as (one, two):
        answer = answered(one)
        moved(one, two, tmp_path)
        one.recall.grade(answer.id, "easy", BEGIN)
        (there,) = two.recall.answers("lesson")
        two.recall.grade(there.id, "again", BEGIN + timedelta(hours=1))
        moved(two, one, tmp_path)
        moved(one, two, tmp_path)
        for store in (one, two):
            (merged,) = store.recall.answers("lesson")
            assert merged.grade == "again"
            assert [graded.grade for graded in store.recall.grades("lesson")] == ["again", "easy"]


def test_what_was_taken_back_on_one_machine_does_not_come_back_from_the_other(tmp_path, at):
    with stores(tmp_path, "one", "two") as (one, two):
        at(BEGIN)
        answer = answered(one, "easy")
        one.progress.save_draft("verdict/lesson", "Half")
        moved(one, two, tmp_path)
        at(BEGIN + timedelta(hours=1))
        one.recall.undo_grade(answer.id)
        one.progress.clear_draft("verdict/lesson")
        moved(two, one, tmp_path)
        assert one.recall.schedule() == [] and one.progress.draft("verdict/lesson") is None
        moved(one, two, tmp_path)
        assert two.recall.schedule() == [] and two.progress.draft("verdict/lesson") is None


def test_what_is_newer_counts_on_whichever_side_it_is(tmp_path, at):
    with stores(tmp_path, "one", "two") as (one, two):
        for store, hour, step in ((one, 1, "card/model"), (two, 2, "card/tools")):
            at(BEGIN + timedelta(hours=hour))
            store.progress.set_position("lesson", step)
            store.progress.save_note("lesson", "card/intent", f"written at {hour}")
            store.verdicts.save("lesson", f"Verdict of {hour}.", [])
        moved(one, two, tmp_path, "one.json")
        moved(two, one, tmp_path, "two.json")
        for store in (one, two):
            assert store.progress.position("lesson") == "card/tools"
            assert store.progress.notes("lesson")["card/intent"].text == "written at 2"
            assert [verdict.text for verdict in store.verdicts.history("lesson")] == ["Verdict of 2.", "Verdict of 1."]


def test_a_kept_run_is_never_replaced(tmp_path, make_run):
    with stores(tmp_path, "one", "two") as (one, two):
        one.runs.add(make_run(id="r-1", output="from one"))
        two.runs.add(make_run(id="r-1", output="from two"))
        assert moved(one, two, tmp_path).already == {"runs": 1}
        assert two.runs.get("r-1").output == "from two"


def test_the_settings_of_a_machine_stay_on_it(tmp_path):
    with stores(tmp_path, "one", "two") as (one, two):
        one.progress.save_draft("export-folder/lesson", "/home/me/out")
        one.progress.save_draft("serve-flags", "--max-num-seqs 2")
        one.launches.add("practice", "plan", ["vllm"])
        assert moved(one, two, tmp_path).added == {}
        assert two.launches.list() == []


def test_no_secret_comes_in_with_a_file(tmp_path, make_run):
    with stores(tmp_path, "one", "two") as (one, two):
        one.runs.add(make_run(id="r-1"))
        one.export_progress(tmp_path / "p.json", MADE_BY)
        document = json.loads((tmp_path / "p.json").read_text())
        document["runs"][0]["evidence"]["api_key"] = "sk-abcdefghijklmnopqrstuvwxyz"
        (tmp_path / "p.json").write_text(json.dumps(document))
        two.import_progress(tmp_path / "p.json")
        assert b"abcdefghijklm" not in (tmp_path / "two.db").read_bytes()
        assert two.runs.get("r-1").evidence["api_key"] == "(removed)"


def refused(store: Store, path: Path) -> StoreError:
    before = document_of(store)
    with pytest.raises(StoreError) as caught:
        store.import_progress(path)
    assert caught.value.exit_code == 2 and caught.value.fix
    assert document_of(store) == before
    return caught.value


@pytest.mark.parametrize(
    ("content", "cause"),
    [
        (b"", "not whole JSON"),
        (b"{", "not whole JSON"),
        (b"\xff\xfe", "not whole JSON"),
        (b"[" * 100_000, "not whole JSON"),
        (b'{"format": "labtui-progress", "format_version": NaN}', "not whole JSON"),
        (b"[]", "is not a progress file"),
        (b'{"format": "labtui-artifact", "format_version": 1}', "is not a progress file"),
        (b'{"format": "labtui-progress"}', "format version"),
        (b'{"format": "labtui-progress", "format_version": 2}', "reads versions up to 1"),
        (b'{"format": "labtui-progress", "format_version": 1, "notes": {}}', "notes is no list"),
        (b'{"format": "labtui-progress", "format_version": 1, "notes": [1]}', "entry 1 of notes"),
        (b"PK\x03\x04 no archive", "damaged archive"),
    ],
)
def test_a_file_that_is_none_is_told_and_changes_nothing(store, tmp_path, make_run, content, cause):
    filled(store, make_run)
    (tmp_path / "bad").write_bytes(content)
    assert cause in refused(store, tmp_path / "bad").cause


def test_a_file_that_is_not_there_or_too_large_is_told(store, tmp_path, monkeypatch):
    assert "No such file" in refused(store, tmp_path / "nowhere").cause
    assert "cannot be read" in refused(store, tmp_path).cause
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("progress.json", b" " * 200_000)
    monkeypatch.setattr(progress_file, "LARGEST_BYTES", 100_000)
    assert "larger than" in refused(store, tmp_path / "bomb.zip").cause
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("other.txt", b"x")
    assert "no progress.json" in refused(store, tmp_path / "other.zip").cause


@pytest.mark.parametrize(
    ("section", "change", "cause"),
    [
        ("notes", {"saved_at": "yesterday"}, "entry 1 of notes: saved_at must be a time"),
        ("notes", {"saved_at": "2026-11-30T21:15:30"}, "saved_at must be a time with its offset"),
        ("notes", {"lesson": ""}, "lesson is empty"),
        ("guesses", {"believed": 1}, "believed must be true or false"),
        ("verdicts", {"runs": ["r-404"]}, "cites run r-404"),
        ("verdicts", {"runs": "r-1"}, "runs must be a list of texts"),
        ("judgements", {"choice": "up"}, "choice must be one of left, right, equal, neither"),
        ("judgements", {"pair": "p-404"}, "pair p-404"),
        ("pairs", {"left_run": "r-404"}, "cites run r-404"),
        ("runs", {"chunks": [["soon", 1]]}, "entry 1 of runs"),
        ("runs", {"id": ""}, "entry 1 of runs"),
        ("runs", {"id": "\ud800"}, "entry 1 of runs"),
        ("runs", {"started_at": "then"}, "entry 1 of runs"),
        ("runs", {"trial": 7}, "entry 1 of runs"),
        ("sweeps", {"points": None}, "has no list of points"),
        ("recall", {"grades": [{"grade": "perfect"}]}, "grade must be one of again, hard, good, easy"),
        ("recall", {"grades": 3}, "grades is no list"),
    ],
)
def test_the_first_wrong_entry_is_named_and_nothing_is_changed(tmp_path, make_run, section, change, cause):
    with stores(tmp_path, "one", "two") as (one, two):
        filled(one, make_run)
        one.export_progress(tmp_path / "p.json", MADE_BY)
        document = json.loads((tmp_path / "p.json").read_text())
        document[section][0].update(change)
        (tmp_path / "p.json").write_text(json.dumps(document))
        assert cause in refused(two, tmp_path / "p.json").cause


def paths_in(value, path=()):
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield from paths_in(one, (*path, key))


ODD = [None, True, -1, 10**400, 1e308, float("1e-320"), "", "\ud800", "x" * 10, [], [[]], {}, {"a": []}]


@given(data=st.data())
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_change_of_a_file_is_imported_or_told_and_never_half(data, changed_document):
    document, store, folder = changed_document
    changed = copy.deepcopy(document)
    places = [path for path in paths_in(changed) if path]
    for path in data.draw(st.lists(st.sampled_from(places), min_size=1, max_size=3)):
        holder = changed
        try:
            for key in path[:-1]:
                holder = holder[key]
            if data.draw(st.booleans()):
                del holder[path[-1]]
            else:
                holder[path[-1]] = data.draw(st.sampled_from(ODD))
        except (KeyError, IndexError, TypeError):
            continue
    target = folder / "changed.json"
    target.write_text(json.dumps(changed))
    before = document_of(store)
    try:
        store.import_progress(target)
    except StoreError as error:
        assert error.exit_code == 2
        assert document_of(store) == before
        return
    after = document_of(store)
    again = store.import_progress(target)
    assert (again.added, again.changed) == ({}, {})
    assert document_of(store) == after
    store.recall.schedule(), store.recall.due(), store.runs.list(), store.judgements.tally()
    assert store.check() == []


@pytest.fixture
def changed_document(tmp_path, make_run):
    with stores(tmp_path, "one", "two") as (one, two):
        filled(one, make_run)
        yield document_of(one), two, tmp_path


def test_a_fault_in_the_middle_leaves_nothing_behind(tmp_path, make_run, monkeypatch):
    with stores(tmp_path, "one", "two") as (one, two):
        filled(one, make_run)
        one.export_progress(tmp_path / "p.json", MADE_BY)
        before = document_of(two)

        def killed(*arguments):
            raise KeyboardInterrupt

        monkeypatch.setattr("store.merging._merge_answers", killed)
        with pytest.raises(KeyboardInterrupt):
            two.import_progress(tmp_path / "p.json")
        assert document_of(two) == before


def test_the_text_that_was_read_comes_over_and_a_file_without_it_is_read_too(tmp_path):
    with stores(tmp_path, "a", "b", "c") as (a, b, c):
        a.progress.mark("lesson", "frame", fingerprint="as it was")
        file = tmp_path / "p.json"
        a.export_progress(file, MADE_BY)
        b.import_progress(file)
        assert b.progress.read_as("lesson") == a.progress.read_as("lesson")
        document = json.loads(file.read_text())
        del document["steps"][0]["fingerprint"]
        (tmp_path / "old.json").write_text(json.dumps(document))
        c.import_progress(tmp_path / "old.json")
        assert c.progress.done("lesson") == {"frame"} and c.progress.read_as("lesson") == {}
        b.import_progress(tmp_path / "old.json")
        assert b.progress.read_as("lesson") == a.progress.read_as("lesson"), "an older file takes nothing away"


def test_an_earlier_export_is_replaced_and_nothing_else_is(store, tmp_path):
    (tmp_path / "mine.json").write_text('{"mine": true}')
    (tmp_path / "folder.json").mkdir()
    (tmp_path / "link.json").symlink_to(tmp_path / "nowhere")
    for name in ("mine.json", "folder.json", "link.json", "missing/p.json"):
        with pytest.raises(StoreError) as caught:
            store.export_progress(tmp_path / name, MADE_BY)
        assert caught.value.exit_code == 2
    assert (tmp_path / "mine.json").read_text() == '{"mine": true}'
    store.export_progress(tmp_path / "p.json", MADE_BY)
    store.progress.mark("lesson", "frame")
    assert store.export_progress(tmp_path / "p.json", MADE_BY)["steps"] == 1
    assert not list(tmp_path.glob(".*.part"))


def test_a_number_comes_over_exactly_and_can_be_computed_again(tmp_path, make_run):
    with stores(tmp_path, "one", "two") as (one, two):
        run = one.runs.add(make_run())
        moved(one, two, tmp_path)
        (there,) = two.runs.list()
        assert there == run and speed_of(there.timeline) == there.speed == replace(run).speed


def test_a_judgement_that_was_taken_back_is_so_on_the_other_side(tmp_path, make_run):
    with stores(tmp_path, "one", "two") as (one, two):
        filled(one, make_run)
        moved(one, two, tmp_path)
        assert two.judgements.tally()[0].judged == 1
        last = one.judgements.last_judged()
        assert last is not None
        one.judgements.withdraw(last.pair.id)
        moved(one, two, tmp_path, "again.json")
        assert two.judgements.tally() == [] and two.judgements.reveal(last.pair.id).withdrawn


def test_a_pair_that_could_not_have_been_made_here_is_neither_shown_nor_counted(tmp_path, make_run):
    with stores(tmp_path, "one", "two") as (one, two):
        filled(one, make_run)
        one.export_progress(tmp_path / "p.json", MADE_BY)
        document = json.loads((tmp_path / "p.json").read_text())
        for run in document["runs"]:
            run["practice"] = run["id"] == document["pairs"][0]["left_run"]
        (tmp_path / "p.json").write_text(json.dumps(document))
        two.import_progress(tmp_path / "p.json")
        assert two.judgements.tally() == [] and two.judgements.open_pairs() == []
