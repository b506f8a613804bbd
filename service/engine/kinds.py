"""Everything that can be asked about, by kind: the ops and the collectives."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from .collectives import COLLECTIVES
from .ops import OPS
from .term import Term

KINDS: Mapping[str, type[Term]] = MappingProxyType(dict(sorted({**OPS, **COLLECTIVES}.items())))
