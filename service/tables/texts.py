"""A cell as text, where a format has no types or a column only one."""

from __future__ import annotations


def text_of(cell: str | float) -> str:
    """The cell in the shortest way that reads back as the same number.

    >>> text_of(512), text_of(0.1), text_of(True), text_of("H100")
    ('512', '0.1', 'true', 'H100')
    """
    if isinstance(cell, bool):
        return "true" if cell else "false"
    return cell if isinstance(cell, str) else repr(cell)
