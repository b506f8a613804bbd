"""`roofline evaluate`: a question in, its answer out."""

from __future__ import annotations

import json

from ..analysis.evaluate import answer
from ..schemas.evaluate import Question
from ..schemas.reading import parse, validate
from .hardware import catalogue
from .output import put_json, put_text
from .question import read


def evaluate(file: str | None, *, is_json: bool) -> None:
    """Answer the question in `file`, or in standard input.

    Raises what the API would refuse: InvalidInput, MalformedText, OverLimit.
    """
    question = validate(Question, parse(read(file)))
    if is_json:
        put_json(answer(question, catalogue()).text)
    else:
        from .page import page

        put_text(page(json.loads(answer(_explained(question), catalogue()).text)))


def _explained(question: Question) -> Question:
    """The same question, asking for the steps as well: the text shows them always."""
    return question.model_copy(update={"options": question.options.model_copy(update={"explain": True})})
