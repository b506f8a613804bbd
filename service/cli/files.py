"""Files that a command writes: what is there is replaced only when that is asked for."""

from __future__ import annotations

from pathlib import Path

import typer

from ..bootstrap import say

OPTION = "-o"


def check_new(path: str | None, *, force: bool) -> None:
    """Refuse at once a path that is not meant to be written."""
    if path is not None and not force and Path(path).exists():
        raise _exists()


def write_new(path: str, content: bytes, *, force: bool) -> None:
    """Write `content` to a file, and say so."""
    try:
        with Path(path).open("wb" if force else "xb") as file:
            file.write(content)
    except FileExistsError:
        raise _exists() from None
    except OSError as error:
        raise typer.BadParameter(f"the file cannot be written: {error.strerror}", param_hint=OPTION) from None
    say(f"{path} is written")


def _exists() -> typer.BadParameter:
    return typer.BadParameter("the file is there already; --force replaces it", param_hint=OPTION)
