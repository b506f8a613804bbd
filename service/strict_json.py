"""Strict JSON: the bytes of a caller become a value, or a refusal that says where.

Two readers share the work. `orjson` reads what is plain within microseconds, but says nothing about duplicate members, control
characters and numbers that lose their value: what it read is taken only if none of those can have happened. All other text
goes through the standard library's reader, whose hooks leave a mark in the value for each thing that we do not accept.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterable, Iterator
from typing import Final, NoReturn

import orjson

from .errors import Fault, InvalidInput, MalformedText
from .pointers import pointer

MAX_DEPTH: Final = 32  # objects and lists within each other
MOST_MEMBERS: Final = 10_000  # of one object

_SMALLEST: Final = sys.float_info.min  # what is closer to 0 has lost digits
_WIDEST: Final = 2.0**63  # from here on orjson may have read a whole number as a float
_MOST_DIGITS: Final = 308  # of a whole number that a float can hold
CONTROLS: Final = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")  # and halves of surrogate pairs


class _NotPlain(Exception):
    """The quick reader cannot vouch for this text."""


class _Refused:
    """Stands in a value for something that the text should not say. `code` is that of the refusal, `detail` its sentence."""

    def __init__(self, code: str, detail: str) -> None:
        self.code = code
        self.detail = detail


def read(text: bytes, unwanted: re.Pattern[str] = CONTROLS) -> object:
    """The value that the JSON `text` denotes. No string and no name in it may hold what is `unwanted`: control characters, or fewer.

    Raises MalformedText where the text is not the JSON that we accept, InvalidInput where a number in it cannot be held.

    >>> read(b'{"m": 512}')
    {'m': 512}
    """
    try:
        return _read_plain(text)
    except (orjson.JSONDecodeError, _NotPlain):
        return _read_carefully(text, unwanted)


def _read_plain(text: bytes) -> object:
    if not text.isascii() or b"\\" in text or b"\x7f" in text:
        raise _NotPlain
    value = orjson.loads(text)
    if not isinstance(value, (dict, list)):
        raise _NotPlain
    # A member that is written twice brings two colons and leaves one member. A colon in a string costs a second reading, no more.
    if _members(value, 1) != text.count(b":"):
        raise _NotPlain
    return value


def _members(value: dict[str, object] | list[object], depth: int) -> int:
    """How many members the objects in `value` have, on all levels together."""
    if depth > MAX_DEPTH or (isinstance(value, dict) and len(value) > MOST_MEMBERS):
        raise _NotPlain
    if isinstance(value, list):
        if set(map(type, value)) == {int}:
            return 0
        count, items = 0, iter(value)
    else:
        count, items = len(value), iter(value.values())
    for item in items:
        if isinstance(item, (dict, list)):
            count += _members(item, depth + 1)
        elif isinstance(item, float) and not _SMALLEST <= abs(item) < _WIDEST:
            raise _NotPlain
    return count


def _read_carefully(text: bytes, unwanted: re.Pattern[str]) -> object:
    try:
        value = json.loads(_decoded(text), object_pairs_hook=_object, parse_int=_whole, parse_float=_fractional, parse_constant=_constant)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise MalformedText(f"The text is not JSON at {where}." if text.strip() else "The text is empty; JSON is needed.") from None
    except RecursionError:
        _too_deep()
    refusals = list(_refusals(value, (), unwanted))
    for where, refused in refusals:
        if refused.code == MalformedText.code:
            raise MalformedText(f"{refused.detail} It stands at {where}." if where else refused.detail)
    if refusals:
        raise InvalidInput([Fault(where, refused.code, refused.detail) for where, refused in refusals])
    return value


def _decoded(text: bytes) -> str:
    if text.startswith(b"\xef\xbb\xbf"):
        raise MalformedText("The text begins with a byte order mark; plain UTF-8 is needed.", code="not-utf8")
    try:
        return text.decode()
    except UnicodeDecodeError as error:
        raise MalformedText(f"The text is not UTF-8 at byte {error.start}.", code="not-utf8") from None


def _too_deep() -> NoReturn:
    raise MalformedText(f"Objects and lists lie more than {MAX_DEPTH} deep within each other.", code="too-deep") from None


def _object(members: list[tuple[str, object]]) -> object:
    if len(members) > MOST_MEMBERS:
        return _Refused("out-of-range", f"An object has at most {MOST_MEMBERS} members.")
    value = dict(members)
    if len(value) != len(members):
        seen: set[str] = set()
        for name, _ in members:
            if name in seen:
                value[name] = _Refused("malformed-json", "A member is written twice.")
            seen.add(name)
    return value


def _whole(digits: str) -> object:
    if len(digits.lstrip("-")) > _MOST_DIGITS:
        return _Refused("out-of-range", f"A whole number has at most {_MOST_DIGITS} digits.")
    return int(digits)


def _fractional(digits: str) -> object:
    value = float(digits)
    if math.isinf(value):
        return _Refused("not-finite", "The number is too large for a 64-bit float.")
    if abs(value) < _SMALLEST and re.match(r"-?[0.]*[1-9]", digits):
        return _Refused("out-of-range", "The number is so close to 0 that a 64-bit float loses its digits.")
    return value


def _constant(_name: str) -> object:
    return _Refused("malformed-json", "NaN and Infinity are not JSON.")


def _refusals(value: object, path: tuple[str | int, ...], unwanted: re.Pattern[str]) -> Iterator[tuple[str, _Refused]]:
    """What we do not accept in `value`, with where it stands, in document order."""
    if isinstance(value, _Refused):
        yield pointer(path), value
    elif isinstance(value, str):
        if unwanted.search(value):
            yield pointer(path), _Refused("malformed-json", "A string holds a control character or half of a surrogate pair.")
    elif isinstance(value, (dict, list)):
        if len(path) >= MAX_DEPTH:
            _too_deep()
        if isinstance(value, dict) and unwanted.search("".join(value)):
            yield pointer(path), _Refused("malformed-json", "A member name holds a control character or half of a surrogate pair.")
        for step, item in _entries(value):
            yield from _refusals(item, (*path, step), unwanted)


def _entries(value: dict[str, object] | list[object]) -> Iterable[tuple[str | int, object]]:
    """What lies in `value`; nothing where it is a list of whole numbers, in which nothing can be wrong."""
    if isinstance(value, dict):
        return value.items()
    return () if set(map(type, value)) == {int} else enumerate(value)
