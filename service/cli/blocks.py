"""The blocks that pages of text are made of."""

from __future__ import annotations

from collections.abc import Sequence

from rich.padding import Padding
from rich.table import Table
from rich.text import Text


def heading(text: str, beside: str = "") -> Text:
    """A line that begins a part."""
    return Text.assemble((text, "bold"), f"  {beside}" if beside else "")


def paragraph(text: str | Text, indent: int = 2, style: str = "") -> Padding:
    """Text that wraps within the terminal."""
    return Padding(Text(text, style) if isinstance(text, str) else text, (0, 0, 0, indent), expand=False)


def table(columns: Sequence[str], rows: Sequence[Sequence[object]], *, left: int = 1) -> Padding:
    """Rows under their names, if these have any; the first `left` columns flush left, the others, numbers, flush right."""
    drawn = Table(box=None, show_header=any(columns), pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for at, name in enumerate(columns):
        drawn.add_column(name, justify="left" if at < left else "right", no_wrap=at == 0, overflow="fold")
    for row in rows:
        drawn.add_row(*(Text(str(cell)) for cell in row))
    return Padding(drawn, (0, 0, 0, 2), expand=False)
