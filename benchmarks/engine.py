"""What the engine costs: one question in microseconds, columns in rows per second.

    one       an op with its levers and thresholds, from numbers to a report, and the same with its tile and its estimate
    core      six columns of a matmul over m, k, n: operations, bytes, both times, the least time, what binds
    report    the whole report of the same rows: by operand, intensities, bounds, threshold, levers
    tiles     the fastest tile of each row and the time that it takes, beside the core of the same rows; and the search for it alone

Columns are set against a NumPy loop in chunks of the same size that reads and writes as many columns of float64 and does one
addition for each: the ratio of both in one round is what is held, since a busy machine slows both. Rounds alternate.

    .venv/bin/python -m benchmarks.engine [--rounds 11] [--rows 1048576]

Not as a script: its folder would then stand first on the path, and a module there has the name of one of the standard library.
"""

from __future__ import annotations

import argparse
import statistics
import time
import tracemalloc
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from service.api.heap import keep_freed_memory
from service.engine import batch
from service.engine.arrays import Code, Real, column
from service.engine.batch import CHUNK, in_chunks
from service.engine.fabric import Fabric
from service.engine.kernels.gemm import GemmParameters, ladder_of
from service.engine.kernels.losses import Ladder
from service.engine.kernels.of_op import plain_product
from service.engine.kernels.physics import State
from service.engine.kernels.search import Problem, search
from service.engine.kernels.silicon import Silicon
from service.engine.machine import Machine, place
from service.engine.ops.matmul import Matmul
from service.engine.report import ONE_CHIP, Limits, Report, core
from service.engine.term import Term

CHIP: Final = Machine({"bf16": column(1.97e14)}, {}, column(8.2e11))
ONES: Final = 300
"""Single questions in a round."""

SILICON: Final = Silicon.of(
    {"cores": 132.0, "clock": 1.755e9, "cache_bytes": 52428800.0, "tile_bytes": 232448.0, "accumulator_bytes": 262144.0}, 8.2e11
)
"""A chip of many cores behind one cache."""
KERNEL: Final = GemmParameters(
    launch_s=column(2e-6), math=column(0.85), memory=column(0.85), step_s=column(6e-8), fill_s=column(3e-7), drain=column(0.5),
    feed=column(64.0), overlap=column(3.0), throttle=column(0.05), quantized=column(0.3), hot=column(0.1), copies=column(2.0),
    split_s=column(7e-7), quantize_s=column(0.0), quantize_row_s=column(0.0), eager_s=column(2.5e-5),
)  # fmt: skip
"""Parameters of the size that fits find."""

READ: Final = 3
"""Columns that are read: m, k and n."""

