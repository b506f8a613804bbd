"""What a key may be allowed to do: a closed list of scopes, none of which is above another, but that who may evaluate may fill cells."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, Literal

Scope = Literal["read", "evaluate", "write", "catalogue", "admin", "cell"]

SCOPES: Final[Mapping[Scope, str]] = {
    "read": "Read the catalogue, saved analyses and comparisons, limits and metrics.",
    "evaluate": "Ask questions of which nothing is kept, those of cells included.",
    "write": "Keep, change and delete analyses and comparisons.",
    "catalogue": "Add, revise and delete own entries of the catalogue.",
    "admin": "Make, list, rotate and revoke keys.",
    "cell": "Ask for cells alone. A key that has only this scope may stand in an address.",
}
EVERYTHING: Final[frozenset[Scope]] = frozenset(SCOPES)
CELL_ALONE: Final[frozenset[Scope]] = frozenset({"cell"})


def allowed(scopes: Iterable[Scope]) -> frozenset[Scope]:
    """All that `scopes` allow.

    >>> sorted(allowed(["evaluate"])), sorted(allowed(["admin"]))
    (['cell', 'evaluate'], ['admin'])
    """
    given = frozenset(scopes)
    return given | CELL_ALONE if "evaluate" in given else given
