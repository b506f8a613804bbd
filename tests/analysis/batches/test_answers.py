"""What a planner sees: answers beside the rows, columns that are the planner's own, and what is wrong where it is wrong."""

from __future__ import annotations

import pytest

from service.analysis.batches import machines
from service.analysis.batches.answering import DEFAULT, Choices, answer, choices
from service.analysis.batches.questions import MOST_GROUPS
from service.catalogue import Catalogue
from service.errors import OverLimit
from service.schemas.batches import BatchQuery
from service.schemas.telling import MOST_FAULTS
from service.tables.table import Cell, Table

from ..asking import ask, refused
from .tables import H100, MATMUL, Row, answered, error, rows_of, table

OURS = (*DEFAULT, "error_code", "error")
IN_PLACE: Row = {
    "chip": None,
    "chip.peak_flops_per_s.bf16": 1e15,
    "chip.hbm.bandwidth_bytes_per_s": 2e12,
    "chip.hbm.capacity_bytes": 507_510_784,
}


def asked(**parameters: str) -> Choices:
    return choices(BatchQuery.model_validate(parameters))


def test_ours_are_appended_to_the_callers(catalogue: Catalogue) -> None:
    sheet = answer(table([{"layer": "up", **MATMUL, "note": "=1+1"}]), Choices(), catalogue)
    single = ask(catalogue, op={"kind": "matmul", "m": 512, "k": 8192, "n": 28672, "dtype": "bf16"}, chip=H100)["result"]
    assert sheet.table.header == ("layer", "op", "m", "k", "n", "dtype", "chip", "note", *OURS)
    assert rows_of(sheet.table) == [
        {
            "layer": "up",
            **MATMUL,
            "note": "=1+1",
            "time_s": single["time"]["lower_s"],
            "estimate_s": single["time"]["estimate_s"],
            "bound": "compute",
            "intensity_flops_per_byte": single["intensity_flops_per_byte"],
            "critical_intensity_flops_per_byte": single["layers"]["hbm"]["critical_intensity_flops_per_byte"],
            "threshold_m": single["thresholds"][0]["exact"],
            "fits": True,
            "error_code": None,
            "error": None,
        }
    ]
    assert ("catalogue_digest", catalogue.digest) in sheet.about


def test_short_and_whole_names_ask_the_same(catalogue: Catalogue) -> None:
    whole: Row = {"op.kind": "matmul", "op.m": 512, "op.k": 8192, "op.n": 28672, "op.dtype": "bf16", "target.chip": H100}
    (short,), (dotted,) = answered(catalogue, MATMUL), answered(catalogue, whole)
    assert [short[name] for name in OURS] == [dotted[name] for name in OURS]


def test_other_columns_are_chosen_by_name(catalogue: Catalogue) -> None:
    names = "levers.m.speedup,bytes.b,thresholds.hbm.m.approximate,time_s,layers.compute.dtype"
    found = rows_of(answer(table([MATMUL]), asked(columns=names), catalogue).table)
    result = ask(catalogue, op={"kind": "matmul", "m": 512, "k": 8192, "n": 28672, "dtype": "bf16"}, chip=H100)["result"]
    assert found == [
        {
            **MATMUL,
            "levers.m.speedup": next(each for each in result["levers"] if each["change"] == "m")["speedup"],
            "bytes.b": 469_762_048,
            "thresholds.hbm.m.approximate": result["thresholds"][0]["approximate"],
            "time_s": result["time"]["lower_s"],
            "layers.compute.dtype": "bf16",
            "error_code": None,
            "error": None,
        }
    ]
    assert type(found[0]["bytes.b"]) is int


