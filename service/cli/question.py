"""The question that a command is given: a file, or what is piped in, no more of it than the API reads."""

from __future__ import annotations

from typing import Final

import typer

from ..errors import OverLimit
from ..schemas.reading import MAX_BODY_BYTES

STANDARD_INPUT: Final = "-"


def read(file: str | None, most: int = MAX_BODY_BYTES) -> bytes:
    """The question as bytes, at most so many. Raises OverLimit (body-too-large)."""
    source = 0 if file in (None, STANDARD_INPUT) else file
    try:
        with open(source, "rb", closefd=source != 0) as opened:
            if file is None and opened.isatty():
                raise typer.BadParameter("name a file, or pipe a question in", param_hint="FILE")
            text = opened.read(most + 1)
    except OSError as error:
        raise typer.BadParameter(f"the file cannot be read: {error.strerror}", param_hint="FILE") from None
    if len(text) > most:
        raise OverLimit(f"A question may have {most} bytes.", code="body-too-large")
    return text
