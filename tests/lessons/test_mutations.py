"""Whatever a lesson file is turned into: faults or a lesson, never an exception, never half a lesson."""

import copy
import tomllib

import pytest
import tomli_w
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lessons.checking import check_lesson
from lessons.errors import LessonError
from lessons.finding import lesson_shelf
from lessons.loading import load_lesson
from lessons.prompt import grounded_prompt
from lessons.scaffold import scaffold
from lessons.walk import steps

many = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))

TEXT = scaffold("sample")
DATA = tomllib.loads(TEXT)
SNIPPETS = st.sampled_from(
    [
        '"""',
        "'''",
        '"',
        "[",
        "]]",
        "[[card]]\n",
        "{",
        "=",
        "\\",
        "\\u0000",
        "\r",
        "\r\n",
        "\0",
        "\ufeff",
        "#",
        "1e999",
        "\n",
    ]
) | st.text(max_size=5)
ODD_VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=20),
    st.dates(),
    st.times(),
    st.datetimes(),
    st.lists(st.integers() | st.text(max_size=5) | st.lists(st.booleans(), max_size=2), max_size=3),
    st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5), max_size=3),
    st.lists(st.dictionaries(st.sampled_from(["id", "at", "body", "anchors"]), st.text(max_size=5)), max_size=3),
    st.sampled_from(
        ["first-claim", "0:00", "9" * 400, 10**400, -0.0, "\u202e", "\x1b[2J", "a\u2028b", " ", "x" * 30_000]
    ),
)


def assert_lesson_or_faults(path):
    faults = check_lesson(path)
    for fault in faults:
        assert fault.message.strip()
        assert str(fault).isprintable()
        assert len(fault.message) < 500
        assert fault.line >= 1
    if not faults:
        lesson = load_lesson(path)
        assert steps(lesson)
        assert grounded_prompt(lesson)
        return
    with pytest.raises(LessonError) as caught:
        load_lesson(path)
    assert caught.value.cause.startswith(str(faults[0]))
    assert lesson_shelf([path]).broken


@many
@given(st.data())
def test_bytes_changed(write_lesson, built_in_text, data):
    content = bytearray(data.draw(st.sampled_from([TEXT, built_in_text])).encode())
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(content) - 1))
        length = data.draw(st.sampled_from([0, 1, 2, 30, len(content)]))
        content[start : start + length] = data.draw(st.binary(max_size=6) | SNIPPETS.map(str.encode))
        if not content:
            break
    assert_lesson_or_faults(write_lesson(bytes(content)))


def places(value, path=()):
    yield path
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in children:
        yield from places(entry, (*path, key))


PLACES = [place for place in places(DATA) if place]


@many
@given(st.data())
def test_structure_changed(write_lesson, data):
    changed = copy.deepcopy(DATA)
    for place in data.draw(st.lists(st.sampled_from(PLACES), min_size=1, max_size=3)):
        holder = changed
        try:
            for part in place[:-1]:
                holder = holder[part]
            old = holder[place[-1]]
            match data.draw(st.sampled_from(["drop", "replace", "twice", "rename", "move"])):
                case "drop":
                    del holder[place[-1]]
                case "replace":
                    holder[place[-1]] = data.draw(ODD_VALUES)
                case "twice" if isinstance(holder, list):
                    holder.append(copy.deepcopy(old))
                case "rename" if isinstance(holder, dict):
                    holder[
                        place[-1] + data.draw(st.sampled_from(["s", "_", " ", "é", "\x1b[2J", "\n", "x" * 3000]))
                    ] = holder.pop(place[-1])
                case _:
                    changed[str(place[0])] = old
        except (KeyError, IndexError, TypeError):
            continue
    try:
        text = tomli_w.dumps(_without_none(changed))
        content = text.encode()
    except (TypeError, ValueError):
        return
    assert_lesson_or_faults(write_lesson(content))


def _without_none(value):
    if isinstance(value, dict):
        return {key: _without_none(entry) for key, entry in value.items() if entry is not None}
    return [_without_none(entry) for entry in value if entry is not None] if isinstance(value, list) else value


@many
@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_bytes(write_lesson, content):
    assert_lesson_or_faults(write_lesson(content))


@many
@given(st.dictionaries(st.sampled_from(sorted(DATA)), ODD_VALUES))
def test_any_values_under_known_names(write_lesson, changes):
    content = tomli_w.dumps(_without_none({**DATA, **changes})).encode("utf-8", "surrogatepass")
    assert_lesson_or_faults(write_lesson(content))
