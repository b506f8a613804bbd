"""What means harm is refused in seconds and in bounds of memory, measured in a process that reads one such upload after another."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from .bombs import BOMBS

MOST_BYTES = 256 * 2**20
MOST_SECONDS = 50  # ten times what the slowest takes
REFUSALS = {"malformed-table", "malformed-json", "not-utf8", "wrong-type", "body-too-large", "too-many-rows"}

CODES = {
    ("xlsx", "half a megabyte that inflates to 512 MiB"): "body-too-large",
    ("xlsx", "sizes that lie"): "malformed-table",
    ("xlsx", "a far cell"): "too-many-rows",
    ("xlsx", "a million rows"): "too-many-rows",
    ("xlsx", "10^5 styles"): "malformed-table",
    ("xlsx", "one text for all cells"): "body-too-large",
    ("xlsx", "entities in the texts"): "malformed-table",
    ("xlsx", "an outward relation"): "malformed-table",
    ("csv", "a ragged row"): "malformed-table",
    ("csv", "a million rows"): "too-many-rows",
    ("csv", "only NUL"): "body-too-large",
    ("json", "objects in a list"): "too-many-rows",
    ("json", "half of a pair"): "malformed-json",
    ("arrow", "a text of 256 MiB"): "body-too-large",
    ("arrow", "one view for all cells"): "body-too-large",
}
"""The codes that a reader of the log looks for; the others must be refusals too."""


Ask = Callable[[str, bytes], dict[str, Any]]


@pytest.fixture(scope="module")
def ask() -> Iterator[Ask]:
    """What came of a body, in a process that stays."""
    command = [sys.executable, "-m", "tests.tables.upload"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        to, back = process.stdin, process.stdout

        def asked(name: str, body: bytes) -> dict[str, Any]:
            to.write(f"{name} {len(body)}\n".encode() + body)
            to.flush()
            answer: dict[str, Any] = json.loads(back.readline())
            return answer

        yield asked
        to.close()
        assert process.wait(timeout=20) == 0


@pytest.mark.parametrize(("name", "what"), [(name, what) for name, bombs in BOMBS.items() for what in bombs])
def test_it_is_refused_in_time_and_memory(name: str, what: str, ask: Ask) -> None:
    found = ask(name, BOMBS[name][what]())
    assert found["code"] == CODES.get((name, what), found["code"])
    assert found["code"] in REFUSALS
    assert found["seconds"] < MOST_SECONDS
    assert found["bytes"] < MOST_BYTES
