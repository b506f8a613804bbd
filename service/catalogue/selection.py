"""Which chips of a catalogue are asked for: by vendor, kind, arithmetic, year, and words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..errors import near, refuse
from .chip import Chip


@dataclass(frozen=True, kw_only=True)
class Selection:
    """What a chip must be; None asks for nothing.

    arithmetic  a class that one of its units has a peak for
    year        of its launch
    text        words that stand in id, name or architecture, in any case
    """

    vendor: str | None = None
    kind: str | None = None
    arithmetic: str | None = None
    year: int | None = None
    text: str | None = None

    def of(self, chips: Sequence[Chip]) -> list[Chip]:
        """Those of `chips` that are all of it, in their order. Raises `InvalidInput` for a vendor that none of them has."""
        self._check_vendor({chip.vendor for chip in chips})
        return [chip for chip in chips if self._fits(chip)]

    def _check_vendor(self, known: Iterable[str]) -> None:
        vendors = sorted(known)
        if self.vendor is not None and self.vendor not in vendors:
            detail = f"No chip is of this vendor. There are {', '.join(vendors)}."
            raise refuse("/query/vendor", "out-of-range", detail, near(self.vendor, vendors))

    def _fits(self, chip: Chip) -> bool:
        return (
            self.vendor in (None, chip.vendor)
            and self.kind in (None, chip.kind)
            and self.year in (None, chip.launch_year)
            and (self.arithmetic is None or any(self.arithmetic in ridges for ridges in chip.ridge().values()))
            and _has_words(chip, self.text or "")
        )


def _has_words(chip: Chip, text: str) -> bool:
    described = f"{chip.id}\n{chip.name}\n{chip.architecture}".casefold()
    return all(word in described for word in text.casefold().split())