@pytest.mark.parametrize(
    ("parameters", "pointer", "code", "suggestion"),
    [
        ({"columns": "tme_s"}, "/query/columns", "unknown-member", "time_s"),
        ({"columns": "time_s,time_s"}, "/query/columns", "invalid-request", None),
        ({"columns": "op.m"}, "/query/columns", "unknown-member", None),
        ({"map": "Batch"}, "/query/map", "wrong-type", None),
        ({"map": "Batch:m,Batch:k"}, "/query/map", "invalid-request", None),
    ],
)
def test_parameters_that_mean_nothing_are_refused(parameters: dict[str, str], pointer: str, code: str, suggestion: str | None) -> None:
    (fault,) = refused(lambda: asked(**parameters))
    assert (fault.pointer, fault.code) == (pointer, code)
    assert suggestion is None or suggestion in fault.suggestions


def test_columns_are_mapped_to_members(catalogue: Catalogue) -> None:
    row: Row = {"Batch": 512, "Hidden": 8192, "k": "mine", "op": "matmul", "n": 28672, "dtype": "bf16", "chip": H100}
    (found,) = rows_of(answer(table([row]), asked(map="Batch:m,Hidden:op.k,k:"), catalogue).table)
    assert (found["bound"], found["k"], found["error"]) == ("compute", "mine", None)
    (wrong,) = rows_of(answer(table([{**row, "Batch": 0}]), asked(map="Batch:m,Hidden:k,k:"), catalogue).table)
    assert error(wrong) == ("out-of-range", "Batch: The number must be at least 1.")


@pytest.mark.parametrize(
    ("header", "mapping", "pointer", "code"),
    [
        (["op", "m", "op.m"], "", "/header/2", "invalid-request"),
        (["op", "Batch", "m"], "Batch:m", "/header/2", "invalid-request"),
        (["op", "m"], "Bath:m", "/query/map", "unknown-member"),
        (["op", "Batch"], "Batch:mm", "/query/map", "unknown-member"),
        (["op", "a_scale.group"], "", "/header/1", "unknown-member"),
        (["op", "options.explain"], "", "/header/1", "unknown-member"),
        (["op", "sharding.a"], "", "/header/1", "not-supported-yet"),
        (["op", "m", "mesh"], "", "/header/2", "not-supported-yet"),
        (["op", "target.memory"], "", "/header/1", "unknown-member"),
    ],
)
def test_a_header_that_cannot_be_meant_is_refused(catalogue: Catalogue, header: list[str], mapping: str, pointer: str, code: str) -> None:
    told = asked(map=mapping) if mapping else Choices()
    (fault,) = refused(lambda: answer(Table(tuple(header), tuple([] for _ in header)), told, catalogue))
    assert (fault.pointer, fault.code) == (pointer, code)


WITHOUT: Row = {name: value for name, value in MATMUL.items() if name != "dtype"}


@pytest.mark.parametrize(
    ("row", "code", "text"),
    [
        ({**WITHOUT, "dtpye": "bf16"}, "missing", "dtype: State dtype, or each of a_dtype, b_dtype. Perhaps dtpye?"),
        ({**WITHOUT, "Dtype": "bf16"}, "missing", "dtype: State dtype, or each of a_dtype, b_dtype. Perhaps Dtype?"),
        (
            {**MATMUL, "bacth": 8},
            "unknown-member",
            "bacth: The column resembles batch, which the row does not have. Rename it, or map it to batch or to nothing. Perhaps batch?",
        ),
        ({**MATMUL, "chip": None, "Chip": H100}, "missing", "chip: This member is required. Perhaps Chip?"),
        ({**MATMUL, "op": None, "kind": "matmul"}, "missing", "op: This member is required: which op. Perhaps kind?"),
        (
            {**MATMUL, "overlap": 0.5},
            "unknown-member",
            (
                "overlap: The column resembles options.overlap, which the row does not have. "
                "Rename it, or map it to options.overlap or to nothing. Perhaps options.overlap?"
            ),
        ),
    ],
)
def test_a_misspelt_name_is_told_in_its_row(catalogue: Catalogue, row: Row, code: str, text: str) -> None:
    found = answered(catalogue, row, MATMUL)
    assert error(found[0]) == (code, text)
    assert found[0]["time_s"] is None
    assert error(found[1]) == (None, None)
    assert found[1]["bound"] == "compute"


