"""What reading and writing a table costs, in time and in memory, by format.

Each piece of work is done in a process of its own, that is asked for the most memory it held beyond what it had before; what the
table itself takes as Python objects stands beside it. Seconds are of the processor. Formats alternate in rounds, so that what else
the machine does meets all of them; what is held is a ratio within one round: to JSON in columns, which does the least, and for XLSX
also to the readers and writers of others.

    .venv/bin/python -m benchmarks.tables [--rounds 3] [--rows 100000] [--columns 20]

Not as a script: its folder would then stand first on the path, and a module there has the name of one of the standard library.
"""

from __future__ import annotations

import argparse
import io
import json
import random
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import openpyxl
import python_calamine
import xlsxwriter

from service.tables.formats import FORMATS
from service.tables.table import Cell, Reading, Sheet, Table, Writing

WORDS: Final = ("matmul", "nvidia-h100-sxm", "bf16", "compute", "hbm")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, help="rounds (default: %(default)s)")
    parser.add_argument("--rows", type=int, default=100_000, help="rows of the table (default: %(default)s)")
    parser.add_argument("--columns", type=int, default=20, help="its columns (default: %(default)s)")
    parser.add_argument("--work", choices=WORKS, help="do one piece of work, and say what it cost")
    asked = parser.parse_args()
    if asked.work:
        print(json.dumps(cost(asked.work, asked.rows, asked.columns)))
        return
    size = ("--rows", str(asked.rows), "--columns", str(asked.columns))
    found: dict[str, list[dict[str, float]]] = {name: [] for name in WORKS}
    for _ in range(asked.rounds):
        for name in WORKS:
            command = [sys.executable, "-m", "benchmarks.tables", "--work", name, *size]
            found[name].append(json.loads(subprocess.run(command, capture_output=True, check=True).stdout))
    show(found)


def table(rows: int, columns: int) -> Table:
    """Numbers and words as planners have them: of four columns two of floats, one of whole numbers, one of words."""
    draw = random.Random(7)  # noqa: S311 - the same table each time
    kinds: list[Callable[[], Cell]] = [
        lambda: draw.random() * 1e-3,
        lambda: draw.randrange(2**20),
        lambda: draw.choice(WORDS),
        lambda: draw.random() * 1e15,
    ]
    return Table(tuple(f"column_{at}" for at in range(columns)), tuple([kinds[at % 4]() for _ in range(rows)] for at in range(columns)))


def cost(work: str, rows: int, columns: int) -> dict[str, float]:
    """Seconds of the processor, the most memory held for the work, and what came of it [bytes]."""
    action, name = work.split(" ", 1)
    given = table(rows, columns)
    body = b"".join(FORMATS["xlsx" if " " in name else name].write(Sheet(given))) if action == "read" else b""
    if action == "read":
        given = table(1, 1)
    before, began = reset_peak(), time.process_time()
    size = WORKS[work](given, body)
    return {"seconds": time.process_time() - began, "memory": peak() - before, "bytes": size or len(body)}


def write(name: str) -> Callable[[Table, bytes], int]:
    return lambda given, _body: sum(map(len, FORMATS[name].writer(Sheet(given), Writing())))


def read(name: str) -> Callable[[Table, bytes], int]:
    def work(_given: Table, body: bytes) -> int:
        kept.append(FORMATS[name].reader(body, Reading()))
        return 0

    return work


def read_by_openpyxl(_given: Table, body: bytes) -> int:
    kept.append(list(openpyxl.load_workbook(io.BytesIO(body), read_only=True).worksheets[0].values))
    return 0


def read_by_calamine(_given: Table, body: bytes) -> int:
    kept.append(python_calamine.CalamineWorkbook.from_object(io.BytesIO(body)).get_sheet_by_index(0).to_python())
    return 0


def write_by_xlsxwriter(given: Table, _body: bytes) -> int:
    out = io.BytesIO()
    book = xlsxwriter.Workbook(out, {"in_memory": True})
    sheet = book.add_worksheet()
    for at, column in enumerate(given.columns):
        sheet.write_column(0, at, column)
    book.close()
    return len(out.getvalue())


kept: list[Any] = []
"""What was read stays, since a caller would keep it."""

WORKS: Final[Mapping[str, Callable[[Table, bytes], int]]] = {
    **{f"write {name}": write(name) for name in FORMATS},
    "write xlsx by XlsxWriter": write_by_xlsxwriter,
    **{f"read {name}": read(name) for name in FORMATS},
    "read xlsx by calamine": read_by_calamine,
    "read xlsx by openpyxl": read_by_openpyxl,
}


def reset_peak() -> int:
    """Let the peak of this process begin anew, and what it holds now [bytes]."""
    Path("/proc/self/clear_refs").write_text("5")
    return peak()


def peak() -> int:
    """The most that this process has held since [bytes]; Linux alone says so."""
    return int(re.findall(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())[0]) * 1024


def show(found: Mapping[str, list[dict[str, float]]]) -> None:
    print(f"{'':28}{'seconds':>10}{'/ columns':>11}{'worst':>8}{'MiB held':>10}{'MiB as text':>13}")
    for name, rounds in found.items():
        base = found[name.split()[0] + " columns"]
        ratios = [one["seconds"] / other["seconds"] for one, other in zip(rounds, base, strict=True)]
        seconds = statistics.median(each["seconds"] for each in rounds)
        held = max(each["memory"] for each in rounds) / 2**20
        print(
            f"    {name:24}{seconds:10.2f}{statistics.median(ratios):11.1f}{max(ratios):8.1f}{held:10.1f}{rounds[0]['bytes'] / 2**20:13.1f}"
        )


if __name__ == "__main__":
    main()
