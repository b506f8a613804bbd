"""The program as a process: into pipes, on a terminal, or serving. Every wait is bounded."""

from __future__ import annotations

import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

ROOT = Path(__file__).parents[2]
COMMAND = (sys.executable, "-m", "service")
PATIENCE_S = 60
STYLES = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True)
class Ended:
    """What a process left: its exit status, its output, and its words on standard error."""

    status: int
    output: bytes
    words: str

    @property
    def text(self) -> str:
        return self.output.decode()


def environment(**more: str) -> dict[str, str]:
    """None of the variables of whoever runs the tests; a user without files, who wants to hear of trouble alone."""
    return {"PATH": os.environ["PATH"], "HOME": tempfile.gettempdir(), "LC_ALL": "C.UTF-8", "ROOFLINE_LOG_LEVEL": "warning", **more}


def roofline(*arguments: str, stdin: bytes = b"", variables: Mapping[str, str] | None = None) -> Ended:
    """The program between pipes."""
    done = subprocess.run(
        [*COMMAND, *arguments],
        cwd=ROOT,
        env=environment(**variables or {}),
        input=stdin,
        capture_output=True,
        timeout=PATIENCE_S,
        check=False,
    )
    return Ended(done.returncode, done.stdout, done.stderr.decode())


def on_terminal(*arguments: str, stdin: bytes | None = None, columns: int = 100, variables: Mapping[str, str] | None = None) -> Ended:
    """The program on a terminal of its own, which is also its standard input unless `stdin` is piped in; output and words are one."""
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=ROOT,
        env=environment(TERM="xterm-256color", **variables or {}),
        stdin=theirs if stdin is None else subprocess.PIPE,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    try:
        if process.stdin is not None:
            process.stdin.write(stdin or b"")
            process.stdin.close()
        shown = _read_all(ours)
        return Ended(process.wait(PATIENCE_S), shown, "")
    finally:
        os.close(ours)
        process.kill()
        process.wait()


def plain(ended: Ended) -> str:
    """What a terminal shows, without bold and colours and the blanks at the ends of lines."""
    return "\n".join(line.rstrip() for line in STYLES.sub("", ended.text).splitlines()) + "\n"


def _read_all(terminal: int) -> bytes:
    deadline, shown = time.monotonic() + PATIENCE_S, b""
    while select.select([terminal], [], [], max(0.0, deadline - time.monotonic()))[0]:
        try:
            more = os.read(terminal, 65536)
        except OSError:  # how Linux says that the last process has left the terminal
            return shown
        if not more:
            return shown
        shown += more
    raise TimeoutError(shown)


@dataclass
class Served:
    """A service that runs."""

    process: subprocess.Popen[bytes]
    line: str
    client: httpx.Client

    @property
    def base(self) -> str:
        return str(self.client.base_url).rstrip("/")

    @property
    def address(self) -> tuple[str, int]:
        return "127.0.0.1", self.client.base_url.port or 80

    def stop(self) -> Ended:
        """Ask it to end, as an operator would."""
        self.process.send_signal(signal.SIGTERM)
        return self.ended()

    def ended(self) -> Ended:
        output, words = self.process.communicate(timeout=PATIENCE_S)
        return Ended(self.process.returncode, output, self.line + words.decode())


@contextmanager
def serving(*arguments: str, variables: Mapping[str, str] | None = None) -> Iterator[Served]:
    """The service on a free port, from the line that it prints until the end of the block at the latest."""
    process: subprocess.Popen[Any] = subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=ROOT,
        env=environment(**variables or {}),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
    )
    try:
        line = _first_line(process)
        found = re.search(r"http://\S+:[0-9]+", line)
        assert found, line
        with httpx.Client(base_url=found[0], trust_env=False, timeout=PATIENCE_S) as client:
            yield Served(process, line, client)
    finally:
        process.kill()
        process.communicate()


def _first_line(process: subprocess.Popen[Any]) -> str:
    deadline, line = time.monotonic() + PATIENCE_S, b""
    assert process.stderr is not None
    while not line.endswith(b"\n") and select.select([process.stderr], [], [], max(0.0, deadline - time.monotonic()))[0]:
        byte = process.stderr.read(1)
        if not byte:
            break
        line += byte
    return line.decode()