def test_what_is_declared_the_callers_own_is(catalogue: Catalogue) -> None:
    (found,) = answered(catalogue, {**MATMUL, "bacth": 8, "rows": 3}, renamed={"bacth": "", "rows": ""})
    assert (found["bound"], found["bacth"], found["rows"]) == ("compute", 8, 3)


def test_names_that_only_look_alike_at_a_glance_are_the_callers_own(catalogue: Catalogue) -> None:
    own: Row = {
        "model": "70B",
        "layer": 3,
        "note": "n",
        "batch_size": 8,
        "M": None,
        "block": 7,
        "hbm_bandwidth_bytes_per_s": 1,
        "date": "x",
    }
    (found,) = answered(catalogue, {**own, **MATMUL})
    assert error(found) == (None, None)
    assert {name: found[name] for name in own} == own


def test_a_member_of_another_op_must_be_empty(catalogue: Catalogue) -> None:
    softmax: Row = {"op": "softmax", "rows": 4, "cols": 8, "dtype": "bf16", "chip": H100}
    found = answered(catalogue, softmax, {**softmax, "m": 5, "k": 6}, MATMUL)
    assert [error(row) for row in found] == [
        (None, None),
        ("unknown-member", "m: softmax has no m; leave the cell empty. k: softmax has no k; leave the cell empty."),
        (None, None),
    ]


@pytest.mark.parametrize(
    ("cell", "code", "text"),
    [
        (0, "out-of-range", "The number must be at least 1."),
        (2**53, "out-of-range", "The number must be at most 9007199254740991."),
        (512.5, "wrong-type", "A whole number is needed, not a number with a point or an exponent."),
        (True, "wrong-type", "A whole number is needed, not true or false."),
        ("512.50", "wrong-type", "A whole number is needed, not a number with a point or an exponent."),
        ("+5", "wrong-type", None),
        (" 5", "wrong-type", None),
        ("1_000", "wrong-type", None),
        ("1e999", "not-finite", "The number is too large for a 64-bit float."),
        (float("inf"), "not-finite", "The number must be finite."),
        (float("nan"), "not-finite", "The number must be finite."),
    ],
)
def test_a_number_that_cannot_stand_there(catalogue: Catalogue, cell: Cell, code: str, text: str | None) -> None:
    found = answered(catalogue, MATMUL, {**MATMUL, "m": cell}, MATMUL)
    assert [row["error_code"] for row in found] == [None, code, None]
    assert found[0]["time_s"] == found[2]["time_s"] is not None
    assert text is None or found[1]["error"] == f"m: {text}"


def test_a_whole_number_is_one_however_it_is_written(catalogue: Catalogue) -> None:
    found = answered(catalogue, *({**MATMUL, "m": cell} for cell in (512, 512.0, "512", "512.0", "5.12e2")))
    assert len({row["time_s"] for row in found}) == 1


def test_scales_flags_and_choices_are_cells(catalogue: Catalogue) -> None:
    row: Row = {
        **MATMUL,
        "a_dtype": "int8",
        "b_dtype": "int8",
        "a_scale.block": "128x128",
        "a_scale.dtype": "fp32",
        "b_scale.group_size": "128",
    }
    scale = {"a_scale": {"block": [128, 128], "dtype": "fp32"}, "b_scale": {"group_size": 128, "dtype": "fp16"}}
    op = {"kind": "matmul", "m": 512, "k": 8192, "n": 28672, "dtype": "bf16", "a_dtype": "int8", "b_dtype": "int8", **scale}
    found = answered(catalogue, {**row, "b_scale.dtype": "fp16"}, row, {**row, "a_scale.block": "128 x 128"}, columns=["bytes.total"])
    assert found[0]["bytes.total"] == ask(catalogue, op=op, chip=H100)["result"]["bytes"]["total"]
    assert [error(each) for each in found[1:]] == [
        ("missing", "b_scale.dtype: This member is required."),
        ("invalid-request", "a_scale.block: Sizes read like 128x128. b_scale.dtype: This member is required."),
    ]


