"""`roofline compare ID ID…`: saved analyses beside each other, the first being the one that the others are held against."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ..analysis.comparisons import document
from ..catalogue import load
from ..schemas.comparisons import SavedComparison
from ..schemas.reading import validate
from ..settings import Settings
from ..storage import AnalysisStore
from .database import prepared
from .output import put_json, put_text


def compare(names: Sequence[str], settings: Settings, *, strict: bool, is_json: bool) -> None:
    """Compare the analyses of these ids in the database of the service.

    Raises what the API would refuse: InvalidInput, OverLimit, Unavailable.
    """
    base, *others = names
    asked = validate(SavedComparison, {"base": base, "others": others, "strict": strict})
    with prepared(settings) as database:
        found = document.chosen(asked, AnalysisStore(database), document.IN_BODY)
    text = document.compare(asked, found, load())
    if is_json:
        put_json(text)
    else:
        from .saved_page import page

        put_text(page(json.loads(text)))
