"""Values that are computed when they are first asked for."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from service.engine.lazy import lazy


@dataclass(frozen=True)
class Square:
    side: float

    @lazy
    def area(self) -> list[float]:
        """Its area."""
        return [self.side**2]


@dataclass(frozen=True)
class Turned(Square):
    @lazy
    def area(self) -> list[float]:
        return [-(self.side**2)]


def test_a_value_is_computed_once_for_each_object() -> None:
    two, three = Square(2.0), Square(3.0)
    assert (two.area, three.area) == ([4.0], [9.0])
    assert two.area is two.area
    assert Turned(2.0).area == [-4.0]


def test_what_is_kept_takes_no_part_in_equality() -> None:
    asked = Square(2.0)
    assert asked.area == [4.0]
    assert asked == Square(2.0)


def test_a_value_that_failed_is_computed_again() -> None:
    class Late:
        is_ready = False

        @lazy
        def value(self) -> int:
            if not self.is_ready:
                raise ValueError("not yet")
            return 1

    late = Late()
    with pytest.raises(ValueError, match="not yet"):
        _ = late.value
    late.is_ready = True
    assert late.value == 1


def test_the_class_has_the_property_with_its_docstring() -> None:
    assert isinstance(Square.area, lazy)
    assert Square.area.__doc__ == "Its area."
