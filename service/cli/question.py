"""The question that a command is given: a file, or what is piped in, no more of it than the API reads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

import typer

from ..errors import InvalidInput, OverLimit
from ..schemas.reading import MAX_BODY_BYTES, Model, parse, validate
from ..schemas.telling import told
from .hardware import catalogue

T = TypeVar("T")

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


def answered(file: str | None, model: type[Model], answer: Callable[[Model], T]) -> T:
    """What `answer` makes of the question in a file. Raises what the API would refuse, told as it tells it."""
    sent = parse(read(file))
    try:
        return answer(validate(model, sent))
    except InvalidInput as refusal:
        from ..analysis.judging import whole

        raise told(whole(refusal, model, sent, catalogue()), sent) from refusal
