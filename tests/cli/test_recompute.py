"""`roofline recompute ID` after one number of an own chip was changed: the document of the API; on a terminal what changed and why."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from service.analysis import history
from service.analysis.recompute import recompute
from service.cli.hardware import catalogue_of
from service.cli.program import run as program
from service.schemas.analyses import SavedQuestion
from service.schemas.reading import validate
from service.storage import AnalysisStore, Database

from .program import Ended, on_terminal, plain
from .test_own import FILE, QUESTION

FASTER = FILE.replace("value = 2.0", "value = 4.0").replace("announced", "another announcement")
SHOWN = """{} asked again
  Changed by the revision of the chip, next-one@1 → next-one@2.
                   was        is    ratio  by engine  by chip revision
  lower       68.16 µs  34.08 µs     0.5×         1×              0.5×
  upper       89.63 µs  55.55 µs  0.6198×         1×           0.6198×
  overlapped  68.16 µs  34.08 µs     0.5×         1×              0.5×
"""


@pytest.fixture
def variables(database: Database, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Those that name the database, to this process too."""
    is_file = database.path is not None
    name = "ROOFLINE_DATA" if is_file else "ROOFLINE_DATABASE_URL"
    value = str(database.path.parent) if database.path is not None else request.getfixturevalue("postgres_url")
    monkeypatch.setenv(name, value)
    return {name: value}


@pytest.fixture
def roofline(variables: dict[str, str], tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> Iterator[Any]:
    """The program in this process, with its database; what is fed is a file."""
    assert variables

    def run(*arguments: str, file: str | None = None) -> Ended:
        fed = tmp_path / "fed"
        fed.write_text(file or "")
        status = program([*arguments, *([] if file is None else [str(fed)])])
        output, words = capfdbinary.readouterr()
        return Ended(status, output, words.decode())

    yield run
    gc.enable()  # which a command that answers once turns off


def test_a_chip_is_changed_and_an_analysis_of_it_asked_again(roofline: Any, database: Database, variables: dict[str, str]) -> None:
    assert roofline("chip", "import", file=FILE).status == 0
    store = AnalysisStore(database)
    kept = history.save(history.prepare(validate(SavedQuestion, QUESTION), catalogue_of(database).current), store).analysis
    same = json.loads(roofline("recompute", kept.id).output)
    assert (same["recomputed"]["id"], same["difference"]["attributed_to"]) == (kept.id, [])

    assert roofline("chip", "import", file=FASTER).status == 0
    ended = roofline("recompute", kept.id)
    assert (ended.status, ended.output, ended.words) == (0, recompute(kept, catalogue_of(database).current), "")
    found = json.loads(ended.output)["difference"]
    assert (found["attributed_to"], found["chip_revision"]) == (["chip_revision"], {"from": "next-one@1", "to": "next-one@2"})
    assert found["times"]["lower_s"]["by_chip_revision"] == 0.5
    if database.path is not None:
        assert plain(on_terminal("recompute", kept.id, variables=variables)).startswith(SHOWN.format(kept.id))


def test_what_is_not_kept_cannot_be_asked_again(roofline: Any) -> None:
    ended = roofline("recompute", f"an_{'a' * 52}", "--json")
    assert (ended.status, ended.output, json.loads(ended.words)["code"]) == (2, b"", "not-found")