def test_chips_in_place_and_what_fits(catalogue: Catalogue) -> None:
    base: Row = {**MATMUL, "chip": None, "chip.base": H100, "chip.hbm.capacity_bytes": 507_510_783}
    unknown: Row = {name: value for name, value in IN_PLACE.items() if name != "chip.hbm.capacity_bytes"}
    found = answered(catalogue, {**MATMUL, **IN_PLACE}, base, {**MATMUL, **unknown}, {**MATMUL, **IN_PLACE, "chip": H100})
    assert [row["fits"] for row in found] == [True, False, None, None]
    assert [row["critical_intensity_flops_per_byte"] for row in found[:3]] == [500.0, pytest.approx(295.343, rel=1e-5), 500.0]
    assert error(found[3]) == ("invalid-request", "chip: State a chip or its numbers; chip.base names one that some numbers replace.")


def test_a_base_that_is_replaced_in_part_keeps_its_capacity(catalogue: Catalogue) -> None:
    row: Row = {**MATMUL, "chip": None, "chip.base": H100, "chip.hbm.bandwidth_bytes_per_s": 1e12}
    assert [each["fits"] for each in answered(catalogue, row, {**row, "k": 2**22})] == [True, False]


def test_a_table_fits_only_whole(catalogue: Catalogue) -> None:
    """One token reads 16 KiB of an embedding, which holds 2.1 GB."""
    row: Row = {"op": "embedding", "tokens": 1, "vocab": 128_256, "d": 8192, "dtype": "bf16", "chip.base": H100}
    rows = ({**row, "chip.hbm.capacity_bytes": capacity} for capacity in (10**9, 3 * 10**9))
    assert [each["fits"] for each in answered(catalogue, *rows)] == [False, True]


def test_options_are_columns(catalogue: Catalogue) -> None:
    rows = ({**MATMUL, "options.overlap": overlap} for overlap in (None, 0, "0.5", 1.5))
    found = answered(catalogue, *rows, columns=["time.lower_s", "time.upper_s", "time.overlapped_s"])
    lower, upper = found[0]["time.lower_s"], found[0]["time.upper_s"]
    assert isinstance(lower, float)
    assert isinstance(upper, float)
    assert [row["time.overlapped_s"] for row in found] == [lower, upper, lower + 0.5 * (upper - lower), None]
    assert error(found[3]) == ("out-of-range", "options.overlap: The number must be at most 1.0.")


def test_a_tile_is_a_word_or_three_columns(catalogue: Catalogue) -> None:
    given = {"options.tile.m": 128, "options.tile.n": 256, "options.tile.k": 64}
    rows = (
        {**MATMUL, "options.tile": "auto"},
        {**MATMUL, "options.tile": "none"},
        {**MATMUL, **given},
        {**MATMUL, **given, "options.tile": "auto"},
    )
    shown = [
        "layers.tile.tile.n",
        "layers.tile.tiles",
        "layers.tile.bound",
        "layers.tile.losses.waves_s",
        "levers.tile.helps",
        "estimate_s",
    ]
    auto, none, exact, both = answered(catalogue, *rows, columns=shown)
    assert [auto[name] for name in shown[1:3]] == [896, "compute"]
    assert [none[name] for name in shown[:-1]] == [None] * 5
    assert none["estimate_s"] == auto["estimate_s"]
    assert [exact[name] for name in shown[:3]] == [256, 448, "compute"]
    assert exact["levers.tile.helps"] is True
    assert error(both) == ("invalid-request", "options.tile: State the tile in one word or in m, n and k, not both.")


