"""Laws that all kernels share."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from service.engine.arrays import column
from service.engine.kernels.physics import overlapped, overlapped_between

from .asking import first

TIMES = st.floats(1e-9, 1e3)
NEARLY = 1.0 + 1e-12


@given(a=TIMES, b=TIMES, overlap=st.floats(1.0, 60.0))
def test_two_streams_take_a_time_between_its_bounds(a: float, b: float, overlap: float) -> None:
    time = first(overlapped(column(a), column(b), column(overlap)))
    low, high = map(first, overlapped_between(column(a), column(b), column(overlap)))
    assert low / NEARLY <= time <= high * NEARLY


@given(a=TIMES, overlap=st.floats(1.0, 60.0))
def test_the_bounds_of_equally_long_streams_are_their_time(a: float, overlap: float) -> None:
    low, high = map(first, overlapped_between(column(a), column(a), column(overlap)))
    assert high / low <= NEARLY


@given(a=TIMES, b=TIMES)
def test_the_bounds_of_streams_that_do_not_overlap_are_their_sum(a: float, b: float) -> None:
    low, high = map(first, overlapped_between(column(a), column(b), column(1.0)))
    assert (a + b) / NEARLY <= low <= high <= (a + b) * NEARLY
