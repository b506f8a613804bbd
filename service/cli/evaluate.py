"""`roofline evaluate`: a question in, its answer out."""

from __future__ import annotations

import json

from ..analysis.evaluate import answer
from ..schemas.evaluate import Question
from .hardware import catalogue
from .output import put_json, put_text
from .question import answered


def evaluate(file: str | None, *, is_json: bool) -> None:
    """Answer the question in `file`, or in standard input.

    Raises what the API would refuse: InvalidInput, MalformedText, OverLimit.
    """
    text = answered(file, Question, lambda question: answer(question if is_json else _explained(question), catalogue()).text)
    if is_json:
        put_json(text)
    else:
        from .page import page

        put_text(page(json.loads(text)))


def _explained(question: Question) -> Question:
    """The same question, asking for the steps as well: the text shows them always."""
    return question.model_copy(update={"options": question.options.model_copy(update={"explain": True})})
