"""One op per file. Importing this folder registers them all; `OPS` has them by kind."""

from __future__ import annotations

from ..registry import op

OPS = op.discover(__name__, __path__)
