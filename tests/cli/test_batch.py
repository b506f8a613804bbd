"""`roofline batch`: the API's bytes, in files and pipes, and a bar where a person watches."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest

from service.tables.formats import FORMATS

from .program import on_terminal, plain, roofline

ADVICE = "; `roofline batch --help` says what can be typed.\n"
TABLE = b"""\
layer,op,m,k,n,dtype,chip\r
up,matmul,512,8192,28672,bf16,nvidia-h100-sxm\r
down,matmul,0,28672,8192,bf16,nvidia-h100-sxm\r
"""
CSV = {"content-type": "text/csv"}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "plan.csv"
    path.write_bytes(TABLE)
    return path


def test_files_and_pipes_get_the_bytes_of_the_api(api: httpx.Client, source: Path, tmp_path: Path) -> None:
    answer = api.post("/v1/batches", content=TABLE, headers=CSV)
    piped, named = roofline("batch", "--format", "csv", stdin=TABLE), roofline("batch", str(source))
    target = tmp_path / "answered.csv"
    written = roofline("batch", str(source), "-o", str(target))
    assert (answer.status_code, piped.status, named.status, written.status) == (200, 0, 0, 0)
    assert piped.output == named.output == target.read_bytes() == answer.content
    assert (piped.words, written.output, written.words) == ("", b"", f"roofline: {target} is written\n")


@pytest.mark.parametrize("name", [name for name in FORMATS if name != "columns"])
def test_the_name_of_a_file_tells_its_format(api: httpx.Client, source: Path, tmp_path: Path, name: str) -> None:
    target = tmp_path / f"answered{FORMATS[name].suffix}"
    assert roofline("batch", str(source), "-o", str(target)).status == 0
    assert target.read_bytes() == api.post(f"/v1/batches?format={name}", content=TABLE, headers=CSV).content


def test_options_are_the_parameters_of_the_api(api: httpx.Client, source: Path) -> None:
    table = TABLE.replace(b",m,", b",Batch,").replace(b",", b";")
    asked = ("--columns", "bound,levers.m.speedup", "--map", "Batch:m", "--sep", ";", "--decimal", ",")
    ended = roofline("batch", "--format", "csv", *asked, stdin=table)
    query = {"columns": "bound,levers.m.speedup", "map": "Batch:m", "sep": ";", "decimal": ","}
    assert ended.output == api.post("/v1/batches", params=query, content=table, headers=CSV).content
    assert b";compute;1,0;" in ended.output


def test_a_refusal_is_the_problem_of_the_api(api: httpx.Client, source: Path) -> None:
    ended = roofline("batch", str(source), "--on-error", "fail")
    problem = api.post("/v1/batches?on_error=fail", content=TABLE, headers=CSV).json()
    del problem["request_id"]
    assert (ended.status, ended.output, json.loads(ended.words)) == (2, b"", problem)
    assert problem["errors"][0]["pointer"] == "/rows/1/m"


def test_a_file_that_is_there_is_replaced_only_on_request(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "answered.ndjson"
    target.write_text("mine")
    again = roofline("batch", str(source), "-o", str(target))
    assert (again.status, target.read_text()) == (2, "mine")
    assert again.words == f"roofline: Invalid value for -o: the file is there already; --force replaces it{ADVICE}"
    assert roofline("batch", str(source), "-o", str(target), "--force").status == 0
    assert target.read_text().startswith('{"layer":"up"')


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("plan.txt",), "Invalid value for FILE: the name of a table ends in one of .csv, .xlsx, .ndjson, .json, .arrows"),
        ((), "Invalid value for --format: say in which format the table is piped in: csv, xlsx, ndjson, json, columns, arrow"),
        (("--format", "cvs"), "Invalid value for --format: the formats are csv, xlsx, ndjson, json, columns, arrow; perhaps csv is meant"),
        (("none.csv",), "Invalid value for FILE: the file cannot be read: No such file or directory"),
        (("--format", "csv", "-o", "none/a.csv"), "Invalid value for -o: the file cannot be written: No such file or directory"),
    ],
)
def test_what_cannot_be_meant_is_one_line(arguments: tuple[str, ...], words: str) -> None:
    ended = roofline("batch", *arguments, stdin=TABLE)
    assert (ended.status, ended.output, ended.words) == (2, b"", f"roofline: {words}{ADVICE}")


def test_a_terminal_sees_how_far_it_is(source: Path, tmp_path: Path) -> None:
    ended = on_terminal("batch", str(source), "-o", str(tmp_path / "answered.csv"))
    assert ended.status == 0
    assert "2/2" in plain(ended)
