"""`roofline recompute ID`: the question of a saved analysis asked again, and what made the difference."""

from __future__ import annotations

import json

from ..analysis import history
from ..analysis.recompute import recompute as asked_again
from ..settings import Settings
from ..storage import AnalysisStore
from .database import prepared
from .hardware import catalogue_of
from .output import put_json, put_text


def recompute(name: str, settings: Settings, *, is_json: bool) -> None:
    """Hold a saved analysis against today's answer to its question; nothing is stored. Raises NotFound, Conflict, Unavailable."""
    with prepared(settings) as database:
        text = asked_again(history.read(name, AnalysisStore(database)), catalogue_of(database).current)
    if is_json:
        put_json(text)
    else:
        from .recomputed_page import page

        put_text(page(json.loads(text)))
