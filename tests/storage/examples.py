"""Analyses to store. Their texts are stand-ins: the store does not look into them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from service.storage import Analysis, AnalysisStore, Headline


def analysis(number: int = 0, **changes: Any) -> Analysis:
    """The example of this number; another number is another question, asked a microsecond later."""
    fields: dict[str, Any] = {
        "id": f"an_{number:06d}",
        "created_us": 1_700_000_000_000_000 + number,
        "kind": "matmul",
        "chip_id": "nvidia-h100-sxm",
        "chip_revision": 1,
        "dtype": "bf16",
        "bound": "hbm",
        "lower_s": 1e-6 * (number + 1),
        "estimate_s": None,
        "engine_version": "0.1.0",
        "question_digest": f"q{number}",
        "target_digest": "t1",
        "document_version": 1,
        "question": f'{{"op":{{"kind":"matmul","m":{number}}}}}',
        "answer": f'{{"result":{{"lower_s":{1e-6 * (number + 1)}}}}}',
    }
    return Analysis(**{**fields, **changes})


def varied(numbers: Iterable[int]) -> Iterator[Analysis]:
    """Examples that differ in everything that a list filters by; lower_s has ties."""
    for n in numbers:
        yield analysis(
            n,
            kind=("matmul", "dot", "einsum", "softmax")[n % 4],
            chip_id=("nvidia-h100-sxm", "google-tpu-v5e", None)[n % 3],
            chip_revision=(1, 2)[n // 3 % 2] if n % 3 < 2 else None,
            bound=("compute", "hbm", None)[n // 2 % 3],
            lower_s=1e-6 * (n * 7 % 10 + 1),
            labels={"team": ("red", "blue")[n // 5 % 2], **({"run": str(n // 10)} if n % 2 else {})},
            note=(None, "Tuned: the H100-SXM, twice.", "a baseline, Untuned")[n // 4 % 3],
        )


def follow(store: AnalysisStore, limit: int, **query: Any) -> Iterator[Headline]:
    """Every analysis of a list, page after page."""
    cursor = None
    while True:
        page = store.page(limit, cursor, **query)
        assert len(page.items) <= limit
        yield from page.items
        cursor = page.next_cursor
        if cursor is None:
            return
