"""The command line: the same use cases as the API, the same documents, the same codes of refusals."""

from __future__ import annotations

from .program import main

__all__ = ["main"]
