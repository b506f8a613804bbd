"""What a table costs, against the same rows asked as columns.

    table      CSV of 10,000 rows that mix ops, formats and chips, read, answered and written as CSV: all that a request does
    columns    the same rows as one question for each op, format and chip, as `POST /v1/evaluate` answers it

Both run in this process, alternating, so that what else the machine does meets both; the ratio of a round is what is held.

    .venv/bin/python -m benchmarks.batches [--rounds 7] [--rows 10000]
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

from service.analysis.batches.answering import Choices
from service.analysis.batches.exchanging import Exchange, exchanged
from service.analysis.evaluate import answer
from service.catalogue import Catalogue, load
from service.schemas.evaluate import Question
from service.schemas.reading import validate
from service.tables.formats import FORMATS

CSV: Final = FORMATS["csv"]
CHIPS: Final = ("nvidia-h100-sxm", "nvidia-a100-sxm-80gb", "google-tpu-v5e", "google-tpu-v5p", "amd-mi300x")
OPS: Final[tuple[dict[str, Any], ...]] = (
    {"op": "matmul", "m": 512, "k": 8192, "n": 28672},
    {"op": "softmax", "rows": 4096, "cols": 4096},
    {"op": "rms_norm", "rows": 4096, "cols": 8192},
    {"op": "elementwise", "n": 1_000_000},
)
FORMATS_OF_NUMBERS: Final = ("bf16", "int8")
MOST_COST: Final = 12.0  # of the same rows as columns, that a table should stay below

Row = dict[str, Any]


def rows(count: int) -> list[Row]:
    """Rows of all ops, formats and chips in turn, no two with the same numbers."""
    found = []
    for at in range(count):
        op = OPS[at % len(OPS)]
        sizes = {name: value + at // 40 for name, value in op.items() if name != "op"}
        found.append({"op": op["op"], **sizes, "dtype": FORMATS_OF_NUMBERS[at // 4 % 2], "chip": CHIPS[at // 8 % len(CHIPS)]})
    return found


def as_csv(asked: Sequence[Row]) -> bytes:
    header = list(dict.fromkeys(name for row in asked for name in row))
    lines = [",".join(str(row.get(name, "")) for name in header) for row in asked]
    return "\n".join([",".join(header), *lines]).encode()


def as_columns(asked: Sequence[Row]) -> list[Question]:
    """One question for each op, format and chip, its numbers in lists."""
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in asked:
        groups.setdefault((row["op"], row["dtype"], row["chip"]), []).append(row)
    questions = []
    for (kind, dtype, chip), members in groups.items():
        lists = {name: [row[name] for row in members] for name in members[0] if name not in {"op", "dtype", "chip"}}
        questions.append(validate(Question, {"op": {"kind": kind, "dtype": dtype, **lists}, "target": {"chip": chip}}))
    return questions


def took(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def measured(asked: Sequence[Row], catalogue: Catalogue, rounds: int) -> list[tuple[float, float]]:
    """Seconds of the table and of the columns in each round, the first being left out."""
    table, questions = as_csv(asked), as_columns(asked)
    exchange = Exchange(CSV, CSV, Choices())
    found = [
        (
            took(lambda: exchanged(table, exchange, catalogue)),
            took(lambda: [answer(question, catalogue).text for question in questions]),
        )
        for _ in range(rounds + 1)
    ]
    return found[1:]


def main() -> None:
    arguments = argparse.ArgumentParser(description="What a table costs, against the same rows asked as columns.")
    arguments.add_argument("--rounds", type=int, default=7)
    arguments.add_argument("--rows", type=int, default=10_000)
    given = arguments.parse_args()
    found = measured(rows(given.rows), load(), given.rounds)
    table, columns = (statistics.median(each) for each in zip(*found, strict=True))
    ratio = statistics.median(one / other for one, other in found)
    print(f"{given.rows:,} rows: table {table:.3f} s, columns {columns:.3f} s, ratio {ratio:.1f} (at most {MOST_COST})")
    raise SystemExit(ratio > MOST_COST)


if __name__ == "__main__":
    main()
