"""`roofline compare`: cases beside each other, the first being the one that the others are held against."""

from __future__ import annotations

import json

from ..analysis import compare as cases
from ..schemas.compare import Comparison
from .hardware import catalogue
from .output import put_json, put_text
from .question import answered


def compare(file: str | None, *, is_json: bool) -> None:
    """Compare the cases in `file`, or in standard input.

    Raises what the API would refuse: InvalidInput, MalformedText, OverLimit.
    """
    text = answered(file, Comparison, lambda question: cases.compare(question, catalogue()))
    if is_json:
        put_json(text)
    else:
        from .compare_page import page

        put_text(page(json.loads(text)))
