"""One collective per file. Importing this folder registers them all; `COLLECTIVES` has them by kind."""

from __future__ import annotations

from ..collective import collective

COLLECTIVES = collective.discover(__name__, __path__)
