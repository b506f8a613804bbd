"""Whole answers, member by member, against numbers that are written out here."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from service.analysis.evaluate import DOCUMENT_VERSION
from service.catalogue import Catalogue
from service.engine import ENGINE_VERSION

from .asking import CHIP, MATMUL, Document, ask

UNCHECKED = "layers.tile.on_chip_capacity_bytes is null: the chip states no store of a core, so whether the tile fits was not checked."
UNEXPLAINED = "layers.tile.losses and its estimate_s are null, as the estimates are."
ONE_CORE = "The estimates of time are null: the chip in place has one core, and kernels were measured on chips of many."

NO_NETWORK: Document = {
    "time_s": 0.0,
    "collectives": [],
    "alternatives": [],
    "intensity_flops_per_byte": None,
    "critical_intensity_flops_per_byte": None,
    "bound": None,
}


def sha256_of(document: Any) -> str:
    """The digest of a document: its members sorted, no blanks."""
    return hashlib.sha256(json.dumps(document, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def test_the_answer_to_a_matmul(catalogue: Catalogue) -> None:
    """2·512·8192·28,672 operations over 507,510,784 bytes, against a ridge of 500: bound by memory, until m = 543."""
    flops, a, b, out = 240_518_168_576, 8_388_608, 469_762_048, 29_360_128
    total = 507_510_784
    t_math, t_hbm = flops / 1e15, total / 2e12
    tiled = a * (28_672 // 128) + b * (512 // 256) + out  # one core, no cache: each tile reads its own panels
    after_b = (a + b / 2 + out) / 2e12
    op = {**MATMUL, "batch": 1, "a_dtype": "bf16", "b_dtype": "bf16", "out_dtype": "bf16", "compute_dtype": "bf16"}
    options = {
        "overlap": 0.25,
        "collectives": "exact",
        "plan": "rules",
        "tile": "auto",
        "launch": "graph",
        "cache": "cold",
        "explain": False,
    }

    def lever(change: str, factor: float | None, after: float, bound: str, speedup: float) -> Document:
        return {
            "change": change,
            "factor": factor,
            "lower_s_after": after,
            "bound_after": bound,
            "speedup": speedup,
            "helps": speedup > 1,
        }

    expected: Document = {
        "op": op,
        "target": {"chip": {**CHIP, "cores": 1}},
        "options": options,
        "result": {
            "flops": flops,
            "total_flops": flops,
            "devices": 1,
            "vector_flops": 0,
            "bytes": {"a": a, "b": b, "out": out, "total": total},
            "traffic": "ideal",
            "intensity_flops_per_byte": flops / total,
            "intensity_approx_flops_per_byte": 512.0,
            "intensity_ratio": 512.0 / (flops / total),
            "layers": {
                "compute": {"time_s": t_math, "unit": "matrix", "dtype": "bf16", "peak_flops_per_s": 1e15},
                "hbm": {
                    "time_s": t_hbm,
                    "bytes": total,
                    "bandwidth_bytes_per_s": 2e12,
                    "intensity_flops_per_byte": flops / total,
                    "critical_intensity_flops_per_byte": 500.0,
                    "bound": "hbm",
                },
                "tile": {
                    "tile": {"m": 256, "n": 128, "k": 64},
                    "split_k": 1,
                    "tiles": 448,
                    "waves": 448,
                    "padding_efficiency": 1.0,
                    "wave_efficiency": 1.0,
                    "on_chip_bytes": 2 * 64 * (256 + 128) * 2 + 4 * 256 * 128,
                    "on_chip_capacity_bytes": None,
                    "hbm_bytes": tiled,
                    "intensity_flops_per_byte": flops / tiled,
                    "compute_time_s": t_math,
                    "hbm_time_s": tiled / 2e12,
                    "bound": "hbm",
                    "roofline_s": t_hbm,
                    "estimate_s": None,
                    "losses": dict.fromkeys(
                        ("launch_s", "waves_s", "padding_s", "rereads_s", "bandwidth_s", "rate_s", "quantization_s"),
                    ),
                },
                "network": NO_NETWORK,
            },
            "time": {
                "lower_s": t_hbm,
                "upper_s": t_math + t_hbm,
                "overlapped_s": pytest.approx(0.25 * t_hbm + 0.75 * (t_math + t_hbm), rel=1e-15),
                "estimate_s": None,
                "estimate_p10_s": None,
                "estimate_p90_s": None,
                "estimate_basis": None,
            },
            "bound": "hbm",
            "regime": "communication-bound",
            "attainable_flops_per_s": flops / t_hbm,
            "utilization": t_math / t_hbm,
            "thresholds": [
                {
                    "path": "hbm",
                    "variable": "m",
                    "exact": pytest.approx(500 / (1 - 500 * (1 / 8192 + 1 / 28_672)), rel=1e-12),
                    "approximate": 500.0,
                }
            ],
            "levers": [
                lever("peak_flops_per_s", 2.0, t_hbm, "hbm", 1.0),
                lever("hbm_bandwidth_bytes_per_s", 2.0, t_math, "compute", t_hbm / t_math),
                lever("b_bytes", 0.5, max(after_b, t_math), "compute", t_hbm / t_math),
                lever("m", 2.0, 2 * t_math, "compute", 2 * (t_hbm / (2 * t_math))),
                lever("tile", None, t_hbm, "hbm", 1.0),
            ],
            "assumed": [
                {"pointer": "/op/batch", "value": 1},
                {"pointer": "/op/a_dtype", "value": "bf16"},
                {"pointer": "/op/b_dtype", "value": "bf16"},
                {"pointer": "/op/out_dtype", "value": "bf16"},
                {"pointer": "/op/compute_dtype", "value": "bf16"},
                {"pointer": "/target/chip/cores", "value": 1},
                {"pointer": "/options/collectives", "value": "exact"},
                {"pointer": "/options/plan", "value": "rules"},
                {"pointer": "/options/tile", "value": "auto"},
                {"pointer": "/options/launch", "value": "graph"},
                {"pointer": "/options/cache", "value": "cold"},
                {"pointer": "/options/explain", "value": False},
            ],
            "notes": [UNCHECKED, UNEXPLAINED, ONE_CORE],
        },
        "engine_version": ENGINE_VERSION,
        "document_version": DOCUMENT_VERSION,
        "catalogue_digest": catalogue.digest,
        "target_digest": sha256_of(
            {
                "chip": {
                    "peak_flops_per_s": {"bf16": 10**15, "int8": 2 * 10**15},
                    "vector_peak_flops_per_s": {"fp32": 5 * 10**13},
                    "hbm": {"bandwidth_bytes_per_s": 2 * 10**12},
                    "cores": 1,
                },
                "die": {"accumulator_bytes": 0, "cores": 1},
                "calibrations": catalogue.calibrations_of(None).refs,
            }
        ),
        "input_digest": sha256_of({"op": op, "options": options}),
    }
    assert ask(catalogue, op=MATMUL, options={"overlap": 0.25}) == expected


def test_members_stand_in_the_order_of_the_contract(catalogue: Catalogue) -> None:
    found = ask(catalogue, op={**MATMUL, "batch": 2}, options={"explain": True})
    assert list(found) == [
        "op",
        "target",
        "options",
        "result",
        "engine_version",
        "document_version",
        "catalogue_digest",
        "target_digest",
        "input_digest",
    ]
    assert list(found["result"]) == [
        "flops",
        "total_flops",
        "devices",
        "vector_flops",
        "bytes",
        "traffic",
        "intensity_flops_per_byte",
        "intensity_approx_flops_per_byte",
        "intensity_ratio",
        "layers",
        "time",
        "bound",
        "regime",
        "attainable_flops_per_s",
        "utilization",
        "thresholds",
        "levers",
        "assumed",
        "notes",
        "explain",
    ]


def test_a_vector_op_without_a_vector_peak_counts_no_compute_and_says_so(catalogue: Catalogue) -> None:
    chip = {"hbm": {"bandwidth_bytes_per_s": 1e12}}
    found = ask(catalogue, op={"kind": "elementwise", "n": 1000, "dtype": "fp32"}, chip=chip)["result"]
    assert found["layers"]["compute"] == {"time_s": None, "unit": "vector", "dtype": "fp32", "peak_flops_per_s": None}
    assert (found["time"]["lower_s"], found["utilization"], found["bound"]) == (12_000 / 1e12, None, "hbm")
    assert "layers.compute is null and counts 0: the chip in place states no vector peak, so only memory is judged." in found["notes"]


def test_tokens_and_the_sequences_needed(catalogue: Catalogue) -> None:
    """512 sequences of 4096 over 128 replicas: 16,384 tokens each; How To Scale Your Model, ch. 1."""
    op = {"kind": "matmul", "sequences": 512, "sequence_length": 4096, "replicas": 128, "k": 8192, "n": 8192, "dtype": "bf16"}
    chip = {"peak_flops_per_s": {"bf16": 1.97e14}, "hbm": {"bandwidth_bytes_per_s": 8.2e11}}
    found = ask(catalogue, op=op, chip=chip)
    assert found["result"]["tokens_per_replica"] == 16_384
    assert found["result"]["thresholds"] == [{"path": "hbm", "variable": "sequences", "exact": 8, "approximate": 8}]
    assert "m" not in found["op"]


def test_whole_numbers_have_no_point_up_to_2_to_the_53(catalogue: Catalogue) -> None:
    small = ask(catalogue, op={"kind": "elementwise", "n": 2**52, "inputs": 1, "outputs": 1, "dtype": "int8"})["result"]
    assert (small["flops"], type(small["flops"]), small["bytes"]["total"]) == (2**52, int, 2**53)
    large = ask(catalogue, op={"kind": "matmul", "m": 2**21, "k": 2**21, "n": 2**21, "dtype": "bf16"})["result"]
    assert (large["flops"], type(large["flops"])) == (2.0**64, float)