def test_rows_whose_chips_have_no_room_for_a_tile_are_told_apart(catalogue: Catalogue) -> None:
    tile = {"options.tile.m": 256, "options.tile.n": 512, "options.tile.k": 64}
    chips = (H100, "google-tpu-v5e", "nvidia-b200", "google-tpu-v5e")
    found = answered(catalogue, *({**MATMUL, **tile, "chip": chip} for chip in chips), columns=["layers.tile.tiles"])
    assert [row["error_code"] for row in found] == ["tile-does-not-fit", None, "tile-does-not-fit", None]
    assert [row["layers.tile.tiles"] for row in found] == [None, 112, None, 112]
    assert str(found[0]["error"]).startswith("options.tile: The fp32 sums of the tile take 524,288 bytes")
    attention: Row = {"op": "attention", "batch": 1, "q_len": 64, "kv_len": 64, "heads": 8, "kv_heads": 8, "head_dim": 64, "dtype": "bf16"}
    (refused,) = answered(catalogue, {**attention, **tile, "chip": H100})
    assert error(refused)[0] == "invalid-request"


def test_what_a_chip_lacks_is_told_of_its_rows_alone(catalogue: Catalogue) -> None:
    found = answered(catalogue, *({**MATMUL, "dtype": "fp32", "chip": chip} for chip in (H100, "amd-epyc-9654", "nvidia-h100")))
    assert [row["error_code"] for row in found] == ["unsupported-dtype", None, "unknown-chip"]
    assert str(found[0]["error"]).startswith("dtype: The chip's matrix unit has no fp32 peak; it has ")
    assert str(found[2]["error"]).endswith("Perhaps nvidia-h100-nvl or nvidia-h100-pcie or nvidia-h100-sxm?")


def test_kernels_that_do_not_fit_are_found_among_many_that_do(catalogue: Catalogue) -> None:
    conv: Row = {"op": "conv1d", "in_channels": 8, "out_channels": 8, "length": 9, "kernel": 3, "dtype": "bf16", "chip": H100}
    found = answered(catalogue, *({**conv, "kernel": 1 + row % 10} for row in range(60)))
    assert [row["error_code"] for row in found] == [None if row % 10 < 9 else "out-of-range" for row in range(60)]
    assert found[9]["error"] == "kernel: The kernel is larger than length with its padding."


def test_a_count_beyond_all_numbers_is_one_rows_own(catalogue: Catalogue) -> None:
    letters = "abcdefghijklmnopqrs"
    einsum: Row = {"op": "einsum", "equation": f"{letters}->{letters}", "dtype": "bf16", "chip": H100}
    huge = {f"dims.{letter}": 2**53 - 1 for letter in letters}
    found = answered(catalogue, {**einsum, **huge}, {**einsum, **huge, "dims.a": 2}, {**einsum, **huge})
    assert [error(row) for row in found] == [
        ("too-large", "A count of this op exceeds 1e300."),
        (None, None),
        ("too-large", "A count of this op exceeds 1e300."),
    ]


def test_a_blank_row_stays_blank(catalogue: Catalogue) -> None:
    found = answered(catalogue, MATMUL, dict.fromkeys(MATMUL), MATMUL)
    assert set(found[1].values()) == {None}
    assert found[0] == found[2]


def test_a_row_that_was_emptied_after_it_was_answered_is_blank(catalogue: Catalogue) -> None:
    once = answered(catalogue, MATMUL, {**MATMUL, "m": 0})
    again = answered(catalogue, once[0], {**once[1], **dict.fromkeys(MATMUL)})
    assert again == [once[0], dict.fromkeys(once[1])]


def test_a_row_without_an_op_is_told_so(catalogue: Catalogue) -> None:
    found = answered(catalogue, {**MATMUL, "op": None}, {**MATMUL, "op": "matmull"}, {**MATMUL, "op": 7})
    assert [error(row) for row in found] == [
        ("missing", "op: This member is required: which op."),
        ("unknown-op", "op: There is no op of this kind. Perhaps matmul?"),
        ("wrong-type", "op: The name of an op is needed."),
    ]


