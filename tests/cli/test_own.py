"""Own hardware on the command line: files in and out, and questions about what they hold."""

from __future__ import annotations

import gc
import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from service.cli.program import run as program

from .program import Ended

FILE = """
id             = "next-one"
reason         = "announced"
confidence     = "low"
confidence_why = "An announcement."
name           = "Next One"
vendor         = "example"
kind           = "gpu"
architecture   = "First"
launch_year    = 2027
form_factor    = "card"

[hbm]
type      = "HBM4"
bandwidth = { value = 2.0, unit = "TB/s", source = "sheet" }

[compute]
bf16 = { value = 400, unit = "TFLOP/s", source = "sheet" }

[cores]
name = "core"

[matrix_unit]
name = "matrix unit"

[sources.sheet]
title     = "Next One, data sheet"
publisher = "Example"
read      = 2026-11-02
"""
QUESTION = {"op": {"kind": "matmul", "m": 64, "k": 8192, "n": 8192, "dtype": "bf16"}, "target": {"chip": "next-one"}}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Iterator[Any]:
    """The program with a data folder of its own, in this process: most of its time is that of starting one. What is fed is a file."""
    monkeypatch.setenv("ROOFLINE_DATA", str(tmp_path))

    def run(*arguments: str, stdin: bytes | None = None) -> Ended:
        given = list(arguments)
        if stdin is not None:
            (tmp_path / "fed").write_bytes(stdin)
            given.append(str(tmp_path / "fed"))
        status = program(given)
        output, words = capfdbinary.readouterr()
        return Ended(status, output, words.decode())

    yield run
    gc.enable()  # which a command that answers once turns off


def test_a_chip_goes_in_is_asked_comes_out_is_changed_and_goes_in_again(here: Any) -> None:
    made = here("chip", "import", stdin=FILE.encode())
    assert (made.status, json.loads(made.output)["ref"]) == (0, "next-one@1")
    before = json.loads(here("evaluate", stdin=json.dumps(QUESTION).encode()).output)
    assert (before["target"], before["result"]["layers"]["hbm"]["time_s"]) == ({"chip": "next-one@1"}, 136_314_880 / 2e12)

    sent = here("chip", "export", "next-one").text
    assert sent.startswith("# next-one@1\n")
    assert tomllib.loads(sent) == tomllib.loads(FILE.replace("2026-11-02", '"2026-11-02"'))
    assert json.loads(here("chips", "import", stdin=sent.encode()).output)["revision"] == 1  # nothing is different

    changed = sent.replace('"announced"', '"as built"').replace("2.0", "4.0")
    assert json.loads(here("chip", "import", stdin=changed.encode()).output)["ref"] == "next-one@2"
    after = json.loads(here("evaluate", stdin=json.dumps(QUESTION).encode()).output)
    assert (after["target"], after["result"]["layers"]["hbm"]["time_s"]) == ({"chip": "next-one@2"}, 136_314_880 / 4e12)

    assert here("chip", "delete", "next-one").status == 0
    refused = here("evaluate", stdin=json.dumps(QUESTION).encode())
    assert (refused.status, json.loads(refused.words)["code"]) == (2, "unknown-chip")
    assert json.loads(here("chips", "next-one@1").output)["origin"] == "own"


def test_a_shipped_system_is_copied_by_its_file(here: Any, tmp_path: Path) -> None:
    file = tmp_path / "rack.toml"
    assert here("cluster", "export", "hgx-h100-8", "-o", str(file)).status == 0
    file.write_text(file.read_text().replace('"hgx-h100-8"', '"rack-7"'))
    made = json.loads(here("cluster", "import", str(file)).output)
    shipped = json.loads(here("clusters", "hgx-h100-8").output)
    assert (made["ref"], made["digest"]) == ("rack-7@1", shipped["digest"])
    assert made["axes"] == shipped["axes"]


@pytest.mark.parametrize(
    ("file", "words"),
    [
        (FILE.replace("2.0", "2000.0"), '"implausible-value"'),
        (FILE.replace("2.0", "nan"), '"malformed-json"'),
        (FILE.replace('"next-one"', '"nvidia-h100-sxm"'), '"read-only"'),
        (FILE.replace('id             = "next-one"', ""), '"/id"'),
        ("id = ", "the file is not TOML"),
        ("a = " + "[" * 5000, "too deep"),
        ("a." * 5000 + "a = 1", "too deep"),
        ("a = " + "9" * 5000, "too many digits"),
        ("a = '" + "x" * 2**20 + "'", "body-too-large"),
    ],
)
def test_a_file_that_is_not_right_is_refused(here: Any, file: str, words: str) -> None:
    refused = here("chip", "import", stdin=file.encode())
    assert (refused.status, words in refused.words) == (2, True), refused.words
