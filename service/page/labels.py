"""Where the label of a point stands: beside it, where nothing else does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

CHARACTER: Final = 6.6
"""Width of a character of 12 pixels, the widest of common fonts."""

LINE: Final = 15


@dataclass(frozen=True)
class Box:
    """A rectangle in pixels, y downwards."""

    left: float
    top: float
    right: float
    bottom: float

    @classmethod
    def around(cls, x: float, y: float, across: float, down: float) -> Box:
        return cls(x - across, y - down, x + across, y + down)

    def meets(self, other: Box) -> bool:
        return self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom

    def holds(self, other: Box) -> bool:
        return self.left <= other.left and other.right <= self.right and self.top <= other.top and other.bottom <= self.bottom


def free_place(text: str, x: float, y: float, taken: Iterable[Box], within: Box) -> Box | None:
    """The first free place for `text` near a point, or nothing where all are taken."""
    return next((place for place in _places(len(text) * CHARACTER, x, y) if within.holds(place) and not any(map(place.meets, taken))), None)


def _places(width: float, x: float, y: float) -> Iterator[Box]:
    """Below on the right first, as roofs rise to the right; then all around, and further away."""
    for away in (8.0, 20.0, 34.0):
        for left, top in (
            (x + away, y + away / 4),
            (x + away, y - LINE / 2),
            (x - away - width, y - LINE - away / 4),
            (x - width / 2, y - LINE - away),
            (x - width / 2, y + away),
            (x - away - width, y + away / 4),
            (x + away, y - LINE - away / 4),
        ):
            yield Box(left, top, left + width, top + LINE)
