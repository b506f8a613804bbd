"""The blocks that pages of text are made of."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from .grid import Grid
from .words import Words


def heading(text: str, beside: str = "") -> Words:
    """A line that begins a part."""
    return Words(Text.assemble((text, "bold"), f"  {beside}" if beside else ""), 0)


def paragraph(text: str | Text, indent: int = 2, style: str = "") -> Words:
    """Text that wraps within the terminal."""
    return Words(Text(text, style) if isinstance(text, str) else text, indent)


def table(titles: Sequence[str], rows: Sequence[Sequence[object]], *, left: int = 1, names: int = 1, prose: Sequence[str] = ()) -> Grid:
    """Rows under their titles, if these have any; the first `left` columns flush left, the others, numbers, flush right.

    The first `names` columns name a row, the last of them alone, those before it by number. The columns titled in `prose` may wrap.
    """
    cells = [tuple(map(str, row)) for row in rows]
    return Grid(titles, cells, left=left, names=names, prose=frozenset(at for at, title in enumerate(titles) if title in prose))
