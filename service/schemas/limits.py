"""How much one request may ask for.

What goes beyond is refused as a whole, with 413 and the way round it, and not as a fault of a member. So the models do not hold these
limits, and only tell them to whoever reads their JSON Schema.
"""

from __future__ import annotations

from typing import Final

MAX_ROWS: Final = 100_000
"""Rows in the lists of one op."""

MAX_OPS: Final = 1_000
"""Ops in one list."""

MAX_CASES: Final = 100
"""Cases in one comparison, and cases and analyses on one chart."""

MAX_COMPARED: Final = 50
"""Saved analyses that are held against another one."""

MAX_COMPARED_OPS: Final = 2_500
"""Ops of these analyses in all."""

MAX_COMPARED_BYTES: Final = 64 * 2**20
"""Stored answers of a comparison in all."""

MAX_CANDIDATES: Final = 256
"""Candidates of one ranking."""

MAX_RANKED_OPS: Final = 10_000
"""Ops of a ranking, those of a list counted once for each candidate."""

MAX_RANKED_LAYOUTS: Final = 100_000
"""Arrays × axes of a ranking, over all candidates; where the fastest plan is looked for, 40 times as many."""

MAX_POINTS: Final = 2_048
"""Points of one series."""

MAX_EXPORTED: Final = 100_000
"""Saved analyses of one export."""