def test_all_that_is_wrong_is_told_at_once_where_that_is_asked(catalogue: Catalogue) -> None:
    rows = [MATMUL, {**MATMUL, "m": 0, "dtype": "bf17"}, MATMUL, {**MATMUL, "chip": "x/y~z"}]
    faults = refused(lambda: answered(catalogue, *rows, on_error="fail"))
    assert [(fault.pointer, fault.code) for fault in faults] == [
        ("/rows/1/m", "out-of-range"),
        ("/rows/1/dtype", "unknown-dtype"),
        ("/rows/3/chip", "unknown-chip"),
    ]
    many = refused(lambda: answered(catalogue, *[{**MATMUL, "m": 0}] * (MOST_FAULTS + 5), on_error="fail"))
    assert len(many) == MOST_FAULTS


def test_a_table_without_rows_gets_our_columns(catalogue: Catalogue) -> None:
    found = answer(Table(("op", "m"), ([], [])), Choices(), catalogue).table
    assert (found.header, found.rows) == (("op", "m", *OURS), 0)


def test_a_row_of_units_is_kept_and_goes_on(catalogue: Catalogue) -> None:
    units = Table(("op", "m"), (["dot"], [None]), ("[]", "[rows]"))
    found = answer(units, Choices(), catalogue).table
    assert found.units_row == ("[]", "[rows]", "[s]", "[s]", None, "[FLOP/B]", "[FLOP/B]", None, None, None, None)


def test_an_answered_table_is_renewed_where_it_stands(catalogue: Catalogue) -> None:
    """Sent again with another m, and with a column that was added behind ours."""
    (once,) = answered(catalogue, {**MATMUL, "m": 1})
    (again,) = answered(catalogue, {**once, "m": 512, "comment": "new"})
    (fresh,) = answered(catalogue, MATMUL)
    assert again == {**fresh, "comment": "new"}
    assert list(again) == [*fresh, "comment"]


def test_the_callers_columns_are_never_overwritten(catalogue: Catalogue) -> None:
    measured: Row = {**MATMUL, "time_s": 3e-4, "bound": "mine"}
    (once,) = answered(catalogue, measured)
    (fresh,) = answered(catalogue, MATMUL)
    assert {name: once[name] for name in measured} == measured
    assert (once["roofline_time_s"], once["roofline_bound"]) == (fresh["time_s"], fresh["bound"])
    (again,) = answered(catalogue, once)
    assert again == once
    (other,) = answered(catalogue, once, columns=["time_s"])  # asked for less than before: what stands there is not ours to renew
    assert {name: other[name] for name in once} == once
    assert other["roofline_time_s_2"] == fresh["time_s"]


def test_rows_that_share_too_little_are_refused_before_they_cost_anything(catalogue: Catalogue) -> None:
    scaled: Row = {**MATMUL, "a_dtype": "int8", "b_dtype": "int8", "a_scale.dtype": "fp32"}
    rows = [{**scaled, "a_scale.group_size": size} for size in range(1, MOST_GROUPS + 2)]
    with pytest.raises(OverLimit) as limit:
        answered(catalogue, *rows)
    assert (limit.value.code, str(MOST_GROUPS) in limit.value.detail) == ("too-many-rows", True)


def test_chips_in_place_are_not_without_number(catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machines, "MOST_GROUPS", 3)
    rows = [{**MATMUL, **IN_PLACE, "chip.hbm.bandwidth_bytes_per_s": 1e12 + row} for row in range(4)]
    assert [row["error"] for row in answered(catalogue, *rows[:3], *rows[:3])] == [None] * 6
    with pytest.raises(OverLimit):
        answered(catalogue, *rows)


def test_values_that_are_wrong_alike_are_told_each_in_its_row(catalogue: Catalogue) -> None:
    cells: list[Cell] = [0, 1, -7, "x", "y", 2**60, True]
    found = answered(catalogue, *({**MATMUL, "m": cell, "k": row + 1} for row, cell in enumerate(cells)))
    assert [row["error_code"] for row in found] == [
        "out-of-range", None, "out-of-range", "wrong-type", "wrong-type", "out-of-range", "wrong-type",
    ]  # fmt: skip
