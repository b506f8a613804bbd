"""A published revision keeps its numbers."""

from __future__ import annotations

from importlib.resources import files

from service.catalogue import Catalogue


def test_numbers_change_only_with_a_new_revision(catalogue: Catalogue) -> None:
    """`digests.txt` holds every revision that was published. A correction raises the revision and adds its line."""
    published = (files("service.catalogue") / "digests.txt").read_text(encoding="utf-8").splitlines()
    assert sorted(catalogue.lines) == published
