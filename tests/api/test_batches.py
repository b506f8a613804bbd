"""`POST /v1/batches` on a real server: whole bodies in every form, what is refused, and that nobody else has to wait."""

from __future__ import annotations

import io
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from service.engine.ops import OPS
from service.tables.formats import FORMATS
from service.tables.limits import MOST_BYTES
from service.tables.table import Cell, Sheet, Table

PATH = "/v1/batches"
TABLE = """\
layer,op,m,k,n,rows,cols,dtype,chip,note\r
up,matmul,512,8192,28672,,,bf16,nvidia-h100-sxm,'=1+1\r
,,,,,,,,,\r
down,matmul,0,28672,8192,,,bf17,nvidia-h100,\r
norm,rms_norm,,,,64,8192,bf16,google-tpu-v5e,007\r
"""
ANSWERED = """\
layer,op,m,k,n,rows,cols,dtype,chip,note,time_s,estimate_s,bound,intensity_flops_per_byte,critical_intensity_flops_per_byte,\
threshold_m,fits,error_code,error\r
up,matmul,512,8192,28672,,,bf16,nvidia-h100-sxm,'=1+1,0.00024309497531433192,{up},compute,473.91735537190084,295.34328358208955,\
309.6988806634141,true,,\r
,,,,,,,,,,,,,,,,,,\r
down,matmul,0,28672,8192,,,bf17,nvidia-h100,,,,,,,,,invalid-request,m: The number must be at least 1. \
dtype: There is no number format of this name. Perhaps bf16? \
chip: No chip has this id. Perhaps nvidia-h100-nvl or nvidia-h100-pcie or nvidia-h100-sxm?\r
norm,rms_norm,,,,64,8192,bf16,google-tpu-v5e,007,{time},{norm},hbm,{intensity},{ridge},,true,,\r
"""
CSV = {"content-type": "text/csv"}


@pytest.fixture(scope="module")
def client(port: int) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=60) as client:
        yield client


def problem(answer: httpx.Response) -> list[tuple[str, str]]:
    assert answer.headers["content-type"] == "application/problem+json"
    return [(each["pointer"], each["code"]) for each in answer.json().get("errors", [])]


def test_a_sheet_comes_back_with_its_answers(client: httpx.Client) -> None:
    answer = client.post(PATH, content=TABLE.encode(), headers=CSV)
    single = {"op": {"kind": "rms_norm", "rows": 64, "cols": 8192, "dtype": "bf16"}, "target": {"chip": "google-tpu-v5e"}}
    other = {"op": {"kind": "matmul", "m": 512, "k": 8192, "n": 28672, "dtype": "bf16"}, "target": {"chip": "nvidia-h100-sxm"}}
    result, of_up = (client.post("/v1/evaluate", json=each).json()["result"] for each in (single, other))
    hbm, time_s = result["layers"]["hbm"], result["time"]["lower_s"]
    estimates = {"up": of_up["time"]["estimate_s"], "norm": result["time"]["estimate_s"]}
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/csv; charset=utf-8")
    intensity, ridge = result["intensity_flops_per_byte"], hbm["critical_intensity_flops_per_byte"]
    assert answer.text == ANSWERED.format(time=time_s, intensity=intensity, ridge=ridge, **estimates)


def test_an_answered_sheet_is_answered_again_to_the_same_bytes(client: httpx.Client) -> None:
    once = client.post(PATH, content=TABLE.encode(), headers=CSV)
    assert client.post(PATH, content=once.content, headers=CSV).content == once.content


def written(name: str) -> bytes:
    read = FORMATS["csv"].read(TABLE.encode())
    return b"".join(FORMATS[name].write(Sheet(Table(read.header, tuple(read.typed(column) for column in read.columns)))))


def _written(cell: Cell) -> Cell:
    """A cell as CSV has it, which knows no true."""
    return str(cell).lower() if isinstance(cell, bool) else cell


@pytest.mark.parametrize("source", FORMATS)
@pytest.mark.parametrize("target", FORMATS)
def test_every_form_says_the_same(client: httpx.Client, source: str, target: str) -> None:
    form = FORMATS[source]
    answer = client.post(f"{PATH}?format={target}", content=written(source), headers={"content-type": form.media_types[0]})
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].partition(";")[0] == FORMATS[target].media_types[0]
    found = FORMATS[target].read(answer.content)
    plain = FORMATS["csv"].read(client.post(PATH, content=TABLE.encode(), headers=CSV).content)
    shown, expected = ([[_written(cell) for cell in table.typed(column)] for column in table.columns] for table in (found, plain))
    assert shown == expected


