"""`GET /v1/cell/{metric}` and `/v1/cells.csv`: texts that a formula reads, and failures that it can show."""

from __future__ import annotations

import httpx
import pytest

from .conftest import Client

QUESTION = {"op": "matmul", "m": "512", "k": "8192", "n": "28672", "dtype": "bf16", "chip": "nvidia-h100-sxm"}
TIME_S = 0.00024309497531433192


def cell(client: Client, metric: str = "time_s", **parameters: str) -> httpx.Response:
    return client.get(f"/v1/cell/{metric}", params={**QUESTION, **parameters})


def failed(client: Client, metric: str = "time_s", **parameters: str) -> str:
    """What a cell shows of a failure; the same is a problem document to others."""
    shown, problem = cell(client, metric, **parameters, on_error="text"), cell(client, metric, **parameters)
    assert (shown.status_code, shown.headers["content-type"], shown.headers["cache-control"]) == (
        200, "text/plain; charset=utf-8", "no-cache",
    )  # fmt: skip
    assert problem.status_code >= 400
    assert shown.text.startswith(f"#ERR {problem.json()['code']}: ")
    return shown.text


CONVOLUTION = {"op": "conv1d", "m": "", "k": "", "n": "", "in_channels": "8", "out_channels": "8", "length": "9", "kernel": "3"}
"""An op of which no kernel was measured."""


@pytest.mark.parametrize(
    ("metric", "parameters", "text"),
    [
        ("time_s", {}, repr(TIME_S)),
        ("time_us", {}, repr(TIME_S * 1e6)),
        ("time_us", {"unit": "us", "decimals": "3"}, "243.095"),
        ("time_s", {"unit": "ms", "decimals": "4"}, "0.2431"),
        ("time_s", {"unit": "ns", "decimals": "0"}, "243095"),
        ("bound", {}, "compute"),
        ("fits", {}, "true"),
        ("fits", {"k": "16777216"}, "false"),
        ("fits", {"chip": "amd-epyc-9654"}, "#N/A"),
        ("intensity_flops_per_byte", {"decimals": "3"}, "473.917"),
        ("critical_intensity_flops_per_byte", {}, "295.34328358208955"),
        ("threshold_m", {}, "309.6988806634141"),
        ("threshold_m", {"k": "8"}, "#N/A"),
        ("time_s", {"m": "5.12e2", "options.overlap": "0.5"}, repr(TIME_S)),
        ("time_s", {"batch": ""}, repr(TIME_S)),
    ],
)
def test_a_cell_is_one_text(client: Client, metric: str, parameters: dict[str, str], text: str) -> None:
    answer = cell(client, metric, **parameters)
    assert (answer.status_code, answer.headers["content-type"], answer.text) == (200, "text/plain; charset=utf-8", text)


def test_a_cell_may_be_kept_and_is_not_sent_twice(client: Client) -> None:
    answer = cell(client)
    assert answer.headers["cache-control"] == "private, max-age=3600"
    again = client.get("/v1/cell/time_s", params=QUESTION, headers={"if-none-match": answer.headers["etag"]})
    assert (again.status_code, again.content, again.headers["cache-control"]) == (304, b"", "private, max-age=3600")
    assert cell(client, "bound").headers["etag"] != answer.headers["etag"]


def test_spreadsheets_ask_by_head_and_options_first(client: Client) -> None:
    options = client.request("OPTIONS", "/v1/cell/time_s", params=QUESTION)
    assert (options.status_code, options.headers["allow"]) == (204, "GET, HEAD, OPTIONS")
    head, get = client.request("HEAD", "/v1/cell/time_s", params=QUESTION), cell(client)
    assert (head.status_code, head.content, head.headers["etag"]) == (200, b"", get.headers["etag"])
    assert head.headers["content-length"] == str(len(get.content))


@pytest.mark.parametrize(
    ("metric", "parameters", "text"),
    [
        ("time_s", {"chip": "nvidia-h100-sx"}, "unknown-chip: chip: No chip has this id. Perhaps nvidia-h100-sxm"),
        ("time_s", {"batc": "2"}, "unknown-parameter: batc: There is no such query parameter here. Perhaps batch"),
        ("time_s", {"m": "0"}, "out-of-range: m: The number must be at least 1."),
        ("time_s", {"dtype": ""}, "missing: dtype: State dtype, or each of a_dtype, b_dtype."),
        ("time_s", {"op": ""}, "missing: op: This member is required: which op."),
        ("time_s", {"rows": "4"}, "unknown-member: rows: matmul has no rows; leave the cell empty."),
        ("time_us", {"unit": "ms"}, "out-of-range: unit: time_us is not given in this unit. Perhaps us?"),
        ("bound", {"unit": "s"}, "out-of-range: unit: bound is not given in this unit."),
        ("bound", {"decimals": "3"}, "out-of-range: decimals: bound is no number."),
        ("time_s", {"decimals": "3.0"}, "wrong-type: decimals: "),
        ("time_s", {"decimals": "16"}, "out-of-range: decimals: "),
        ("estimate_s", CONVOLUTION, "not-supported-yet: metric: This version does not estimate the time of this."),
        ("tims_s", {}, "not-found: There is no metric of this name. Perhaps time_s"),
    ],
)
def test_a_failure_is_a_text_where_that_is_asked(client: Client, metric: str, parameters: dict[str, str], text: str) -> None:
    assert failed(client, metric, **parameters).startswith(f"#ERR {text}")


