"""Strict JSON: what is read, what is refused, and that neither takes long."""

from __future__ import annotations

import json
import math
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.errors import InvalidInput, MalformedText
from service.strict_json import MAX_DEPTH, MOST_MEMBERS, read

NAMES = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=5)
NUMBERS = st.integers(-(2**80), 2**80) | st.floats(allow_nan=False, allow_infinity=False, allow_subnormal=False)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | NAMES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=20,
)


def exactly(value: object) -> object:
    """The value with the types of its numbers, which == does not tell apart."""
    if isinstance(value, dict):
        return {name: exactly(item) for name, item in value.items()}
    if isinstance(value, list):
        return [exactly(item) for item in value]
    return type(value), repr(value)


@given(VALUES, st.booleans(), st.sampled_from([None, 1]))
def test_text_of_every_kind_reads_as_what_was_written(value: object, is_ascii: bool, indent: int | None) -> None:  # noqa: FBT001
    text = json.dumps(value, ensure_ascii=is_ascii, indent=indent)
    assert exactly(read(text.encode())) == exactly(value)


MALFORMED = {
    "nothing": (b"", "malformed-json", "The text is empty; JSON is needed."),
    "blanks": (b" \n", "malformed-json", "The text is empty; JSON is needed."),
    "syntax": (b'{"op": }', "malformed-json", "The text is not JSON at line 1, column 8."),
    "second line": (b'{"op":\n tru}', "malformed-json", "The text is not JSON at line 2, column 2."),
    "two values": (b"{} {}", "malformed-json", "The text is not JSON at line 1, column 4."),
    "single quotes": (b"{'op': 1}", "malformed-json", "The text is not JSON at line 1, column 2."),
    "leading zero": (b'{"m": 0512}', "malformed-json", "The text is not JSON at line 1, column 8."),
    "NaN": (b'{"op": {"m": NaN}}', "malformed-json", "NaN and Infinity are not JSON. It stands at /op/m."),
    "infinity": (b'{"op": {"m": [1, -Infinity]}}', "malformed-json", "NaN and Infinity are not JSON. It stands at /op/m/1."),
    "member twice": (b'{"op": {"m": 1, "m": 1}}', "malformed-json", "A member is written twice. It stands at /op/m."),
    "member twice, once escaped": (b'{"m": 1, "\\u006d": 1}', "malformed-json", "A member is written twice. It stands at /m."),
    "tab in a string": (b'{"note": "a\tb"}', "malformed-json", "The text is not JSON at line 1, column 12."),
    "escaped NUL": (
        b'{"note": "\\u0000"}',
        "malformed-json",
        "A string holds a control character or half of a surrogate pair. It stands at /note.",
    ),
    "DEL": (b'["\x7f"]', "malformed-json", "A string holds a control character or half of a surrogate pair. It stands at /0."),
    "C1 control": (
        '["\x85"]'.encode(),
        "malformed-json",
        "A string holds a control character or half of a surrogate pair. It stands at /0.",
    ),
    "half of a pair": (
        b'["\\ud83d"]',
        "malformed-json",
        "A string holds a control character or half of a surrogate pair. It stands at /0.",
    ),
    "control in a name": (
        b'{"labels": {"\\n": "x"}}',
        "malformed-json",
        "A member name holds a control character or half of a surrogate pair. It stands at /labels.",
    ),
    "33 deep": (b"[" * 33 + b"]" * 33, "too-deep", "Objects and lists lie more than 32 deep within each other."),
    "33 objects deep": (b'{"a":' * 33 + b"1" + b"}" * 33, "too-deep", "Objects and lists lie more than 32 deep within each other."),
    "8 MiB of brackets": (b"[" * 2**23, "too-deep", "Objects and lists lie more than 32 deep within each other."),
    "not UTF-8": (b'{"op": "\xff"}', "not-utf8", "The text is not UTF-8 at byte 8."),
    "UTF-16": ('{"op": 1}'.encode("utf-16"), "not-utf8", "The text is not UTF-8 at byte 0."),
    "byte order mark": (b"\xef\xbb\xbf{}", "not-utf8", "The text begins with a byte order mark; plain UTF-8 is needed."),
}


@pytest.mark.parametrize(("text", "code", "detail"), MALFORMED.values(), ids=MALFORMED.keys())
def test_malformed_text_is_refused_with_the_place(text: bytes, code: str, detail: str) -> None:
    with pytest.raises(MalformedText) as refused:
        read(text)
    assert (refused.value.code, refused.value.detail) == (code, detail)


NUMBERS_REFUSED = {
    "infinite": (b'{"m": [1, 1e999]}', "/m/1", "not-finite"),
    "minus infinite": (b'{"a/b": -1e999}', "/a~1b", "not-finite"),
    "subnormal": (b'{"m": 1e-320}', "/m", "out-of-range"),
    "lost": (b'{"m": 1e-400}', "/m", "out-of-range"),
    "309 digits": (b'{"m": ' + b"9" * 309 + b"}", "/m", "out-of-range"),
    "a million digits": (b'{"m": -' + b"9" * 10**6 + b"}", "/m", "out-of-range"),
    "too many members": (json.dumps({"m": {str(i): i for i in range(MOST_MEMBERS + 1)}}).encode(), "/m", "out-of-range"),
}


@pytest.mark.parametrize(("text", "pointer", "code"), NUMBERS_REFUSED.values(), ids=NUMBERS_REFUSED.keys())
def test_a_number_that_cannot_be_held_is_refused_with_its_pointer(text: bytes, pointer: str, code: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read(text)
    assert [(fault.pointer, fault.code) for fault in refused.value.faults] == [(pointer, code)]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b"[" * MAX_DEPTH + b"]" * MAX_DEPTH, None),
        (b"18446744073709551616", 2**64),
        (b'{"m": 9223372036854775808}', {"m": 2**63}),
        (b"9" * 308, 10**308 - 1),
        (b"2.2250738585072014e-308", 2.2250738585072014e-308),
        (b"[0.0, 0e-999, -0.0]", [0.0, 0.0, -0.0]),
        (b'{"a:": "b:", "c": ":"}', {"a:": "b:", "c": ":"}),
        (b'"\\ud83d\\ude00"', "😀"),
    ],
)
def test_values_at_the_edge_are_read(text: bytes, value: object) -> None:
    assert value is None or exactly(read(text)) == exactly(value)


def test_a_list_of_100_000_whole_numbers_is_read_in_milliseconds() -> None:
    text = json.dumps({"op": {"m": list(range(1, 100_001))}}).encode()
    assert best_of(5, text) < 0.05


def test_8_mib_of_hostile_text_is_read_or_refused_in_seconds() -> None:
    members: list[Any] = ['"\\u0041"', *["1.5"] * 2_000_000]
    assert best_of(1, f"[{','.join(members)}]".encode()) < 20


def best_of(rounds: int, text: bytes) -> float:
    """Seconds of the fastest round."""
    fastest = math.inf
    for _ in range(rounds):
        begin = time.perf_counter()
        read(text)
        fastest = min(fastest, time.perf_counter() - begin)
    return fastest