@pytest.mark.parametrize(
    ("accept", "media_type"),
    [
        ("*/*", "text/csv"),
        ("application/*", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
        ("application/json", "application/json"),
        ("text/csv;q=0.5, application/x-ndjson", "application/x-ndjson"),
        ("text/*;q=0.1, application/json;q=0.05", "text/csv"),
    ],
)
def test_the_form_is_what_is_accepted_most(client: httpx.Client, accept: str, media_type: str) -> None:
    answer = client.post(PATH, content=TABLE.encode(), headers={**CSV, "accept": accept})
    assert (answer.status_code, answer.headers["content-type"].partition(";")[0]) == (200, media_type)


def test_a_named_form_that_is_not_accepted_is_a_406(client: httpx.Client) -> None:
    answer = client.post(f"{PATH}?format=xlsx", content=TABLE.encode(), headers={**CSV, "accept": "text/csv"})
    assert (answer.status_code, answer.json()["code"]) == (406, "not-acceptable")


def test_decimal_commas_and_marks_go_out_as_they_came_in(client: httpx.Client) -> None:
    text = "\ufeffop;n;dtype;chip;share\r\ndot;4096;fp32;nvidia-h100-sxm;0,25\r\n"
    answer = client.post(f"{PATH}?columns=time_s", content=text.encode(), headers=CSV)
    head, row = answer.content.decode().splitlines()
    assert head == "\ufeffop;n;dtype;chip;share;time_s;error_code;error"
    assert row.startswith("dot;4096;fp32;nvidia-h100-sxm;0,25;9,7")
    assert row.endswith(";;")
    told = client.post(f"{PATH}?columns=time_s&sep=semicolon&decimal=,", content=text.encode(), headers=CSV)
    assert told.content == answer.content


def test_a_table_is_refused_with_all_that_is_wrong_where_that_is_asked(client: httpx.Client) -> None:
    answer = client.post(f"{PATH}?on_error=fail", content=TABLE.encode(), headers=CSV)
    assert answer.status_code == 422
    assert problem(answer) == [("/rows/2/m", "out-of-range"), ("/rows/2/dtype", "unknown-dtype"), ("/rows/2/chip", "unknown-chip")]


@pytest.mark.parametrize(
    ("query", "body", "status", "faults"),
    [
        ("?on_error=maybe", "op\n", 422, [("/query/on_error", "out-of-range")]),
        ("?columns=times_s", "op\n", 422, [("/query/columns", "unknown-member")]),
        ("?map=Batch:m", "op\n", 422, [("/query/map", "unknown-member")]),
        ("?format=pdf", "op\n", 422, [("/query/format", "out-of-range")]),
        ("?sep=x", "op\n", 422, [("/query/sep", "out-of-range")]),
        ("?sheet=Plan", "op\n", 422, [("/query/sheet", "invalid-request")]),
        ("", "", 422, [("/header", "malformed-table")]),
        ("", "op,op\n", 422, [("/header/1", "malformed-table")]),
        ("", "op,m\ndot\n", 422, [("/rows/0", "malformed-table")]),
        ("", "op,op.kind\n", 422, [("/header/1", "invalid-request")]),
        ("", "op,options.overlapp\n", 422, [("/header/1", "unknown-member")]),
    ],
)
def test_it_is_refused(client: httpx.Client, query: str, body: str, status: int, faults: list[tuple[str, str]]) -> None:
    answer = client.post(PATH + query, content=body.encode(), headers=CSV)
    assert (answer.status_code, problem(answer)) == (status, faults)


def test_marks_of_csv_are_refused_where_there_is_none(client: httpx.Client) -> None:
    rows = [{"op": "dot", "n": 8, "dtype": "fp32", "chip": "nvidia-h100-sxm"}]
    refused = client.post(f"{PATH}?sep=tab", json=rows)
    assert (refused.status_code, problem(refused)) == (422, [("/query/sep", "invalid-request")])
    answer = client.post(f"{PATH}?sep=tab&decimal=,&format=csv&columns=bound", json=rows)
    assert answer.text.splitlines()[0] == "op\tn\tdtype\tchip\tbound\terror_code\terror"


def test_16_mib_are_read_and_one_byte_more_is_not(client: httpx.Client) -> None:
    line = b"dot,4096,fp32,nvidia-h100-sxm," + b"x" * 1000 + b"\n"
    table = b"op,n,dtype,chip,note\n" + line * ((MOST_BYTES - 25) // len(line))
    full = table + b"," * 4 + b"y" * (MOST_BYTES - len(table) - 4)
    answer = client.post(f"{PATH}?columns=bound", content=full, headers=CSV)
    assert answer.status_code == 200
    assert answer.text.splitlines()[1].endswith(",hbm,,")
    assert answer.text.splitlines()[-1].endswith(",,missing,op: This member is required: which op.")
    refused = client.post(PATH, content=full + b"y", headers=CSV)
    assert (refused.status_code, refused.json()["code"]) == (413, "body-too-large")


def rows(count: int) -> bytes:
    """A table of several ops, formats and chips."""
    chips, formats = ("nvidia-h100-sxm", "google-tpu-v5e", "amd-mi300x"), ("bf16", "int8")
    lines = [
        f"matmul,{1 + row % 4096},8192,{128 + row % 77},,,{formats[row % 2]},{chips[row % 3]},{row}"
        if row % 2
        else f"softmax,,,,{row + 1},{1 + row % 4096},bf16,{chips[row % 3]},{row}"
        for row in range(count)
    ]
    return "\n".join(["op,m,k,n,rows,cols,dtype,chip,id", *lines]).encode()


def test_100_000_rows_are_answered_while_others_are(client: httpx.Client, port: int) -> None:
    """Whoever asks meanwhile waits for a turn of the interpreter, never for the table."""
    with asked_meanwhile(port) as waits:
        answer = client.post(f"{PATH}?columns=bound", content=rows(100_000), headers=CSV)
    lines = answer.text.splitlines()
    assert (answer.status_code, len(lines)) == (200, 100_001)
    assert lines[-1] == "matmul,1696,8192,181,,,int8,nvidia-h100-sxm,99999,hbm,,"
    assert len(waits) > 3
    assert sorted(waits)[len(waits) // 2] < 1


@contextmanager
def asked_meanwhile(port: int) -> Iterator[list[float]]:
    """How long [s] each of the requests took that were sent one after another meanwhile."""
    waits: list[float] = []
    done = threading.Event()

    def ask() -> None:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=60) as other:
            while not done.is_set():
                began = time.perf_counter()
                assert other.get("/livez").status_code == 200
                waits.append(time.perf_counter() - began)
                time.sleep(0.05)

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        yield waits
    finally:
        done.set()
        thread.join(60)


def test_one_row_too_many_is_refused(client: httpx.Client) -> None:
    answer = client.post(PATH, content=b"op\n" + b"dot\n" * 100_001, headers=CSV)
    assert (answer.status_code, answer.json()["code"]) == (413, "too-many-rows")


def test_rows_are_counted(client: httpx.Client) -> None:
    def counted() -> float:
        lines = client.get("/metrics").text.splitlines()
        return float(next(line for line in lines if line.startswith("roofline_rows_evaluated_total")).split()[-1])

    before = counted()
    client.post(PATH, content=rows(7), headers=CSV)
    assert counted() == before + 7


@pytest.mark.parametrize("kind", [None, *OPS])
@pytest.mark.parametrize("name", ["csv", "xlsx"])
def test_a_template_is_answered_as_it_stands(client: httpx.Client, name: str, kind: str | None) -> None:
    form = FORMATS[name]
    template = client.get(f"{PATH}/template.{name}", params={} if kind is None else {"op": kind})
    assert (template.status_code, template.headers["content-type"].partition(";")[0]) == (200, form.media_types[0])
    assert template.headers["content-disposition"] == f'attachment; filename="roofline-{kind or "ops"}.{name}"'
    answer = client.post(f"{PATH}?format=json&on_error=fail", content=template.content, headers={"content-type": form.media_types[0]})
    found: list[dict[str, Any]] = json.loads(answer.content)
    assert [row["op"] for row in found] == ([*OPS] if kind is None else [kind])
    for row in found:
        example = client.get(f"/v1/ops/{row['op']}").json()["example"]
        assert row["time_s"] == client.post("/v1/evaluate", json=example).json()["result"]["time"]["lower_s"]


def test_a_template_of_no_op_is_refused(client: httpx.Client) -> None:
    answer = client.get(f"{PATH}/template.csv?op=matmul2")
    assert problem(answer) == [("/query/op", "unknown-op")]


def test_a_workbook_offers_what_may_be_chosen(client: httpx.Client) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.load_workbook(io.BytesIO(client.get(f"{PATH}/template.xlsx?op=optimizer_step").content))
    assert len(book.worksheets[0].data_validations.dataValidation) == len(["op", "chip", "algorithm", "dtype"]) + 4
