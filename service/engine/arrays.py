"""Columns: every quantity of the engine is a float64 array with one value per row.

int64 is never used in a formula: 2·m·k·n with m = k = n = 2²¹ wraps to 0.
Rows stand on the last axis. A leading axis, where there is one, holds variants of each row: row 0 the question, the others its levers.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from operator import mul
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

Real = NDArray[np.float64]
Code = NDArray[np.int8]
Part = slice | NDArray[np.bool_] | NDArray[np.intp]
"""Some rows: those of a span, those that are marked, or those at some places."""
T = TypeVar("T", Real, Code)


def column(values: ArrayLike) -> Real:
    """`values` as a float64 column; a single number becomes a column of one row.

    >>> column(3)
    array([3.])
    """
    return np.array(values, dtype=np.float64, ndmin=1)


def constant(value: float) -> Real:
    """A number of the formulas, of no dims: beside a block of a few numbers, converting a Python float costs as much as the arithmetic."""
    found = np.array(value, dtype=np.float64)
    found.setflags(write=False)
    return found


ZERO = constant(0.0)
ONE = constant(1.0)
TWO = constant(2.0)


def shared(values: Real) -> Real:
    """A column of one row as a number of no dims, which NumPy spreads over a block in half the time; other columns as they are."""
    return values.reshape(()) if values.size == 1 else values


def agreed(values: Real) -> Real:
    """A column of which all rows say the same as a column of one row, with which a block needs fewer numbers; other columns as they are.

    >>> agreed(np.array([2.0, 2.0])), agreed(np.array([2.0, 3.0]))
    (array([2.]), array([2., 3.]))
    """
    return values if values.size == 1 or any_of(values != values[0]) else values[:1]


FRACTION_BITS = np.int64(52)
"""Of a float64, the lowest bits; those above hold the power of two."""
BIAS = np.int64(1023)


def power_of_two(values: Real) -> Real:
    """The power of two at or below each of some positive numbers: its bits without the fraction, in a tenth of the time of a logarithm.

    >>> power_of_two(np.array([1.0, 5.9, 8.0]))
    array([1., 4., 8.])
    """
    found: Real = (values.view(np.int64) >> FRACTION_BITS << FRACTION_BITS).view(np.float64)
    return found


def doublings(powers: Real) -> Real:
    """The logarithm of powers of two, exactly, in a quarter of the time of a logarithm.

    >>> doublings(np.array([1.0, 2.0, 32.0]))
    array([0., 1., 5.])
    """
    return ((powers.view(np.int64) >> FRACTION_BITS) - BIAS).astype(np.float64)


def product(factors: Iterable[Real]) -> Real:
    """The product of columns, in the order given (so that the same question gives the same bits)."""
    return reduce(mul, factors)


def any_of(flags: NDArray[np.bool_]) -> bool:
    """Whether one row at least is true; counting takes NumPy a fifth of the time of a reduction."""
    return bool(np.count_nonzero(flags))


def all_of(flags: NDArray[np.bool_]) -> bool:
    """Whether every row is true."""
    return bool(np.count_nonzero(flags) == flags.size)


def row(block: T, index: int | slice) -> T:
    """Variant `index` of a block [variants, rows], or some of them; a column without variants is the same in all of them."""
    return block if block.ndim == 1 else block[index]


def cut(values: Real, part: Part) -> Real:
    """The rows of `part`; a column of one row is shared by all rows and stays."""
    return values[part] if values.size > 1 else values
