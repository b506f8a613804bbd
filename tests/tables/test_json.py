"""Rows and columns of JSON: strict, and cut into pieces before they are read."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.errors import InvalidInput, MalformedText, ServiceError
from service.tables.limits import LONGEST_ROW

from .examples import exactly, read

ROWS = b'[{"op": "matmul", "m": 1}, {"m": 2.5, "note": null, "op": "dot", "is": true}]'


def refusal(name: str, text: bytes) -> tuple[str, str]:
    with pytest.raises(ServiceError) as refused:
        read(name, text)
    where = refused.value.faults[0].pointer if isinstance(refused.value, InvalidInput) else refused.value.detail
    return refused.value.code, where


@pytest.mark.parametrize("name", ["json", "ndjson", "columns"])
def test_rows_may_lack_members_and_lists_may_not(name: str) -> None:
    texts = {
        "json": ROWS,
        "ndjson": b'{"op": "matmul", "m": 1}\n\n{"m": 2.5, "note": null, "op": "dot", "is": true}\r\n\n',
        "columns": b'{"op": ["matmul", "dot"], "m": [1, 2.5], "note": [null, null], "is": [null, true]}',
    }
    found = read(name, texts[name])
    assert found.header == ("op", "m", "note", "is")
    assert exactly(found.columns) == exactly((["matmul", "dot"], [1, 2.5], [None, None], [None, True]))


def test_an_object_in_the_place_of_a_list_is_columns() -> None:
    assert read("json", b' {"m": [1, 2]}') == read("columns", b'{"m": [1, 2]}')


def test_brackets_braces_and_ends_of_lines_in_text_are_text() -> None:
    value = ["}", "]", "{", "[", ",", '"', "\\", '\\"', "a\nb", "\t", "}]", "é😀"]
    assert read("columns", json.dumps({"]}": value}).encode()).column("]}") == value
    assert read("json", json.dumps([{"x": each} for each in value], indent=1).encode()).column("x") == value


REFUSED: dict[str, tuple[str, bytes, str, str]] = {
    "a nested object": ("json", b'[{"m": 1}, {"m": 1, "op": {"k": 2}}]', "wrong-type", "/rows/1/op"),
    "a nested list": ("json", b'[{"m": [1]}]', "wrong-type", "/rows/0/m"),
    "a row that is a number": ("json", b'[{"m": 1}, 2]', "wrong-type", "/rows/1"),
    "a row that is a list": ("json", b'[["m"], [1]]', "wrong-type", "/rows/0"),
    "a number without end": ("json", b'[{"m": 1e999}]', "not-finite", "/rows/0/m"),
    "a number that is too small": ("ndjson", b'{"m": 1}\n{"m": 1e-320}', "out-of-range", "/rows/1/m"),
    "a number in a column": ("columns", b'{"k": [1, 2], "m": [1, 1e999]}', "not-finite", "/rows/1/m"),
    "NaN": ("json", b'[{"m": NaN}]', "malformed-json", "In row 0, counted from 0: NaN and Infinity are not JSON. It stands at /m."),
    "a member twice": (
        "json",
        b'[{"m": 1, "m": 2}]',
        "malformed-json",
        "In row 0, counted from 0: A member is written twice. It stands at /m.",
    ),
    "a column twice": ("columns", b'{"m": [1], "m": [2]}', "malformed-table", "/header/1"),
    "a column without a name": ("columns", b'{"": [1]}', "malformed-table", "/header/0"),
    "a member without a name": ("ndjson", b'{"": 1}', "malformed-table", "/header/0"),
    "columns of two lengths": ("columns", b'{"m": [1, 2], "a/k": [1]}', "column-length", "/a~1k"),
    "a list in a column": (
        "columns",
        b'{"m": [[1]]}',
        "malformed-json",
        "The text is not an object of flat lists in JSON; 0 columns of it were read.",
    ),
    "a column that is a number": (
        "columns",
        b'{"m": [1], "k": 1}',
        "malformed-json",
        "The text is not an object of flat lists in JSON; 1 columns of it were read.",
    ),
    "a comma too many": ("json", b'[{"m": 1},]', "malformed-json", "Row 1, counted from 0, is not an object in JSON."),
    "no comma": ("json", b'[{"m": 1} {"m": 1}]', "malformed-json", "The text is not a list of objects in JSON; 1 rows of it were read."),
    "no end": ("json", b'[{"m": 1}', "malformed-json", "The text is not a list of objects in JSON; 1 rows of it were read."),
    "more after the end": (
        "json",
        b'[{"m": 1}] []',
        "malformed-json",
        "The text is not a list of objects in JSON; 1 rows of it were read.",
    ),
    "a number": ("json", b"1", "malformed-json", "The text is not a list of objects in JSON; 0 rows of it were read."),
    "no rows": ("json", b"[]", "malformed-table", "/header"),
    "rows without members": ("json", b"[{}]", "malformed-table", "/header"),
    "half of a pair": (
        "ndjson",
        b'{"a": "\\ud83d"}',
        "malformed-json",
        "In row 0, counted from 0: A string holds a control character or half of a surrogate pair. It stands at /a.",
    ),
    "NUL": (
        "columns",
        b'{"a": ["\\u0000"]}',
        "malformed-json",
        "In column 0, counted from 0: A string holds a control character or half of a surrogate pair. It stands at /0.",
    ),
    "not UTF-8": ("json", b'[{"a": "\xff"}]', "not-utf8", "In row 0, counted from 0: The text is not UTF-8 at byte 7."),
    "a mark": (
        "ndjson",
        b'\xef\xbb\xbf{"a": 1}',
        "not-utf8",
        "In row 0, counted from 0: The text begins with a byte order mark; plain UTF-8 is needed.",
    ),
    "a line that is a list": ("ndjson", b'{"a": 1}\n[1]', "wrong-type", "/rows/1"),
    "a row on two lines": ("ndjson", b'{"a":\n1}', "malformed-json", "In row 0, counted from 0: The text is not JSON at line 2, column 1."),
    "a row that is too long": (
        "ndjson",
        b'{"a": 1' + b" " * LONGEST_ROW + b"}",
        "body-too-large",
        "Row 0, counted from 0, has more than 1048576 bytes.",
    ),
}


@pytest.mark.parametrize(("name", "text", "code", "where"), REFUSED.values(), ids=REFUSED)
def test_it_is_refused_at_its_place(name: str, text: bytes, code: str, where: str) -> None:
    assert refusal(name, text) == (code, where)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(VALUES, max_size=4) | st.dictionaries(st.text(max_size=3), st.lists(VALUES, max_size=3), max_size=3), st.integers(0, 60))
def test_other_json_is_refused_and_nothing_else_happens(value: object, cut: int) -> None:
    whole = json.dumps(value).encode()
    for text in (whole, whole[:cut]):
        for name in ("json", "columns", "ndjson"):
            try:
                found = read(name, text)
            except (InvalidInput, MalformedText):
                continue
            assert name == "ndjson" or json.loads(text) == value
            assert all(not isinstance(cell, (list, dict)) for column in found.columns for cell in column)
