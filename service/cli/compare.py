"""`roofline compare`: cases beside each other, or saved analyses, the first being the one that the others are held against."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ..analysis import compare as cases
from ..catalogue import load
from ..schemas.compare import Comparison
from ..schemas.reading import parse, validate
from ..settings import Settings
from .output import put_json, put_text
from .question import read


def compare(file: str | None, *, is_json: bool) -> None:
    """Compare the cases in `file`, or in standard input.

    Raises what the API would refuse: InvalidInput, MalformedText, OverLimit.
    """
    text = cases.compare(validate(Comparison, parse(read(file))), load())
    if is_json:
        put_json(text)
    else:
        from .compare_page import page

        put_text(page(json.loads(text)))


def compare_saved(names: Sequence[str], settings: Settings, *, strict: bool, is_json: bool) -> None:
    """Compare the analyses of these ids in the database of the service.

    Raises what the API would refuse: InvalidInput, OverLimit, Unavailable.
    """
    from ..analysis.comparisons import document
    from ..schemas.comparisons import SavedComparison
    from ..storage import AnalysisStore
    from .database import opened

    base, *others = names
    asked = validate(SavedComparison, {"base": base, "others": others, "strict": strict})
    with opened(settings) as database:
        found = document.chosen(asked, AnalysisStore(database), document.IN_BODY)
    text = document.compare(asked, found, load())
    if is_json:
        put_json(text)
    else:
        from .saved_page import page

        put_text(page(json.loads(text)))
