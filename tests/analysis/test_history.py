"""Saved analyses, in a real database: the question with its answer, byte for byte."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

from service.analysis import history
from service.analysis.moments import now_us
from service.catalogue import Catalogue
from service.errors import InvalidInput, NotFound
from service.schemas.analyses import SavedQuestion
from service.schemas.reading import validate
from service.storage import AnalysisStore, migrate, open_database

from .asking import CHIP, MATMUL, Document, ask

MOMENT = 1_700_000_000_123_456


@pytest.fixture
def store(tmp_path: Path) -> Iterator[AnalysisStore]:
    database = open_database(None, tmp_path)
    migrate.ensure(database)
    yield AnalysisStore(database)
    database.close()


def question(**changes: object) -> SavedQuestion:
    return validate(SavedQuestion, {"op": MATMUL, "target": {"chip": "nvidia-h100-sxm"}, **changes})


def kept(store: AnalysisStore, catalogue: Catalogue, at: int = MOMENT, **changes: object) -> history.Kept:
    return history.save(history.prepare(question(**changes), catalogue, clock=lambda: at), store)


def test_a_saved_analysis_is_read_back_byte_for_byte(store: AnalysisStore, catalogue: Catalogue) -> None:
    saved = kept(store, catalogue, labels={"team": "red"}, note="first")
    assert saved.is_new
    assert history.envelope(history.read(saved.analysis.id, store)) == saved.text
    found: Document = orjson.loads(saved.text)
    answer = ask(catalogue, op=MATMUL, chip="nvidia-h100-sxm")
    assert found == {
        "id": saved.analysis.id,
        "created_at": "2023-11-14T22:13:20.123456Z",
        "labels": {"team": "red"},
        "note": "first",
        "question": {name: answer[name] for name in ("op", "target", "options")},
        "answer": answer,
        "result": answer["result"],
    }


def test_the_same_question_again_is_the_first_analysis_with_the_labels_it_lacked(store: AnalysisStore, catalogue: Catalogue) -> None:
    first = kept(store, catalogue, labels={"team": "red"}, note="first")
    again = kept(store, catalogue, at=MOMENT + 1, labels={"team": "blue", "run": "2"}, note="second")
    assert (first.is_new, again.is_new) == (True, False)
    assert again.analysis.id == first.analysis.id
    assert (again.analysis.created_us, again.analysis.note) == (MOMENT, "first")
    assert dict(again.analysis.labels) == {"team": "red", "run": "2"}


def test_a_summary_shows_what_lists_are_searched_by(store: AnalysisStore, catalogue: Catalogue) -> None:
    chip = catalogue.chip("nvidia-h100-sxm")
    found = history.summary(kept(store, catalogue).analysis)
    result = ask(catalogue, op=MATMUL, chip=chip.ref)["result"]
    assert (found["kind"], found["chip"], found["dtype"], found["bound"]) == ("matmul", chip.ref, "bf16", result["bound"])
    assert (found["lower_s"], found["estimate_s"]) == (result["time"]["lower_s"], result["time"]["estimate_s"])


def test_an_op_list_is_kept_with_its_totals_and_what_all_its_ops_share(store: AnalysisStore, catalogue: Catalogue) -> None:
    ops = [{**MATMUL, "count": 3}, {"kind": "dot", "n": 8, "dtype": "bf16"}]
    saved = kept(store, catalogue, op=None, ops=ops, target={"chip": CHIP}).analysis
    totals = ask(catalogue, ops=ops)["result"]["totals"]
    assert (saved.kind, saved.chip_id, saved.dtype, saved.bound) == ("ops", None, None, "hbm")
    assert saved.lower_s == totals["time"]["lower_s"]


def test_columns_are_for_batches(catalogue: Catalogue) -> None:
    for op, pointer in (
        ({**MATMUL, "m": [1, 2]}, "/op/m"),
        ({"kind": "einsum", "equation": "i,i->", "dims": {"i": [3]}, "dtype": "bf16"}, "/op/dims/i"),
    ):
        with pytest.raises(InvalidInput) as refused:
            history.prepare(question(op=op), catalogue)
        assert [(fault.pointer, fault.code) for fault in refused.value.faults] == [(pointer, "use-batches")]


def test_an_analysis_that_is_not_kept_is_not_found(store: AnalysisStore) -> None:
    with pytest.raises(NotFound):
        history.read("an_unknown", store)


def test_text_of_people_comes_back_as_it_was(store: AnalysisStore, catalogue: Catalogue) -> None:
    note = "'; DROP TABLE analyses; -- <script>alert(1)</script> 名前 🙂"
    saved = kept(store, catalogue, note=note, labels={"who": "=1+1"})
    found = orjson.loads(history.envelope(history.read(saved.analysis.id, store)))
    assert (found["note"], found["labels"]) == (note, {"who": "=1+1"})


def test_the_clock_counts_microseconds() -> None:
    assert now_us() > MOMENT
