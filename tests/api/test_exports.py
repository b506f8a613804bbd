"""Lists, single resources, comparisons and charts as CSV and XLSX: the same as in JSON, with units, sources and file names."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

import httpx
import openpyxl
import pytest

from service import __version__
from service.analysis.sheets.answers import SUMMARY
from service.analysis.sheets.rows import row
from service.catalogue import Catalogue
from service.engine import ENGINE_VERSION
from service.tables.formats import FORMATS
from service.tables.table import Table

from .conftest import Client
from .test_every_route import problem

XLSX = FORMATS["xlsx"].media_types[0]
LAYER = {"kind": "matmul", "m": 64, "k": 8192, "n": 8192, "dtype": "bf16"}
H100, TPU = {"chip": "nvidia-h100-sxm"}, {"chip": "google-tpu-v5e"}
COMPARISON = {"cases": [{"op": LAYER, "target": H100}, {"op": {**LAYER, "m": 512}, "target": TPU}]}
CASES = {"cases": [{"op": LAYER, "target": H100, "measured_s": 1e-3}, {"op": LAYER, "target": TPU}], "points": 4}
ROOF = "/v1/charts/roofline?chip=google-tpu-v5e&dtype=bf16&points=3"
OPS = {
    "ops": [{**LAYER, "count": 2}, {"kind": "copy", "rows": 4, "cols": 8, "dtype": "bf16", "count": 1}],
    "target": H100,
    "labels": {"team": "=plan"},
    "note": "=1+1",
}
Asked = tuple[str, str, Any]
QUESTIONS: list[Asked] = [
    ("GET", "/v1/chips?limit=5", None),
    ("GET", "/v1/chips/nvidia-h100-sxm", None),
    ("GET", "/v1/clusters", None),
    ("GET", "/v1/clusters/hgx-h100-8", None),
    ("GET", "/v1/analyses", None),
    ("GET", "/v1/analyses/{id}", None),
    ("POST", "/v1/compare", COMPARISON),
    ("GET", ROOF, None),
    ("POST", "/v1/charts/roofline", CASES),
]
NAMES = ["chips", "nvidia-h100-sxm", "clusters", "hgx-h100-8", "analyses", "{id}", "comparison", "chart", "chart"]


@pytest.fixture(scope="module")
def kept(client: Client) -> str:
    name: str = client.post("/v1/analyses", json=OPS).json()["id"]
    return name


def ask(client: Client, asked: Asked, kept: str, form: str | None = None, accept: str = "*/*") -> httpx.Response:
    method, path, body = asked
    path = path.format(id=kept)
    path += "" if form is None else f"{'&' if '?' in path else '?'}format={form}"
    return client.request(method, path, json=body, headers={"accept": accept})


def table(answer: httpx.Response) -> Table:
    """The table of an answer; cells of CSV as numbers where they are."""
    assert answer.status_code == 200, answer.text
    name = "csv" if answer.headers["content-type"].startswith("text/csv") else "xlsx"
    read = FORMATS[name].read(answer.content)
    return Table(tuple(title.partition(" [")[0] for title in read.header), tuple(read.typed(cells) for cells in read.columns))


def lines(found: Table) -> list[dict[str, Any]]:
    return [dict(zip(found.header, cells, strict=True)) for cells in zip(*found.columns, strict=True)]


def shown(document: dict[str, Any], form: str) -> dict[str, Any]:
    """The cells of a document as they are read back: CSV knows neither truth nor emptiness from text."""
    if form == "xlsx":
        return {name: cell for name, cell in row(document).items() if cell not in (None, "")}
    return {name: str(cell).lower() if isinstance(cell, bool) else cell for name, cell in row(document).items() if cell not in (None, "")}


def filled(line: dict[str, Any]) -> dict[str, Any]:
    return {name: cell for name, cell in line.items() if cell not in (None, "")}


def provenance(answer: httpx.Response) -> list[tuple[str, str]]:
    sheet = openpyxl.load_workbook(io.BytesIO(answer.content))["provenance"]
    return [(str(name), str(text)) for name, text in sheet.iter_rows(values_only=True)]


@pytest.mark.parametrize("asked", QUESTIONS)
def test_json_unless_a_table_is_wanted(client: Client, kept: str, asked: Asked) -> None:
    for form, accept, sent in [
        (None, "*/*", "application/json"),
        (None, "", "application/json"),
        (None, "text/html, */*;q=0.5", "application/json"),
        (None, "text/csv, application/json;q=0.9", "text/csv; charset=utf-8"),
        (None, "text/*", "text/csv; charset=utf-8"),
        (None, XLSX, XLSX),
        ("csv", "text/html, */*;q=0.1", "text/csv; charset=utf-8"),
        ("xlsx", "*/*", XLSX),
        ("json", "text/csv, application/json", "application/json"),
    ]:
        answer = ask(client, asked, kept, form, accept)
        assert (answer.status_code, answer.headers["content-type"], answer.headers["vary"]) == (200, sent, "Accept")
    problem(ask(client, asked, kept, "csv", "application/json"), 406, "not-acceptable")
    problem(ask(client, asked, kept, None, "application/vnd.oasis.opendocument.spreadsheet"), 406, "not-acceptable")


@pytest.mark.parametrize(("asked", "name"), list(zip(QUESTIONS, NAMES, strict=True)))
@pytest.mark.parametrize("form", ["csv", "xlsx"])
def test_a_table_is_a_file_with_a_plain_name(client: Client, kept: str, asked: Asked, name: str, form: str) -> None:
    answer = ask(client, asked, kept, form)
    assert answer.headers["content-disposition"] == f'attachment; filename="roofline-{name.format(id=kept)}.{form}"'
    if asked[0] == "GET":
        head = client.request("HEAD", str(answer.request.url))
        assert (head.status_code, head.content, head.headers["content-type"]) == (200, b"", answer.headers["content-type"])


@pytest.mark.parametrize("form", ["csv", "xlsx"])
@pytest.mark.parametrize("path", ["/v1/chips?limit=200", "/v1/clusters", "/v1/chips?vendor=google&limit=3"])
def test_a_list_holds_what_json_does(client: Client, path: str, form: str) -> None:
    found = lines(table(ask(client, ("GET", path, None), "", form)))
    assert [filled(line) for line in found] == [shown(item, form) for item in client.get(path).json()["items"]]


def test_units_stand_in_the_header(client: Client) -> None:
    header = client.get("/v1/chips?format=csv&limit=1").text.split("\r\n")[0].split(",")
    assert header[:3] == ["id", "ref", "digest"]
    assert {"peak_flops_per_s.bf16 [FLOP/s]", "hbm.capacity_bytes [B]", "ridge_flops_per_byte.matrix.bf16 [FLOP/B]", "cores"} <= set(header)
    sheet = openpyxl.load_workbook(io.BytesIO(client.get("/v1/chips?format=xlsx&limit=1").content))["table"]
    assert [cell.value for cell in sheet[1]] == header


def test_every_page_has_the_same_columns_and_leads_to_the_next(client: Client) -> None:
    path, pages = "/v1/chips?limit=20&format=csv&kind=gpu", []
    while path:
        answer = client.get(path)
        pages.append(list(csv.reader(io.StringIO(answer.text))))
        found = re.fullmatch(r'<(/v1/chips\?[^>]*)>; rel="next"', answer.headers.get("link", ""))
        path = found[1] if found else ""
    assert len({tuple(page[0]) for page in pages}) == 1
    items = client.get("/v1/chips?limit=200&kind=gpu").json()["items"]
    assert [line[0] for page in pages for line in page[1:]] == [item["id"] for item in items]
    assert len(pages) > 1


def test_a_cursor_serves_every_form(client: Client) -> None:
    cursor = client.get("/v1/chips?limit=2").json()["next_cursor"]
    behind = [item["id"] for item in client.get("/v1/chips", params={"limit": 2, "cursor": cursor}).json()["items"]]
    answer = client.get("/v1/chips", params={"limit": 2, "cursor": cursor, "format": "csv", "sep": "tab"})
    assert [line.split("\t")[0] for line in answer.text.split("\r\n")[1:-1]] == behind


@pytest.mark.parametrize("form", ["csv", "xlsx"])
@pytest.mark.parametrize("path", ["/v1/chips/nvidia-h100-sxm", "/v1/chips/google-tpu-v5p", "/v1/clusters/hgx-h100-8"])
def test_an_entry_tells_source_and_confidence_of_every_value(client: Client, catalogue: Catalogue, path: str, form: str) -> None:
    ref = path.rpartition("/")[2]
    record = catalogue.chip(ref, "") if "chips" in path else catalogue.cluster(ref, "")
    found = {line["path"]: line for line in lines(table(client.get(f"{path}?format={form}")))}
    values = dict(record.values())
    assert list(found) == list(values)
    for name, cell in values.items():
        line = found[name]
        assert (line["ref"], line["confidence"]) == (record.ref, cell["confidence"])
        assert all(source["title"] in line["sources"] for source in cell["sources"])
        assert (line["unit"] or None, line["note"] or None, line["derived"] or None) == tuple(map(cell.get, ("unit", "note", "derived")))
        if "unit" in cell:
            assert (line["value"], line["stated"], line["stated_unit"]) == (cell["value"], *cell["stated"].values())


@pytest.mark.parametrize("form", ["csv", "xlsx"])
@pytest.mark.parametrize("path", ["/v1/chips/nvidia-h100-sxm@1", "/v1/clusters/hgx-h100-8", "/v1/analyses/{id}"])
def test_a_single_table_has_a_tag_of_its_own_that_holds(client: Client, kept: str, path: str, form: str) -> None:
    path = path.format(id=kept)
    first, json = client.get(path, params={"format": form}), client.get(path)
    assert client.get(path, params={"format": form}).content == first.content
    assert first.headers["etag"] != json.headers["etag"]
    again = client.get(path, params={"format": form}, headers={"if-none-match": first.headers["etag"]})
    assert (again.status_code, again.content, again.headers["etag"], again.headers["vary"]) == (304, b"", first.headers["etag"], "Accept")
    assert client.get(path, headers={"if-none-match": first.headers["etag"]}).status_code == 200


@pytest.mark.parametrize("form", ["csv", "xlsx"])
def test_analyses_have_a_row_each_and_text_that_does_not_run(client: Client, kept: str, form: str) -> None:
    answer = ask(client, ("GET", "/v1/analyses?limit=200&kind=ops", None), kept, form)
    found = table(answer)
    items = client.get("/v1/analyses?limit=200&kind=ops").json()["items"]
    assert found.header == SUMMARY == tuple(items[0])
    assert [filled(line) for line in lines(found)] == [shown(item, form) for item in items]
    if form == "csv":
        assert ",'=1+1," in answer.text
    nothing = table(ask(client, ("GET", "/v1/analyses?kind=rope&label=nothing:such", None), kept, form))
    assert (nothing.header, nothing.rows) == (SUMMARY, 0)


@pytest.mark.parametrize("form", ["csv", "xlsx"])
def test_an_analysis_has_a_row_for_each_op(client: Client, kept: str, form: str) -> None:
    answer = client.get(f"/v1/analyses/{kept}").json()["answer"]
    beside = {name: answer[name] for name in answer.keys() - {"ops", "result"}}
    expected = [
        shown({"id": kept, "op": op, "result": result, **beside}, form)
        for op, result in zip(answer["ops"], answer["result"]["per_op"], strict=True)
    ]
    got = client.get(f"/v1/analyses/{kept}?format={form}")
    assert [filled(line) for line in lines(table(got))] == expected
    if form == "xlsx":
        about = provenance(got)
        assert ("totals.time.lower_s", repr(answer["result"]["totals"]["time"]["lower_s"])) in about
        assert {("note", "=1+1"), ("labels", '{"team":"=plan"}'), ("engine_version", answer["engine_version"])} <= set(about)


@pytest.mark.parametrize("form", ["csv", "xlsx"])
def test_a_comparison_has_a_row_for_each_case(client: Client, form: str) -> None:
    document = client.post("/v1/compare", json=COMPARISON).json()
    beside = {name: document[name] for name in document.keys() - {"cases", "excluded"}}
    found = lines(table(client.post(f"/v1/compare?format={form}", json=COMPARISON)))
    assert [filled(line) for line in found] == [shown({**case, **beside}, form) for case in document["cases"]]


def test_chips_that_cannot_run_a_case_follow_with_the_reason(client: Client) -> None:
    question = {"cases": [{"op": {**LAYER, "dtype": "fp8"}}], "chips": "all"}
    document = client.post("/v1/compare", json=question).json()
    found = lines(table(client.post("/v1/compare?format=csv", json=question)))
    cases, excluded = found[: len(document["cases"])], found[len(document["cases"]) :]
    assert not any(line["error_code"] for line in cases)
    assert [filled(line) for line in excluded] == [
        {"target.chip": each["chip"], "error_code": each["errors"][0]["code"], "error": each["errors"][0]["detail"]}
        for each in document["excluded"]
    ]
    assert excluded


@pytest.mark.parametrize("form", ["csv", "xlsx"])
def test_a_chart_has_its_lines_and_points_under_each_other(client: Client, form: str) -> None:
    document = client.post("/v1/charts/roofline", json=CASES).json()
    found = lines(table(client.post(f"/v1/charts/roofline?format={form}", json=CASES)))
    parts = {part: [line for line in found if line["part"] == part] for part in ("roof", "ridge", "point")}
    drawn = [(series["label"], x, y) for series in document["series"] for x, y in zip(series["x"], series["y"], strict=True)]
    assert [(line["label"], line["x"], line["y"]) for line in parts["roof"]] == drawn
    assert [(line["label"], line["x"], line["y"]) for line in parts["ridge"]] == [(r["label"], r["x"], r["y"]) for r in document["ridges"]]
    for line, point in zip(parts["point"], document["points"], strict=True):
        said = [point[name] for name in ("roof", "x", "y", "case", "bound", "measured_flops_per_s")]
        got = [line[name] or (0 if line[name] == 0 else None) for name in ("label", "x", "y", "case", "bound", "measured_flops_per_s")]
        assert got == said
    header = client.get(f"{ROOF}&format=csv").text.partition("\r\n")[0]
    assert header.startswith("part,label,x [FLOP/B],y [FLOP/s],kind")


@pytest.mark.parametrize("asked", [each for each in QUESTIONS if each[1] != "/v1/analyses/{id}"])
def test_a_workbook_says_where_its_numbers_come_from(client: Client, catalogue: Catalogue, kept: str, asked: Asked) -> None:
    pairs = provenance(ask(client, asked, kept, "xlsx"))
    about = dict(pairs)
    assert pairs[:3] == [
        ("service_version", __version__),
        ("engine_version", ENGINE_VERSION),
        ("catalogue_digest", catalogue.digest),
    ]
    is_single = re.fullmatch("/v1/(chips|clusters)/.+", asked[1]) is not None
    assert is_single or re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", about["asked_at"])
    sources = [text for name, text in pairs if name == "source"]
    assert len(sources) == len(set(sources))
    assert bool(sources) == ("/charts/" not in asked[1])
    if is_single:
        assert {"ref", "digest", "reason"} <= about.keys()


def test_sources_are_those_of_the_chips_that_are_shown(client: Client, catalogue: Catalogue) -> None:
    pairs = provenance(client.post("/v1/compare?format=xlsx", json=COMPARISON))
    titles = {work["title"] for name in ("nvidia-h100-sxm", "google-tpu-v5e") for work in catalogue.chip(name, "").works}
    assert all(any(text.startswith(title) for title in titles) for name, text in pairs if name == "source")
    assert len([name for name, _ in pairs if name == "source"]) == len(titles)


def test_csv_is_written_as_it_is_wanted(client: Client) -> None:
    plain = client.get(f"{ROOF}&format=csv").text
    german = client.get(f"{ROOF}&format=csv&decimal=,&bom=present")
    assert german.content.startswith(b"\xef\xbb\xbfpart;label;x [FLOP/B]")
    assert german.content.decode("utf-8-sig").replace(";", "\x00").replace(",", ".").replace("\x00", ",") == plain
    assert client.get(f"{ROOF}&format=csv&sep=tab").text == plain.replace(",", "\t")


@pytest.mark.parametrize(
    ("query", "pointer"),
    [
        ("format=ods", "/query/format"),
        ("format=CSV", "/query/format"),
        ("format=csv&sep=|", "/query/sep"),
        ("format=csv&sep=,&decimal=,", "/query/sep"),
        ("format=csv&decimal=point", "/query/decimal"),
        ("format=csv&bom=yes", "/query/bom"),
        ("sep=;", "/query/sep"),
        ("format=xlsx&bom=absent", "/query/bom"),
        ("format=json&decimal=.", "/query/decimal"),
    ],
)
def test_what_cannot_be_written_is_refused(client: Client, query: str, pointer: str) -> None:
    answer = client.get(f"/v1/chips?{query}")
    assert answer.status_code == 422
    assert [fault["pointer"] for fault in answer.json()["errors"]] == [pointer]
