"""Numbers of "How To Scale Your Model" (Austin et al., jax-ml.github.io/scaling-book), chapters on rooflines and TPUs.

The book rounds to two or three digits; the values here are the same calculations in full, met to 1e-6. Where editions differ,
the bandwidth of the edition is given with the case. X[B, D] @ Y[D, F] is m = B, k = D, n = F.
"""

from __future__ import annotations

from typing import Any

import pytest

from service.engine import roofline
from service.engine.roofline import Times

from .asking import ask, bounds, exact, intensity, lever, regimes, threshold
from .chips import V5E, V5E_TABLE, machine

REL = 1e-6
SQUARE: dict[str, Any] = {"m": 64, "k": 16_384, "n": 16_384}


def approximate(chip: Any, **formats: Any) -> float:
    """The textbook's critical batch of a product whose weights dominate."""
    found = threshold(ask("matmul", chip, **SQUARE, **formats), "m").approximate
    assert found is not None
    value: float = found.item()
    return value


def critical(chip: Any, **formats: Any) -> float:
    ridge = ask("matmul", chip, **SQUARE, **formats).critical
    assert ridge is not None
    value: float = ridge.item()
    return value


def test_critical_intensity_of_v5e() -> None:
    """Ch. 1: 1.97e14 / 8.2e11, "about 240"; the table of ch. 2 gives 8.1e11 and so 243."""
    assert critical(V5E, dtype="bf16") == pytest.approx(240.2439024390244, rel=REL)
    assert critical(V5E_TABLE, dtype="bf16") == pytest.approx(243.20987654320987, rel=REL)


def test_critical_batch_of_a_bf16_product() -> None:
    """Ch. 1: B > 240 tokens. Exactly 247.5 with D = F = 16,384, since X and Z are moved as well."""
    assert approximate(V5E, dtype="bf16") == pytest.approx(240.2439024390244, rel=REL)
    assert exact(ask("matmul", V5E, **SQUARE, dtype="bf16"), "m") == pytest.approx(247.50231579463963, rel=REL)


def test_exact_and_approximate_intensity() -> None:
    """Ch. 1: BDF/(BD + DF + BF) against B; at B = 240, D = F = 8192 it is 226.7 and not 240."""
    found = ask("matmul", V5E, m=240, k=8192, n=8192, dtype="bf16")
    assert intensity(found).item() == pytest.approx(226.71586715867159, rel=REL)
    assert found.approximation is not None
    assert found.approximation.item() == 240
    assert found.approximation.item() / intensity(found).item() == pytest.approx(1.05859375, rel=REL)
    assert (found.flops.item(), bounds(found), regimes(found)) == (32_212_254_720, ["hbm"], ["communication-bound"])


@pytest.mark.parametrize(
    ("chip", "critical_intensity", "batch"),
    [(V5E_TABLE, 486.41975308641975, 243.20987654320987), (V5E, 480.4878048780488, 240.2439024390244)],
)
def test_int8_on_int8(chip: Any, critical_intensity: float, batch: float) -> None:
    """Ch. 1, problem 1: twice the peak, half the bytes, so 486 OPs per byte and B > 243; 480 and 240 in the later edition."""
    assert critical(chip, dtype="int8") == pytest.approx(critical_intensity, rel=REL)
    assert approximate(chip, dtype="int8") == pytest.approx(batch, rel=REL)


def test_int8_weights_with_bf16_activations() -> None:
    """Ch. 1, problem 2: the peak stays that of bf16, the weights halve, B > 120."""
    assert approximate(V5E, dtype="bf16", b_dtype="int8") == pytest.approx(120.1219512195122, rel=REL)


def test_bytes_of_int8_weights() -> None:
    """Ch. 1, problem 2, at B = 64, D = F = 8192: 2BD + DF + 2BF instead of 2BD + 2DF + 2BF, a gain of 1.97 and not 2."""
    shape: dict[str, Any] = {"m": 64, "k": 8192, "n": 8192}
    plain, mixed = ask("matmul", V5E, **shape, dtype="bf16"), ask("matmul", V5E, **shape, dtype="bf16", b_dtype="int8")
    assert (plain.bytes_total.item(), mixed.bytes_total.item()) == (136_314_880, 69_206_016)
    assert intensity(plain).item() == pytest.approx(63.01538461538462, rel=REL)
    assert intensity(mixed).item() == pytest.approx(124.12121212121212, rel=REL)
    assert plain.flops.item() == mixed.flops.item()
    assert lever(plain, "b_bytes")[2] == pytest.approx(1.9696969696969697, rel=REL)


