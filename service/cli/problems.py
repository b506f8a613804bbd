"""Refusals: the problem document of the API for programs, sentences for people, both on standard error."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import typer

from ..bootstrap import say
from ..errors import InvalidInput, NotFound, ServiceError
from ..settings import InvalidSettings
from .output import REFUSED


@contextmanager
def explained(wants_json: bool) -> Iterator[None]:  # noqa: FBT001 - the flag as it was typed
    """Ends the program with what was refused inside: as JSON if that is wanted or standard error is not a terminal.

    A command that answers once leaves its garbage to the end of the process: collecting it would take a quarter of the time.
    """
    gc.disable()
    try:
        yield
    except InvalidSettings:
        raise  # said in one line, as by every command
    except ServiceError as error:
        if wants_json or not sys.stderr.isatty():
            sys.stderr.write(_document(error))
        else:
            say("\n  ".join(_sentences(error)))
        raise typer.Exit(REFUSED) from None


def _document(error: ServiceError) -> str:
    """As over HTTP, without the id of a request."""
    from ..api.answers import written
    from ..api.problems import document

    problem = document(error, "")
    del problem["request_id"]
    return written(problem).decode() + "\n"


def _sentences(error: ServiceError) -> list[str]:
    """What is wrong, one line for each fault: where, what, what may have been meant, the code."""
    if isinstance(error, InvalidInput):
        faults = [
            f"{fault.pointer or 'the question'}: {fault.detail}{_perhaps(fault.suggestions)} ({fault.code})" for fault in error.faults
        ]
        return faults if len(faults) == 1 else [error.detail, *faults]
    suggestions = error.suggestions if isinstance(error, NotFound) else ()
    return [f"{error.detail}{_perhaps(suggestions)} ({error.code})"]


def _perhaps(suggestions: Sequence[str]) -> str:
    return f" Perhaps {' or '.join(suggestions)}?" if suggestions else ""
