"""The guides, followed to the letter in a copy of the checkout."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from service.catalogue import load
from service.catalogue.lint import lint

from .extended import CHIP_FILE, Checkout, extended
from .pages import ADDING_A_CHIP, ADDING_AN_OP, GUIDES, ROOT, block

DIGESTS = "service/catalogue/digests.txt"


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    return extended(tmp_path_factory.mktemp("extended"))


@pytest.mark.parametrize("path", GUIDES, ids=lambda path: path.name)
def test_what_a_guide_asks_for_is_answered_as_it_shows(checkout: Checkout, path: Path) -> None:
    name = str(path.relative_to(ROOT))
    checkout.type(f".venv/bin/python -m tests.docs.rewrite {name}")
    assert checkout.read(name) == path.read_text(encoding="utf-8")


def test_the_new_op_stands_in_the_contract_beside_the_others(checkout: Checkout) -> None:
    checkout.type(block(ADDING_AN_OP, "contract"))
    schemas = yaml.safe_load(checkout.read("openapi.yaml"))["components"]["schemas"]
    assert schemas["AxpyOp"]["description"] == "Scaled addition: out[i] = alpha·x[i] + y[i], i < n."
    assert "MatmulOp" in schemas


def test_the_laws_hold_for_the_new_op(checkout: Checkout) -> None:
    assert "axpy" in checkout.type(".venv/bin/python -m pytest -p no:cacheprovider -v tests/engine/test_laws.py -k axpy")


def test_the_new_chip_is_plausible_and_adds_one_digest(checkout: Checkout) -> None:
    catalogue = load(checkout.folder / "service/catalogue")
    assert lint(catalogue.chip("example-one").file) == []
    before = (ROOT / DIGESTS).read_text(encoding="utf-8").splitlines()
    (line,) = set(checkout.read(DIGESTS).splitlines()) - set(before)
    assert line.startswith("chip example-one@1 ")


def test_the_checks_of_the_guide_pass(checkout: Checkout) -> None:
    checkout.type(block(ADDING_A_CHIP, "tests").replace("-m pytest", "-m pytest -q -p no:cacheprovider"))


def test_a_correction_leaves_the_first_revision_as_it_was(tmp_path: Path) -> None:
    checkout = extended(tmp_path)
    first = checkout.read(CHIP_FILE)
    checkout.write(CHIP_FILE.replace(".toml", "@1.toml"), first)
    old_head = 'revision       = 1\nreason         = "first entry"\n'
    assert old_head in first
    checkout.write(CHIP_FILE, first.replace(old_head, block(ADDING_A_CHIP, "correction")).replace("2.0", "1.9"))
    published = checkout.read(DIGESTS).splitlines()
    checkout.type(block(ADDING_A_CHIP, "digests"))
    (line,) = set(checkout.read(DIGESTS).splitlines()) - set(published)
    assert line.startswith("chip example-one@2 ")
    catalogue = load(checkout.folder / "service/catalogue")
    assert catalogue.chip("example-one").revision == 2
    assert catalogue.chip("example-one@1").numbers()["hbm"]["bandwidth_bytes_per_s"] == 2_000_000_000_000
