"""Facets: the combinations of filters under which lists find an analysis, each with the order columns, in one narrow table.

A page of a list is read from one range of one index, in order, from the cursor on: no row is read to be passed over, whatever is
combined. So every combination that can be asked for has a row of its own: kind or any, chip or its revision or any, bound or any,
which are twelve, and these again for each label and for each word of the note. A label together with a word, and two of either,
would need a row for every pair, which is more than keeping an analysis may cost; such a list is refused.

A facet is named by a digest: 16 bytes, however long a label is.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from .analysis import Headline

MOST_WORDS = 32
"""Words of a note that lists find it by: the first ones that differ."""

_WORD = re.compile(r"[^\W_](?:\S*[^\W_])?")
_PART = re.compile(r"[^\W_]+")


@dataclass(frozen=True, kw_only=True)
class Facet:
    """A combination of filters; None is any. Text of a note is asked for by one word as `words` gives it."""

    space: str
    kind: str | None = None
    chip_id: str | None = None
    chip_revision: int | None = None
    bound: str | None = None
    label: tuple[str, str] | None = None
    word: str | None = None

    @property
    def name(self) -> bytes:
        """What stands for the facet in the table."""
        filters = [self.space, self.kind, self.chip_id, self.chip_revision, self.bound, self.label, self.word]
        return hashlib.sha256(json.dumps(filters).encode()).digest()[:16]


def words(text: str) -> tuple[str, ...]:
    """The words of a text, each once, in their order.

    A word is what stands between spaces, without the marks at its ends, and so is every run of letters and digits within it. Case
    does not count, nor does the form in which a character is written (NFKC).

    >>> words("Retuned (H100-SXM): 5% faster, faster!")
    ('retuned', 'h100-sxm', 'h100', 'sxm', '5', 'faster')
    """
    whole = (match[0] for match in _WORD.finditer(folded(text)))
    return tuple(dict.fromkeys(word for each in whole for word in (each, *_PART.findall(each))))


def folded(text: str) -> str:
    """`text` without the differences between characters that do not count."""
    return unicodedata.normalize("NFKC", text).casefold()


def facets(analysis: Headline) -> set[bytes]:
    """The names of all facets that an analysis has."""
    return {each.name for each in _combinations(analysis)}


def _combinations(analysis: Headline) -> Iterator[Facet]:
    revision = (analysis.chip_id, analysis.chip_revision)
    kinds, chips, bounds = {None, analysis.kind}, {(None, None), (analysis.chip_id, None), revision}, {None, analysis.bound}
    found = words(analysis.note or "")[:MOST_WORDS]
    free = [(None, None), *((label, None) for label in analysis.labels.items()), *((None, word) for word in found)]
    for kind, (chip_id, chip_revision), bound, (label, word) in itertools.product(kinds, chips, bounds, free):
        yield Facet(
            space=analysis.space,
            kind=kind,
            chip_id=chip_id,
            chip_revision=chip_revision,
            bound=bound,
            label=label,
            word=word,
        )
