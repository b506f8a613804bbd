"""Numbers of "How To Scale Your Model", chapters on transformers, inference and GPUs; in full, met to 1e-6."""

from __future__ import annotations

from typing import Any

import pytest

from .asking import ask, bounds, exact, intensity, threshold
from .chips import B200, EVERYTHING, H100, V5E, machine

REL = 1e-6


@pytest.mark.parametrize(
    ("equation", "sizes", "flops"),
    [
        ("ghijkl,ghmnkl->ghijmn", {"g": 2, "h": 3, "i": 5, "j": 7, "k": 11, "l": 13, "m": 17, "n": 19}, 19_399_380),
        ("ijkl,ijmno->klmno", {"i": 2, "j": 3, "k": 5, "l": 7, "m": 11, "n": 13, "o": 17}, 1_021_020),
    ],
)
def test_operations_of_an_einsum(equation: str, sizes: dict[str, int], flops: int) -> None:
    """Ch. 4, and its problem 3: twice the product of all distinct dims, batched and summed ones once."""
    assert ask("einsum", EVERYTHING, equation=equation, dims=sizes, dtype="bf16").flops.item() == flops


@pytest.mark.parametrize(
    ("formats", "batch"),
    [
        ({"dtype": "bf16"}, 240.2439024390244),
        ({"dtype": "bf16", "b_dtype": "int8"}, 120.1219512195122),
        ({"dtype": "int8"}, 240.2439024390244),
        ({"dtype": "bf16", "b_dtype": "int4"}, 60.0609756097561),
    ],
)
def test_critical_batch_of_decoding(formats: dict[str, Any], batch: float) -> None:
    """Ch. 7: 240, 120, 240 and 60 sequences on a v5e, C·w / 2W."""
    found = threshold(ask("matmul", V5E, m=1, k=16_384, n=16_384, **formats), "m").approximate
    assert found is not None
    assert found.item() == pytest.approx(batch, rel=REL)


def test_reading_the_kv_cache_of_llama_2_13b() -> None:
    """Ch. 7: 2·2·40·128·40 bytes a token, 6.7 GB for 8192 of them, read once."""
    found = ask("elementwise", V5E, n=2 * 40 * 128 * 40 * 8192, inputs=1, dtype="bf16")
    assert found.bytes["in"].item() == 6_710_886_400


def test_critical_intensities_of_gpus() -> None:
    """Ch. 12, problem 1: H100 295 and in fp8 590; B200 281 and 562 with 2.25 and 4.5 PFLOP/s."""
    b200 = machine({"fp16": 2.25e15, "fp8": 4.5e15}, 8e12)
    asked = [(H100, "fp16", 295.5223880597015), (H100, "fp8", 591.044776119403), (b200, "fp16", 281.25), (b200, "fp8", 562.5)]
    for chip, dtype, expected in asked:
        ridge = ask("matmul", chip, m=1, k=1, n=1, dtype=dtype).critical
        assert ridge is not None
        assert ridge.item() == pytest.approx(expected, rel=REL)


def test_a_small_and_a_large_product_on_b200() -> None:
    """Ch. 12, problem 1: fp16[64, 4096] @ [4096, 8192] takes 8.6 µs and is bound by memory; with 512 rows 15 µs, by compute.

    The turn is at 313.5 rows when all three operands count, not at 281.
    """
    shape: dict[str, Any] = {"k": 4096, "n": 8192, "dtype": "fp16"}
    found = ask("matmul", B200, m=[64, 512], **shape)
    assert found.bytes_total.tolist() == [68_681_728, 79_691_776]
    assert found.lower.tolist() == pytest.approx([8.585216e-06, 1.493901668173913e-05], rel=REL)
    assert bounds(found) == ["hbm", "compute"]
    table = machine({"fp16": 2.25e15}, 8e12)
    assert exact(ask("matmul", table, m=64, **shape), "m") == pytest.approx(313.54, rel=1e-4)
    assert bounds(ask("matmul", table, m=[313, 314], **shape)) == ["hbm", "compute"]


def test_a_vector_add_on_h100() -> None:
    """Ch. 12, problem 1: one add per 12 bytes against 10 per byte; 3.85 ms for 2³⁰ elements, 0.235 µs for 65,536."""
    found = ask("elementwise", H100, n=[65_536, 2**30], dtype="fp32")
    assert intensity(found).tolist() == pytest.approx([1 / 12, 1 / 12], rel=REL)
    assert found.lower.tolist() == pytest.approx([2.3475582089552238e-07, 0.0038462393695522386], rel=REL)


def test_small_work_takes_nanoseconds_not_microseconds() -> None:
    """65 kFLOP at 838 TFLOP/s are 78 ps. A tool once printed 0.08 µs for it, a factor of a thousand off."""
    chip = machine({"bf16": 838e12}, 1e30)
    assert ask("matmul", chip, m=32, k=32, n=32, dtype="bf16").times.math.item() == pytest.approx(7.82e-11, rel=1e-3)
