"""What a command writes on a terminal of a hundred columns, its styles left out."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

COLUMNS = 100
_TERMINAL = {"COLUMNS": str(COLUMNS), "TERM": "xterm"}
_STYLE = re.compile(r"\x1b\[[0-9;]*m")


def written(command: str, folder: Path) -> str:
    """The output of `roofline …`, typed in `folder`."""
    program, *arguments = command.split()
    assert program == "roofline"
    ours, terminal = pty.openpty()
    try:
        started = [sys.executable, "-c", "from service.cli import main; main()", *arguments]
        process = subprocess.Popen(started, cwd=folder, env={**os.environ, **_TERMINAL}, stdin=subprocess.DEVNULL, stdout=terminal)
        os.close(terminal)
        text = _read_all(ours)
        assert process.wait(timeout=60) == 0, text
    finally:
        os.close(ours)
    return "".join(f"{line.rstrip()}\n" for line in _STYLE.sub("", text).splitlines())


def _read_all(source: int) -> str:
    parts: list[bytes] = []
    while True:
        try:
            part = os.read(source, 65536)
        except OSError:  # how a terminal says that nobody writes to it any more
            part = b""
        if not part:
            return b"".join(parts).decode()
        parts.append(part)
