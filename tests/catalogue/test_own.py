"""Entries as they are stored, exported and judged: every shipped one keeps all of its values on the way there and back."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from service.catalogue import Catalogue, load, toml
from service.catalogue.cluster_file import ClusterFile
from service.catalogue.lint import lint_cluster
from service.catalogue.own import CHIP, CLUSTER, Kind, exported, read, stored
from service.catalogue.ranges import outside
from service.catalogue.record import Own


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return load()


def entries(catalogue: Catalogue) -> list[tuple[Kind, Any]]:
    return [*((CHIP, chip) for chip in catalogue.chips), *((CLUSTER, cluster) for cluster in catalogue.clusters)]


def test_what_is_stored_is_read_back_as_it_was(catalogue: Catalogue) -> None:
    for kind, shipped in entries(catalogue):
        sources = {work["key"]: shipped.sources[work["key"]] for work in shipped.works}
        own = kind.record(shipped.file, sources, Own(shipped.ref, shipped.id, "because"))
        back = read(kind, stored(own))
        assert (back.document(), back.digest, back.own, stored(back)) == (own.document(), shipped.digest, own.own, stored(own))


def test_what_is_exported_is_toml_that_says_the_same(catalogue: Catalogue) -> None:
    for _, shipped in entries(catalogue):
        table = exported(shipped)
        assert tomllib.loads(toml.written(table)) == table


def test_toml_holds_any_text() -> None:
    table = {"a": 'quote " backslash \\ ö \U0001f4a5 \x7f \t', "b": [], "c": {"d": {"e": 1e22, "f": True}}, "g": [{"h": 2**53}, {}]}
    assert tomllib.loads(toml.written(table)) == table


def test_every_shipped_value_is_in_range_and_every_shipped_system_plausible(catalogue: Catalogue) -> None:
    for kind, shipped in entries(catalogue):
        assert (list(outside(shipped.file)), kind.lint(shipped.file)) == ([], []), shipped.id


def test_a_system_is_made_up_of_its_axes_over_links_of_this_world(catalogue: Catalogue) -> None:
    shipped = catalogue.cluster("tpu-v5e-pod").file
    fewer = shipped.model_copy(update={"chips": shipped.chips.model_copy(update={"value": 128})})
    assert [found.field for found in lint_cluster(fewer)] == ["chips"]
    axis = shipped.axes[0]
    assert axis.bandwidth_per_direction is not None
    slip = axis.model_copy(update={"bandwidth_per_direction": axis.bandwidth_per_direction.model_copy(update={"unit": "PB/s"})})
    faster: ClusterFile = shipped.model_copy(update={"axes": (slip, *shipped.axes[1:])})
    assert [found.field for found in lint_cluster(faster)] == [f"axes.{axis.name}.bandwidth_per_direction"]
