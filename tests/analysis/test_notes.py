"""Notes: every null is explained, every fallback said."""

from __future__ import annotations

import pytest

from service.catalogue import Catalogue

from .asking import CHIP, MATMUL, Document, result

UNTILED = "layers.tile is null: what has no matrix product has no tiles."
TILED = [
    "layers.tile.on_chip_capacity_bytes is null: the chip states no store of a core, so whether the tile fits was not checked.",
    "layers.tile.losses and its estimate_s are null, as the estimates are.",
]
ONE_CORE = "The estimates of time are null: the chip in place has one core, and kernels were measured on chips of many."
NO_APPROXIMATION = "intensity_approx_flops_per_byte and intensity_ratio are null: the literature has no approximation for this op."


@pytest.mark.parametrize(
    ("op", "notes"),
    [
        (MATMUL, []),
        (
            {**MATMUL, "k": 16},
            ["The threshold in m is null: no value of it was found at which compute and hbm change places."],
        ),
        (
            {**MATMUL, "k": [16, 8192]},
            ["The threshold in m is null in the rows where it is null: no value of it was found at which compute and hbm change places."],
        ),
        (
            {**MATMUL, "batch": 2},
            ["The threshold in batch is null: every pair brings its own matrices, so more pairs never raise the intensity."],
        ),
        (
            {"kind": "elementwise", "n": 8, "dtype": "fp32"},
            ["The threshold in n is null: no value of it was found at which compute and hbm change places.", NO_APPROXIMATION],
        ),
        (
            {"kind": "elementwise", "n": 8, "flops_per_element": 10_000, "dtype": "bf16"},
            [
                "The vector unit has no bf16 peak of its own; the op runs there in fp32.",
                "The threshold in n is null: no value of it was found at which compute and hbm change places.",
                NO_APPROXIMATION,
            ],
        ),
        (
            {"kind": "einsum", "equation": "i->i", "dims": {"i": 3}, "dtype": "bf16"},
            [
                "The op does no arithmetic, so there is no peak and no critical intensity: it takes the time of its bytes.",
                "The threshold in i is null: no value of it was found at which compute and hbm change places.",
                NO_APPROXIMATION,
            ],
        ),
    ],
)
def test_notes_of_an_answer(catalogue: Catalogue, op: Document, notes: list[str]) -> None:
    assert result(catalogue, op)["notes"] == [*notes, *(TILED if op["kind"] == "matmul" else [UNTILED]), ONE_CORE]


CONVOLUTION = {
    "kind": "conv2d", "batch": 1, "height": 8, "width": 8, "in_channels": 4, "out_channels": 4,
    "kernel_height": 3, "kernel_width": 3, "dtype": "bf16",
}  # fmt: skip
CHAIN = {"kind": "einsum", "equation": "bd,df,fk->bk", "dims": {"b": 4, "d": 8, "f": 8, "k": 8}, "dtype": "bf16"}


@pytest.mark.parametrize("op", [{"kind": "elementwise", "n": 8, "dtype": "fp32"}, CONVOLUTION, CHAIN], ids=lambda op: op["kind"])
def test_a_given_tile_is_said_to_be_unused_where_there_are_none(catalogue: Catalogue, op: Document) -> None:
    unused = "options.tile is not used: the op is not cut into tiles here."
    auto, given = (result(catalogue, op, tile=tile)["notes"] for tile in ("auto", {"m": 128, "n": 128, "k": 64}))
    assert [each for each in given if each not in auto] == [unused]
    assert unused not in auto


def test_fewer_sequences_than_replicas_are_said_to_need_sharding(catalogue: Catalogue) -> None:
    op = {"kind": "matmul", "sequences": 4, "sequence_length": 4096, "replicas": 8, "k": 8192, "n": 8192, "dtype": "bf16"}
    assert result(catalogue, op)["notes"][0] == "needs-sequence-sharding"
    assert result(catalogue, op)["tokens_per_replica"] == 2048
    assert "needs-sequence-sharding" not in result(catalogue, {**op, "sequences": 8})["notes"]


def test_every_null_of_a_result_is_explained(catalogue: Catalogue) -> None:
    """The members that are null in an answer without a peak, and a note that names each."""
    found = result(catalogue, {"kind": "dot", "n": 8, "dtype": "bf16"}, chip={"hbm": CHIP["hbm"]})
    notes = " ".join(found["notes"])
    for name in nulls(found):
        path = name.split(".")
        assert any(part in notes for part in (name, ".".join(path[:2]), "estimates")), name


def nulls(document: Document, path: str = "") -> list[str]:
    """The paths of all members that are null, one per member."""
    found: list[str] = []
    for name, value in document.items():
        where = f"{path}.{name}".lstrip(".")
        if value is None:
            found.append(where)
        elif isinstance(value, dict):
            found += nulls(value, where)
    return found
