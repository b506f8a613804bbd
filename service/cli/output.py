"""Where the output goes: readable on a terminal, JSON into anything else."""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from ..bootstrap import say

if TYPE_CHECKING:  # loading it takes as long as an answer, and only a terminal needs it
    from rich.console import RenderableType

REFUSED: Final = 2
INTERRUPTED: Final = 130
NOBODY_READS: Final = 141  # as of a program that SIGPIPE ended


def is_json(wanted: bool) -> bool:  # noqa: FBT001 - the flag as it was typed
    """Whether to print JSON: it was asked for, or the output is not a terminal."""
    return wanted or not os.isatty(1)


def put_json(body: bytes) -> None:
    """A document, byte for byte the API's; a terminal's prompt then starts on a line of its own."""
    put(body + b"\n" if os.isatty(1) else body)


def put(text: bytes) -> None:
    """`text` as it is on standard output."""
    try:
        with open(1, "wb", closefd=False) as output:
            output.write(text)
    except OSError as error:
        raise _unwritten(error) from None


def _unwritten(error: OSError) -> SystemExit:
    """A reader that has seen enough (`| head`) is no problem, a full disk is one."""
    if error.errno == errno.EPIPE:
        return SystemExit(NOBODY_READS)
    say(f"the output cannot be written: {error.strerror}")
    return SystemExit(REFUSED)


def put_text(parts: Iterable[RenderableType]) -> None:
    """Parts of a page on the terminal, as wide as it is, in colours unless NO_COLOR is set."""
    from rich.console import Console

    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal may lack a sign that formulas have
    console = Console(highlight=False, markup=False, emoji=False)
    for part in parts:
        console.print(part)
