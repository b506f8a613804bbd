"""`roofline evaluate`: a question in, its answer out."""

from __future__ import annotations

import json
from typing import Final

import typer

from ..analysis.evaluate import answer
from ..api.bodies import MAX_BODY_BYTES
from ..catalogue import load
from ..errors import OverLimit
from ..schemas.evaluate import Question
from ..schemas.reading import parse, validate
from .output import put_json, put_text

STANDARD_INPUT: Final = "-"


def evaluate(file: str | None, *, is_json: bool) -> None:
    """Answer the question in `file`, or in standard input.

    Raises what the API would refuse: InvalidInput, MalformedText, OverLimit.
    """
    question = validate(Question, parse(_read(file)))
    if is_json:
        put_json(answer(question, load()).text)
    else:
        from .page import page

        put_text(page(json.loads(answer(_explained(question), load()).text)))


def _explained(question: Question) -> Question:
    """The same question, asking for the steps as well: the text shows them always."""
    return question.model_copy(update={"options": question.options.model_copy(update={"explain": True})})


def _read(file: str | None) -> bytes:
    """The question as bytes, no more of them than the API reads."""
    source = 0 if file in (None, STANDARD_INPUT) else file
    try:
        with open(source, "rb", closefd=source != 0) as opened:
            if file is None and opened.isatty():
                raise typer.BadParameter("name a file, or pipe a question in", param_hint="FILE")
            text = opened.read(MAX_BODY_BYTES + 1)
    except OSError as error:
        raise typer.BadParameter(f"the question cannot be read: {error.strerror}", param_hint="FILE") from None
    if len(text) > MAX_BODY_BYTES:
        raise OverLimit(f"A question may have {MAX_BODY_BYTES} bytes.", code="body-too-large")
    return text
