"""Reads tables in a process of its own, and says of each what came of it, in how long, in how much memory.

python -m tests.tables.upload     # "FORMAT SIZE" on a line and so many bytes come in; a line of JSON goes out for each
"""

from __future__ import annotations

import json
import re
import resource
import sys
import time
from pathlib import Path

from service.errors import ServiceError
from service.tables.formats import FORMATS
from service.tables.table import Sheet, Table


def peak_bytes() -> int:
    """The most memory that this process has held so far. What Linux reports of usage begins with that of the process before it."""
    status = Path("/proc/self/status")
    if status.exists():
        return int(re.findall(r"VmHWM:\s+(\d+) kB", status.read_text())[0]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def outcome(name: str, body: bytes) -> str:
    try:
        return f"read {FORMATS[name].read(body).rows} rows"
    except ServiceError as error:
        return error.code


def main() -> None:
    for each in FORMATS.values():  # what a format imports is not counted as what an upload costs
        each.read(b"".join(each.write(Sheet(Table(("m",), ([1],))))))
    before = peak_bytes()
    while line := sys.stdin.buffer.readline():
        name, size = line.decode().split()
        body = sys.stdin.buffer.read(int(size))
        began = time.monotonic()
        code = outcome(name, body)
        found = {"code": code, "seconds": time.monotonic() - began, "bytes": peak_bytes() - before}
        sys.stdout.write(json.dumps(found) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
