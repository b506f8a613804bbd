"""Convolutions against loops that slide the kernel over the padded input."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.errors import InvalidInput

from ..asking import ask, bounds, exact, term
from ..chips import EVERYTHING, H100
from .counting import moved

AXES = {
    "conv1d": {"length": "kernel"},
    "conv2d": {"height": "kernel_height", "width": "kernel_width"},
    "conv3d": {"depth": "kernel_depth", "height": "kernel_height", "width": "kernel_width"},
}
KINDS = pytest.mark.parametrize("kind", sorted(AXES))


def windows(size: int, kernel: int, stride: int, padding: int, dilation: int) -> list[list[int]]:
    """Places that each window sees, in the padded input: windows start every `stride` places and end within it."""
    reach = dilation * (kernel - 1)
    starts = range(0, size + 2 * padding, stride)
    return [[start + dilation * tap for tap in range(kernel)] for start in starts if start + reach < size + 2 * padding]


@st.composite
def layers(draw: st.DrawFn, kind: str) -> dict[str, int]:
    small = st.integers(1, 3)
    found = {name: draw(small) for name in ("batch", "stride", "dilation", "groups")} | {"padding": draw(st.integers(0, 2))}
    found |= {name: found["groups"] * draw(st.integers(1, 2)) for name in ("in_channels", "out_channels")}
    for size, kernel in AXES[kind].items():
        found[size] = draw(st.integers(1, 6))
        room = (found[size] + 2 * found["padding"] - 1) // found["dilation"] + 1
        found[kernel] = draw(st.integers(1, min(3, room)))
    return found


@KINDS
@settings(max_examples=30)
@given(data=st.data())
def test_operations_and_elements_are_those_of_the_loops(kind: str, data: st.DataObject) -> None:
    layer = data.draw(layers(kind))
    shared = (layer["stride"], layer["padding"], layer["dilation"])
    places = list(itertools.product(*(windows(layer[size], layer[kernel], *shared) for size, kernel in AXES[kind].items())))
    inner = layer["in_channels"] // layer["groups"]
    operations, kernels, written = 0, set(), set()
    for image, out, (at, place) in itertools.product(range(layer["batch"]), range(layer["out_channels"]), enumerate(places)):
        written.add((image, out, at))
        taps = [range(len(window)) for window in place]
        for tap in itertools.product(range(inner), *taps):
            operations += 2  # one multiply, one add
            kernels.add((out, *tap))
    image_size = math.prod(layer[size] for size in AXES[kind])
    found = ask(kind, EVERYTHING, **layer, dtype="int8")
    assert found.flops.item() == operations
    assert found.vector_flops.item() == 0
    assert moved(found) == {"a": layer["batch"] * layer["in_channels"] * image_size, "b": len(kernels), "out": len(written)}


def test_a_kernel_of_one_is_a_matrix_product() -> None:
    """A 1 x 1 convolution multiplies every pixel's channels by one matrix; the same threshold in rows, here images of 56 x 56."""
    layer = ask(
        "conv2d", H100, batch=32, in_channels=256, out_channels=64, height=56, width=56, kernel_height=1, kernel_width=1, dtype="bf16"
    )
    product = ask("matmul", H100, m=32 * 56 * 56, k=256, n=64, dtype="bf16")
    assert layer.flops == product.flops
    assert moved(layer) == moved(product)
    assert bounds(layer) == bounds(product)


def test_the_first_layer_of_resnet_50() -> None:
    """He et al. 2015, table 1: 7 x 7, 64, stride 2 on 224 x 224 gives 112 x 112; 118 million multiply-adds."""
    found = ask(
        "conv2d",
        H100,
        in_channels=3,
        out_channels=64,
        height=224,
        width=224,
        kernel_height=7,
        kernel_width=7,
        stride=2,
        padding=3,
        dtype="fp16",
    )
    assert found.flops.item() == 2 * 118_013_952
    assert moved(found) == {"a": 2 * 3 * 224**2, "b": 2 * 64 * 3 * 49, "out": 2 * 64 * 112**2}


def test_a_depthwise_convolution_shares_nothing_and_is_bound_by_memory() -> None:
    """Each channel meets one kernel of nine taps: 18 operations for each element written."""
    shape: dict[str, Any] = {"batch": 32, "in_channels": 512, "out_channels": 512, "height": 56, "width": 56, "padding": 1, "dtype": "bf16"}
    found = ask("conv2d", H100, **shape, kernel_height=3, kernel_width=3, groups=512)
    assert found.flops.item() == 18 * 32 * 512 * 56**2
    assert bounds(found) == ["hbm"]
    assert math.isnan(exact(found, "batch"))
    assert bounds(ask("conv2d", H100, **shape, kernel_height=3, kernel_width=3)) == ["compute"]


def test_scales_run_along_what_is_summed() -> None:
    """mxfp8, 32 elements per scale: channels of a pixel, and channels with taps of a kernel, not the three taps of a row."""
    found = ask("conv1d", EVERYTHING, in_channels=64, out_channels=96, length=10, kernel=3, padding=1, dtype="mxfp8")
    assert moved(found) == {"a": 640 + 10 * 2, "b": 96 * (192 + 6), "out": 960 + 10 * 3}


@pytest.mark.parametrize(
    ("members", "pointer", "code"),
    [
        ({"groups": 3, "in_channels": 4, "out_channels": 6}, "/in_channels", "not-divisible"),
        ({"groups": 3, "in_channels": 6, "out_channels": 4}, "/out_channels", "not-divisible"),
        ({"groups": [1, 4], "in_channels": 6, "out_channels": 4}, "/in_channels", "not-divisible"),
        ({"in_channels": 4, "out_channels": 4, "length": 4}, "/kernel", "out-of-range"),
        ({"in_channels": 4, "out_channels": 4, "dilation": 3}, "/kernel", "out-of-range"),
    ],
)
def test_what_does_not_fit_is_refused(members: dict[str, Any], pointer: str, code: str) -> None:
    with pytest.raises(InvalidInput) as error:
        term("conv1d", **{"length": 12, "kernel": 5, "dtype": "bf16", **members})
    assert [(fault.pointer, fault.code) for fault in error.value.faults] == [(pointer, code)]


def test_padding_makes_room_for_a_kernel() -> None:
    found = ask("conv1d", EVERYTHING, in_channels=1, out_channels=1, length=4, kernel=5, padding=[1, 2, 3], dtype="int8")
    assert found.bytes["out"].tolist() == [2, 4, 6]