Core = tuple[Real, Real, Real, Real, Real, Code]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=11, help="rounds, at least 9 (default: %(default)s)")
    parser.add_argument("--rows", type=int, default=2**20, help="rows of the core columns; the report has a quarter (default: %(default)s)")
    asked = parser.parse_args()
    if asked.rounds < 9 or asked.rows < CHUNK:
        parser.error(f"at least 9 rounds and {CHUNK} rows make a measurement")
    keep_freed_memory()  # as the service does
    print("one question with its levers and thresholds, and with its tile and estimate beside; processor time")
    for name, members in QUESTIONS.items():
        ones(name, members, asked.rounds)
    columns("core", six, asked.rows, asked.rounds)
    columns("report", whole, asked.rows // 4, asked.rounds)
    tiles(asked.rows // 64, asked.rounds)


QUESTIONS: Final[Mapping[str, dict[str, Any]]] = {
    "matmul": {"m": 512, "k": 8192, "n": 28672},
    "matmul of int8 weights in a batch": {"m": 512, "k": 8192, "n": 28672, "batch": 4, "b_dtype": "int8"},
    "matmul of mxfp4 weights": {"m": 512, "k": 8192, "n": 28672, "b_dtype": "mxfp4"},
}


def term(members: Mapping[str, Any]) -> Term:
    held: dict[str, Any] = {name: value if isinstance(value, str) else column(value) for name, value in members.items()}
    return Matmul(**held, dtype="bf16").resolved()


def ones(name: str, members: Mapping[str, Any], count: int) -> None:
    """Print what one question costs, without and with its tile."""

    def often(work: Callable[[Term], Any]) -> None:
        for _ in range(ONES):
            work(term(members))

    found = rounds(count, {"plain": lambda: often(whole), "tile": lambda: often(expected)}, time.process_time)
    for label, seconds in ((name, found["plain"]), ("    and its tile and estimate", found["tile"])):
        each = sorted(second / ONES * 1e6 for second in seconds)
        print(f"    {label:36}best {each[0]:8.1f}   median {statistics.median(each):8.1f}   worst {each[-1]:8.1f} µs")
    print_ratios("    both / plain", found["tile"], found["plain"])


def six(asked: Term) -> Core:
    """Operations, bytes, both times, the least time and the longest paths of all rows."""

    def of_chunk(part: Term, chip: Machine, _: Fabric) -> Core:
        demand = part.demand()
        placed = place(chip, demand, part.arithmetic, is_asked=False)
        found = core(demand, part.storages(demand), Limits(placed.peak, chip.memory), {})
        return found.flops, found.moved.total, found.times.math, found.times.hbm, found.lower, found.longest

    return in_chunks(asked, CHIP, ONE_CHIP, of_chunk)


def whole(asked: Term) -> Report:
    return batch.evaluate(asked, CHIP)


def problem(asked: Term) -> Problem:
    """What is asked of the search for the fastest tile, from the report."""
    found = whole(asked)
    assert found.placement.peak is not None
    return Problem(plain_product(asked.demand(), found.bytes, found.placement.peak, column(0.0)), SILICON, KERNEL)


def expected(asked: Term) -> Ladder:
    """The time that a row takes with the fastest tile."""
    product, silicon, kernel = found = problem(asked)
    return ladder_of(search(found, State()).work, product, silicon, kernel, State())


def tiles(rows: int, count: int) -> None:
    """Print at which rate tiles are found, and how that compares with the plain roofline."""
    asked, _ = drawn(rows)
    sought = problem(asked)
    works = {"tiles": lambda: expected(asked), "search": lambda: search(sought, State()), "core": lambda: six(asked)}
    found = rounds(count, works, time.process_time)
    print(f"tiles: {rows} rows with levers, thresholds, tile and estimate, processor time")
    for label, seconds in (("rows", found["tiles"]), ("the search alone", found["search"])):
        rates = sorted(rows / each for each in seconds)
        print(f"    {label:36}best {rates[-1]:8.0f}   median {statistics.median(rates):8.0f}   worst {rates[0]:8.0f} rows/s")
    print_ratios("time of tiles / core", found["tiles"], found["core"])


def print_ratios(label: str, some: Sequence[float], others: Sequence[float]) -> None:
    ratios = sorted(one / other for one, other in zip(some, others, strict=True))
    print(f"    {label:36}best {ratios[0]:8.2f}   median {statistics.median(ratios):8.2f}   worst {ratios[-1]:8.2f}")


def drawn(rows: int) -> tuple[Term, list[Real]]:
    """A matmul of so many rows, and its m, k and n."""
    draw = np.random.default_rng(7)
    dims = [draw.integers(1, 2**15, rows).astype(np.float64) for _ in range(READ)]
    return Matmul(m=dims[0], k=dims[1], n=dims[2], dtype="bf16").resolved(), dims


def columns(name: str, evaluate: Callable[[Term], Any], rows: int, count: int) -> None:
    """Print the rates of a way to evaluate columns and of the loop beside it, and what a row takes of memory."""
    asked, dims = drawn(rows)
    written = [each for each in leaves(evaluate(asked)) if each.shape[-1] == rows]
    out = [np.empty(rows) for each in written for _ in range(each.size // rows)]
    held = sum(each.nbytes for each in written) / rows
    found = rounds(count, {"ours": lambda: evaluate(asked), "loop": lambda: loop(dims, out)})
    ratios = [loop_s / ours_s for ours_s, loop_s in zip(found["ours"], found["loop"], strict=True)]
    print(f"{name}: {READ} columns read, {len(out)} written, {rows} rows")
    for label, seconds in (("engine", found["ours"]), (f"loop over {READ} + {len(out)} columns", found["loop"])):
        rates = sorted(rows / each / 1e6 for each in seconds)
        print(f"    {label:36}best {rates[-1]:8.2f}   median {statistics.median(rates):8.2f}   worst {rates[0]:8.2f} M rows/s")
    print(f"    {'engine / loop':36}best {max(ratios):8.2f}   median {statistics.median(ratios):8.2f}   worst {min(ratios):8.2f}")
    print(f"    {'memory':36}{held:.0f} B a row in the result, {peak_bytes(lambda: evaluate(asked)) / rows:.0f} B a row at the peak")


def loop(read: Sequence[Real], out: Sequence[Real]) -> None:
    """Read and write columns in chunks, one addition for each number written."""
    for start in range(0, read[0].size, CHUNK):
        part = slice(start, start + CHUNK)
        for at, column_ in enumerate(out):
            np.add(read[at % len(read)][part], 1.0, out=column_[part])


def leaves(found: Any) -> Iterator[Any]:
    """All columns of a result."""
    if isinstance(found, np.ndarray):
        yield found
    elif isinstance(found, Mapping):
        for each in found.values():
            yield from leaves(each)
    elif isinstance(found, tuple):
        for each in found:
            yield from leaves(each)


def rounds(count: int, works: Mapping[str, Callable[[], Any]], clock: Callable[[], float] = time.perf_counter) -> dict[str, list[float]]:
    """Seconds of each piece of work, round after round, after one round to warm up."""
    seconds: dict[str, list[float]] = {name: [] for name in works}
    for at in range(count + 1):
        for name, work in works.items():
            began = clock()
            work()
            if at:
                seconds[name].append(clock() - began)
    return seconds


def peak_bytes(work: Callable[[], Any]) -> int:
    """The most memory that a piece of work holds at a time, above what was held before."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


if __name__ == "__main__":
    main()
