"""Fit the kernels on measured rows, print how well they do, and write the calibrations.

    .venv/bin/python -m benchmarks.fit.kernels [--write service/catalogue/calibrations] [--revision 1 --reason "first fit" --date …]

It takes about half an hour on one core. Numbers of a revision that was published never change: raise the revision, say why, and add
the new lines to `service/catalogue/digests.txt`.
"""

from __future__ import annotations

import argparse
import datetime as dt
from pathlib import Path

from service.catalogue import load

from .calibrate import Fitted, kernels
from .writing import files


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", type=Path, help="folder for the files; without it nothing is written")
    parser.add_argument("--revision", type=int, default=1)
    parser.add_argument("--reason", default="first fit")
    parser.add_argument("--date", type=dt.date.fromisoformat, default=dt.datetime.now(dt.UTC).date())
    asked = parser.parse_args()
    found: list[Fitted] = []
    print("| kernel | program | chips | rows | fitted | left out |\n|---|---|---|---|---|---|")
    for kernel in kernels():
        for fit in kernel.fitted():
            found.append(fit)
            print(line(fit), flush=True)
    for file in files(found, load()) if asked.write else ():
        file.write(asked.write, revision=asked.revision, date=asked.date, reason=asked.reason)


def line(fit: Fitted) -> str:
    """Errors in percent, median and 90th percentile, of the rows of the fit and of those left out."""
    seen, apart = f"{100 * fit.seen_median:.1f} / {100 * fit.seen_p90:.1f}", f"{100 * fit.median:.1f} / {100 * fit.p90:.1f}"
    return f"| {fit.kernel} | {fit.name} | {', '.join(fit.chips)} | {fit.rows} | {seen} | {apart} |"


if __name__ == "__main__":
    main()
