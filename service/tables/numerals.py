"""The strict grammar of a number in a cell or a query: that of JSON, with a decimal mark of choice.

`-5`, `512`, `1.5` and `1e9` are numbers; `+5`, ` 5`, `1_000`, `1,000`, `0x10`, `007`, `.5` and `NaN` are not. As in a spreadsheet a
number has no type beyond its value: `512`, `512.0` and `5.12e2` are the same whole number.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Mapping
from typing import Final

from ..errors import refuse

LARGEST_WHOLE: Final = 2**53  # up to here a float holds every whole number

_GRAMMAR: Final[Mapping[str, re.Pattern[str]]] = {
    mark: re.compile(rf"-?(?:0|[1-9][0-9]*)(?P<rest>(?:{re.escape(mark)}[0-9]+)?(?:[eE][+-]?[0-9]+)?)") for mark in (".", ",")
}
_MOST_DIGITS: Final = 308
_ZERO: Final = re.compile(r"-?[0.]+(?:[eE].*)?")


def is_number(text: str, decimal: str = ".") -> bool:
    """Whether `text` is a number by the grammar, be it ever so large."""
    return _GRAMMAR[decimal].fullmatch(text) is not None


def number(text: str, decimal: str = ".", at: str = "") -> int | float:
    """The number that `text` denotes; a whole one is an int up to 2^53, or when it is written as digits alone.

    Raises InvalidInput at the pointer `at`: wrong-type for other text, not-finite and out-of-range for what a float cannot hold.

    >>> number("5.12e2"), number("1,5", decimal=","), number("-0.25")
    (512, 1.5, -0.25)
    """
    match = _GRAMMAR[decimal].fullmatch(text)
    if match is None:
        raise refuse(at, "wrong-type", f"A number is needed, such as 512, 1{decimal}5 or 1e9, without blanks or marks of thousands.")
    if not match["rest"]:
        if len(text) > _MOST_DIGITS:
            raise refuse(at, "out-of-range", f"A whole number has at most {_MOST_DIGITS} digits.")
        return int(text)
    plain = text.replace(decimal, ".")
    value = float(plain)
    if math.isinf(value):
        raise refuse(at, "not-finite", "The number is too large for a 64-bit float.")
    if abs(value) < sys.float_info.min and not _ZERO.fullmatch(plain):
        raise refuse(at, "out-of-range", "The number is so close to 0 that a 64-bit float loses its digits.")
    return whole(value)


def whole(value: float) -> int | float:
    """`value` as an int where it is a whole number that a float holds exactly.

    >>> whole(512.0), whole(0.5), whole(1e300)
    (512, 0.5, 1e+300)
    """
    return int(value) if abs(value) <= LARGEST_WHOLE and value.is_integer() else value


def in_place(text: str, decimal: str = ".") -> str | int | float:
    """The number that `text` is the only writing of, so that nothing is lost; any other text as it is.

    >>> in_place("512"), in_place("007"), in_place("1.50"), in_place("1,5", decimal=",")
    (512, '007', '1.50', 1.5)
    """
    match = _GRAMMAR[decimal].fullmatch(text)
    if match is None or len(text) > _MOST_DIGITS:
        return text
    value: int | float = float(text.replace(decimal, ".")) if match["rest"] else int(text)
    return value if repr(value).replace(".", decimal) == text else text
