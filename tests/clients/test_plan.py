"""A planner's sheet of 500 rows goes out and comes back by the one `curl` of the README, and opens in LibreOffice."""

from __future__ import annotations

import csv
import io
import shlex
import subprocess
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import pytest

from service.engine.ops import OPS
from service.tables.formats import FORMATS

from ..api.conftest import Client
from ..docs.pages import README, exchanges
from .office import Office
from .test_files import ENGLISH, csv_options

ROWS = 500
CHIPS = ("nvidia-h100-sxm", "google-tpu-v5e", "amd-mi300x", "nvidia-a100-sxm-80gb", "nvidia-b200")
KINDS = ("matmul", "rms_norm", "softmax", "elementwise", "dot", "copy", "rope", "embedding")
BAD = {123: ("dtype", "bf17", "unknown-dtype"), 321: ("chip", "nvidia-h100", "unknown-chip")}
"""By row: the column that is spoilt, what stands in it, and the code of the refusal."""
EXTRA = ("layer", "code", "owner's note")
NOTES = ('=HYPERLINK("http://example.org")', "-1", "+49 30 1234", "it's 5 % «ü»", "")


@dataclass(frozen=True)
class Planned:
    """A row as it is asked, and the same question as one of `/v1/evaluate`."""

    cells: dict[str, Any]
    question: dict[str, Any]


def planned(row: int, kind: str, chip: str) -> Planned:
    sizes = {name: value * (1 + row % 7) if type(value) is int else value for name, value in OPS[kind].example.items()}
    extra = dict(zip(EXTRA, (f"layer {row}", f"{row:05}", NOTES[row % len(NOTES)]), strict=True))
    cells = {**extra, "op": kind, "chip": chip, **sizes}
    if row in BAD:
        column, text, _ = BAD[row]
        cells[column] = text
    return Planned(cells, {"op": {"kind": kind, **sizes}, "target": {"chip": chip}})


@pytest.fixture(scope="module")
def plan() -> list[Planned]:
    choices = zip(cycle(KINDS), cycle(CHIPS), strict=False)
    return [planned(row, kind, chip) for row, (kind, chip) in enumerate(islice(choices, ROWS))]


@pytest.fixture(scope="module")
def sheet(plan: list[Planned]) -> bytes:
    names = list(dict.fromkeys(name for row in plan for name in row.cells))
    out = io.StringIO()
    writer = csv.DictWriter(out, names)
    writer.writeheader()
    writer.writerows(row.cells for row in plan)
    return out.getvalue().encode()


def sent(sheet: bytes, port: int, folder: Path, *more: str) -> bytes:
    """What the README's command writes, typed beside this `plan.csv`."""
    (folder / "plan.csv").write_bytes(sheet)
    (command,) = (each.text for each, _ in exchanges(README.read_text(encoding="utf-8")) if "@plan.csv" in each.text)
    typed = shlex.split(command.replace("127.0.0.1:8000", f"127.0.0.1:{port}"))
    subprocess.run([*typed, *more], cwd=folder, check=True, timeout=60)
    return (folder / "answered.csv").read_bytes()


@pytest.fixture(scope="module")
def answered(sheet: bytes, port: int, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return sent(sheet, port, tmp_path_factory.mktemp("csv"))


def test_every_row_comes_back_in_its_place_with_its_own_answer(plan: list[Planned], sheet: bytes, answered: bytes, client: Client) -> None:
    asked, got = (list(csv.DictReader(io.StringIO(text.decode()))) for text in (sheet, answered))
    assert len(got) == ROWS
    for row, (mine, line, before) in enumerate(zip(plan, got, asked, strict=True)):
        own = {name: line[name].removeprefix("'") if name == EXTRA[2] else line[name] for name in before}
        assert own == before
        if row in BAD:
            assert (line["time_s"], line["bound"], line["error_code"]) == ("", "", BAD[row][2])
            continue
        result = client.post("/v1/evaluate", json=mine.question).json()["result"]
        assert (float(line["time_s"]), line["bound"]) == (result["time"]["lower_s"], result["bound"]), row
        assert (line["error_code"], line["error"]) == ("", "")


def test_libreoffice_opens_the_answered_sheet(answered: bytes, office: Office) -> None:
    records = list(csv.reader(io.StringIO(answered.decode())))
    opened = office.open("answered.csv", answered, options=csv_options(",", ENGLISH))
    assert (len(opened.values), opened.formulas) == (ROWS + 1, "")
    time_s, note, chip = (records[0].index(name) for name in ("time_s", EXTRA[2], "chip"))
    for row, (shown, record) in enumerate(zip(opened.values[1:], records[1:], strict=True)):
        assert shown[time_s] == (float(record[time_s]) if row not in BAD else "")
        assert shown[chip] == record[chip]
        assert shown[note] == (-1.0 if record[note] == "-1" else record[note])


def test_libreoffice_opens_the_answer_as_a_workbook_too(sheet: bytes, answered: bytes, port: int, office: Office, tmp_path: Path) -> None:
    content = sent(sheet, port, tmp_path, "-H", f"accept: {FORMATS['xlsx'].media_types[0]}")
    opened = office.open("answered.xlsx", content)
    records = list(csv.reader(io.StringIO(answered.decode())))
    assert opened.values[0] == records[0]
    assert (len(opened.values), opened.formulas, opened.sheets) == (ROWS + 1, "", ["table", "provenance"])
    time_s, code, note = (records[0].index(name) for name in ("time_s", *EXTRA[1:]))
    for row, (shown, record) in enumerate(zip(opened.values[1:], records[1:], strict=True)):
        assert shown[time_s] == (float(record[time_s]) if row not in BAD else "")
        said = NOTES[row % len(NOTES)]
        assert (shown[code], shown[note]) == (f"{row:05}", -1.0 if said == "-1" else said)
