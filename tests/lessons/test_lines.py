import tomllib

import tomli_w
from hypothesis import given, settings
from hypothesis import strategies as st

from lessons.lines import lines_of

DOCUMENT = '''\
# a comment = "not a key"
plain = 1
"quoted.key" = "a = 1 # no comment"
a.b."c d" = 2026-01-01T00:00:00Z

text = """
fake = 1
[fake]
\\""" still inside
"""  # behind it
literal = \'\'\'
it''s = "[[no]]"\'\'\'
quotes = """""two quotes inside"""""
list = [
    "one",  # ]
    ["two", "three"],

    { x = 1, y = "}" },
]

[table]
key = { inner = [1,
2] }

[[many]]
id = "first"

[[many]]
id = "second"
[many.sub]
deep = 1
[[many.sub.items]]
last = true
'''


def test_every_key_and_entry_has_its_line():
    tomllib.loads(DOCUMENT)
    found = lines_of(DOCUMENT).found
    expected = {
        ("plain",): 2,
        ("quoted.key",): 3,
        ("a", "b", "c d"): 4,
        ("text",): 6,
        ("literal",): 11,
        ("quotes",): 13,
        ("list",): 14,
        ("list", 0): 15,
        ("list", 1): 16,
        ("list", 1, 1): 16,
        ("list", 2): 18,
        ("list", 2, "y"): 18,
        ("table",): 21,
        ("table", "key"): 22,
        ("table", "key", "inner"): 22,
        ("table", "key", "inner", 1): 23,
        ("many",): 25,
        ("many", 0): 25,
        ("many", 0, "id"): 26,
        ("many", 1): 28,
        ("many", 1, "id"): 29,
        ("many", 1, "sub"): 30,
        ("many", 1, "sub", "deep"): 31,
        ("many", 1, "sub", "items", 0): 32,
        ("many", 1, "sub", "items", 0, "last"): 33,
    }
    assert {path: found.get(path) for path in expected} == expected
    assert not any("fake" in path for path in found)


def test_what_is_absent_stands_at_what_is_around_it():
    lines = lines_of(DOCUMENT)
    assert lines.of("many", 1, "title") == 28
    assert lines.of("nowhere", 3) == 1


KEYS = st.text(alphabet="abc-_ .\"'é字", min_size=1, max_size=6)
SCALARS = st.one_of(st.integers(), st.booleans(), st.text(max_size=30), st.floats(allow_nan=False), st.dates())
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=20
)


def _paths(value, path=()):
    if isinstance(value, dict):
        for key, entry in value.items():
            yield (*path, key)
            yield from _paths(entry, (*path, key))
    elif isinstance(value, list):
        for position, entry in enumerate(value):
            yield (*path, position)
            yield from _paths(entry, (*path, position))


@settings(deadline=None)
@given(st.dictionaries(KEYS, VALUES, max_size=6), st.booleans())
def test_every_path_of_any_document_is_found(data, multiline):
    text = tomli_w.dumps(data, multiline_strings=multiline).replace("\r\n", "\n")
    found = lines_of(text).found
    paths = set(_paths(tomllib.loads(text)))
    assert paths == set(found)
    rows = text.split("\n")
    for path in paths:
        if isinstance(path[-1], str) and path[-1].isascii() and path[-1].replace("-", "").isalpha():
            assert path[-1] in rows[found[path] - 1]