@pytest.mark.parametrize("text", ["1_000", "+5", " 5", "5 ", "0x10", "1,5", "٥", "NaN", "Infinity", "1e999", "512.5", "=1", "true"])
def test_numbers_have_one_spelling(client: Client, text: str) -> None:
    answer = cell(client, m=text)
    (fault,) = answer.json()["errors"]
    assert (answer.status_code, fault["pointer"]) == (422, "/query/m")
    assert fault["code"] in {"wrong-type", "not-finite"}
    assert failed(client, m=text)


def test_nothing_asked_is_refused(client: Client) -> None:
    for path in ("/v1/cell/time_s", "/v1/cells.csv", "/v1/cell/time_s?op=&m=&k="):
        (fault,) = client.get(path).json()["errors"]
        assert (fault["pointer"], fault["code"]) == ("/query/op", "missing")


def cells(client: Client, **parameters: str) -> httpx.Response:
    return client.get("/v1/cells.csv", params={**QUESTION, **parameters})


def test_cells_are_a_row_for_each_question(client: Client) -> None:
    answer = cells(client, metrics="time_us,bound,fits", m="1,512", chip="nvidia-h100-sxm,google-tpu-v5e", decimals="2", header="present")
    singles = []
    for m, chip in (("1", "nvidia-h100-sxm"), ("512", "google-tpu-v5e")):
        time = cell(client, "time_us", m=m, chip=chip, decimals="2")
        singles.append([time.text, *(cell(client, metric, m=m, chip=chip).text for metric in ("bound", "fits"))])
    assert (answer.status_code, answer.headers["content-type"], answer.headers["cache-control"]) == (
        200, "text/csv; charset=utf-8", "private, max-age=3600",
    )  # fmt: skip
    assert answer.text == "".join(",".join(row) + "\r\n" for row in (["time_us", "bound", "fits"], *singles))


def test_equations_are_listed_with_semicolons(client: Client) -> None:
    sizes = {f"dims.{letter}": f"{size},{size}" for letter, size in (("b", 64), ("d", 512))}
    einsum = {"op": "einsum", "equation": "bd,df->bf;bd,d->b", "dims.f": "128,", "dtype": "bf16", "chip": QUESTION["chip"], **sizes}
    answer = client.get("/v1/cells.csv", params={**einsum, "metrics": "bound"})
    assert answer.text == "hbm\r\nhbm\r\n"


def test_cells_that_fail_say_so_or_are_all_refused(client: Client) -> None:
    answer = cells(client, m="1,0,x", metrics="bound,fits", on_error="text")
    first, second, third = answer.text.splitlines()
    assert (answer.status_code, first) == (200, "hbm,true")
    assert second == ",".join(["#ERR out-of-range: m: The number must be at least 1."] * 2)
    assert third.startswith('"#ERR wrong-type: m: A number is needed')
    refused = cells(client, m="1,0,x").json()["errors"]
    assert [(each["pointer"], each["code"]) for each in refused] == [("/query/m/1", "out-of-range"), ("/query/m/2", "wrong-type")]


@pytest.mark.parametrize(
    ("parameters", "status", "code", "pointer"),
    [
        ({"m": "1,2", "k": "1,2,3"}, 422, "column-length", "/query/k"),
        ({"metrics": "time_s,tim_us"}, 422, "unknown-member", "/query/metrics"),
        ({"metrics": "time_s,estimate_s", **CONVOLUTION}, 422, "not-supported-yet", "/query/metrics"),
        ({"metrics": "bound,fits", "decimals": "2"}, 422, "out-of-range", "/query/decimals"),
        ({"metrics": "time_us,bound", "unit": "ms"}, 422, "out-of-range", "/query/unit"),
        ({"mm": "1,2"}, 422, "unknown-parameter", "/query/mm"),
        ({"m": ",".join(["1"] * 501), "metrics": "time_s,bound"}, 413, "too-many-rows", None),
    ],
)
def test_cells_are_refused(client: Client, parameters: dict[str, str], status: int, code: str, pointer: str | None) -> None:
    answer = cells(client, **parameters)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert [each["pointer"] for each in answer.json().get("errors", ())] == ([] if pointer is None else [pointer])
    shown = cells(client, **parameters, on_error="text")
    assert (shown.status_code, shown.headers["content-type"]) == (200, "text/csv; charset=utf-8")
    assert shown.text.startswith(f'"#ERR {code}: ')


def test_a_thousand_values_are_answered(client: Client) -> None:
    lines = cells(client, m=",".join(map(str, range(1, 501))), metrics="time_s,bound").text.splitlines()
    assert len(lines) == 500
    assert lines[511 - 12] == f"{cell(client, m='500').text},compute"


def test_the_metrics_are_listed_with_their_units(client: Client) -> None:
    metrics = {each["name"]: each["unit"] for each in client.get("/v1/meta").json()["metrics"]}
    assert metrics == {
        "time_s": "s",
        "time_us": "us",
        "estimate_s": "s",
        "bound": None,
        "intensity_flops_per_byte": "FLOP/B",
        "critical_intensity_flops_per_byte": "FLOP/B",
        "threshold_m": None,
        "fits": None,
    }