def test_the_two_effects_of_int8_cancel_in_the_threshold() -> None:
    assert approximate(V5E, dtype="int8") == pytest.approx(approximate(V5E, dtype="bf16"), rel=1e-12)


def test_a_matrix_of_weights_for_every_row() -> None:
    """Ch. 1, problem 4: int8[B, D]·int8[B, D, F] has 2BDF / (BD + BDF + BF), about 2 whatever B."""
    found = ask("matmul", V5E, batch=128, m=1, k=4096, n=4096, dtype="int8")
    assert (found.flops.item(), found.bytes_total.item()) == (4_294_967_296, 2_148_532_224)
    assert intensity(found).item() == pytest.approx(1.9990239141044412, rel=REL)
    assert bounds(found) == ["hbm"]


@pytest.mark.parametrize(("peak", "batch"), [(1e15, 298.5074626865672), (1.979e15 / 2, 295.3731343283582)])
def test_h100_from_a_sheet_that_quotes_sparse_peaks(peak: float, batch: float) -> None:
    """Ch. 1, problem 5: 1979 TFLOP/s is with structured sparsity; half of it is 989.5, which the book rounds to 1e15."""
    assert approximate(machine({"bf16": peak}, 3.35e12), dtype="bf16") == pytest.approx(batch, rel=REL)


@pytest.mark.parametrize(
    ("bandwidth", "attainable"),
    [(8.2e11, [4.1e13, 1.64e14, 1.97e14]), (1.64e12, [8.2e13, 1.97e14, 1.97e14])],
)
def test_the_regions_of_the_chart(bandwidth: float, attainable: list[float]) -> None:
    """Ch. 1, the roofline plot with two bandwidths: min(C, I·W) at intensities of 50, 200 and 500 FLOP/B.

    The intensities are made with an op of one output and no input of note: f operations for each byte that is moved.
    """
    chip = machine(hbm=bandwidth, vector={"fp32": 1.97e14})
    found = ask("elementwise", chip, n=10**6, inputs=1, outputs=1, flops_per_element=[100, 400, 1000], dtype="int8")
    assert intensity(found).tolist() == [50, 200, 500]
    assert (found.flops / found.lower).tolist() == pytest.approx(attainable, rel=REL)


def test_the_peak_of_a_systolic_array() -> None:
    """Ch. 2: one 128 x 128 array takes 8 cycles of 1.5 GHz for [8, 128] @ [128, 128]; four of them make "about 2e14"."""
    flops = ask("matmul", V5E, m=8, k=128, n=128, dtype="bf16").flops.item()
    assert flops / 8 * 1.5e9 == 49_152_000_000_000
    assert 4 * flops / 8 * 1.5e9 == 196_608_000_000_000


def test_weights_that_come_over_pcie() -> None:
    """Ch. 2, problem 3: 9.2e14 over 1.5e10 B/s, "B > 61,000" tokens."""
    assert approximate(machine({"bf16": 9.2e14}, 1.5e10), dtype="bf16") == pytest.approx(61_333.333333333336, rel=REL)


def test_reading_and_multiplying_a_matrix_of_16_gib() -> None:
    """Ch. 2, problem 6: int8[2¹⁷, 2¹⁷] by bf16[8, 2¹⁷] on a v5e. The book takes 16e9 bytes for 2³⁴; in full 21.2 ms and 1.395 ms."""
    found = ask("matmul", V5E_TABLE, m=8, k=131_072, n=131_072, dtype="bf16", b_dtype="int8")
    assert found.bytes["b"].item() == 17_179_869_184
    assert found.bytes["b"].item() / 8.1e11 == pytest.approx(0.02120971504197531, rel=REL)
    assert found.times.math.item() == pytest.approx(0.0013953193245888325, rel=REL)


def test_at_equal_times_twice_is_the_most_that_overlap_can_hide() -> None:
    """Ch. 1: 3 ms of each, between 3 ms and 6 ms."""
    times = Times(*(ask("elementwise", machine(hbm=1e3), n=3, inputs=1, dtype="int8").times.hbm for _ in range(2)))
    assert roofline.upper(times).item() == 2 * roofline.lower(times).item()
