"""Users' own chips and systems over HTTP, on both databases: made, revised, copied, deleted, and seen wherever the shipped ones are."""

from __future__ import annotations

import json
from collections.abc import Iterator
from io import BytesIO
from typing import Any
from zipfile import ZipFile

import pytest

from service.api.app import create_app
from service.catalogue import Catalogue
from service.settings import Settings
from service.storage import Database, migrate, open_database

from .conftest import Client
from .hardware import CHIP, NEW, SHEET, chip, create, put, value
from .test_every_route import faults, problem

PATH = "/v1/chips/next-one"
OP = {"kind": "matmul", "m": 64, "k": 8192, "n": 8192, "dtype": "bf16"}


@pytest.fixture(scope="module")
def alone(settings: Settings, catalogue: Catalogue, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A service on SQLite for the tests here that make entries of their own names."""
    database = open_database(None, tmp_path_factory.mktemp("own"))
    migrate.ensure(database)
    client = Client(create_app(settings, catalogue=catalogue, database=database))
    yield client
    client.close()
    database.close()


@pytest.fixture
def own(settings: Settings, catalogue: Catalogue, database: Database) -> Iterator[Client]:
    """A service with a database of its own, once of each kind."""
    client = Client(create_app(settings, catalogue=catalogue, database=database))
    yield client
    client.close()


def evaluate(client: Client, chip_id: Any, **more: Any) -> Any:
    answer = client.post("/v1/evaluate", json={"op": OP, "target": {"chip": chip_id, **more}})
    assert answer.status_code == 200, answer.text
    return answer.json()


def without_assumed(answer: Any) -> dict[str, Any]:
    """The result, but for how the chip was named."""
    return {name: each for name, each in answer["result"].items() if name != "assumed"}


def test_a_chip_that_does_not_exist_yet_is_added_asked_revised_and_asked_again(own: Client) -> None:
    made = create(own, PATH, CHIP)
    read = own.get(PATH)
    assert (made.headers["location"], made.headers["etag"], made.content) == (PATH, read.headers["etag"], read.content)
    assert {name: read.json()[name] for name in ("id", "ref", "origin", "revision", "reason", "confidence", "name")} == {
        "id": "next-one",
        "ref": "next-one@1",
        "origin": "own",
        "revision": 1,
        "reason": "announced",
        "confidence": "low",
        "name": "Next One",
    }
    assert read.json()["hbm"]["bandwidth_bytes_per_s"] == {
        "value": 2_000_000_000_000,
        "unit": "B/s",
        "stated": {"value": 2.0, "unit": "TB/s"},
        "sources": [{"key": SHEET, "title": "Next One, data sheet", "publisher": "Example", "date_read": "2026-11-02"}],
        "confidence": "medium",
    }
    assert own.get(PATH, headers={"if-none-match": read.headers["etag"]}).status_code == 304
    kept = own.post("/v1/analyses", json={"op": OP, "target": {"chip": "next-one"}})
    assert kept.json()["question"]["target"] == {"chip": "next-one@1"}
    assert kept.json()["result"]["layers"]["hbm"]["time_s"] == 136_314_880 / 2e12

    change = {"base": "next-one", "hbm": {"bandwidth": value(4, "TB/s")}, "reason": "the memory that was built in"}
    revised = put(own, PATH, change, if_match=read.headers["etag"])
    assert (revised.status_code, revised.json()["ref"], revised.json()["base"]) == (200, "next-one@2", "next-one@1")
    assert "location" not in revised.headers
    assert own.get(PATH).content == revised.content
    assert own.get(f"{PATH}@1").content == read.content
    before, after = evaluate(own, "next-one@1"), evaluate(own, "next-one")
    assert without_assumed(before) == without_assumed(kept.json())
    assert after["target"] == {"chip": "next-one@2"}
    assert after["result"]["layers"]["hbm"]["time_s"] == 136_314_880 / 4e12
    assert (before["target_digest"] == after["target_digest"], before["input_digest"] == after["input_digest"]) == (False, True)
    assert own.get(f"/v1/analyses/{kept.json()['id']}").content == kept.content

    first, second = own.get(f"{PATH}/revisions").json()["items"]
    assert (first["revision"], first["reason"], first["changes"]) == (1, "announced", None)
    assert (second["revision"], second["reason"]) == (2, "the memory that was built in")
    assert second["changes"] == [
        {
            "field": "hbm.bandwidth_bytes_per_s",
            "before": {
                "value": 2_000_000_000_000,
                "unit": "B/s",
                "stated": {"value": 2.0, "unit": "TB/s"},
                "confidence": "medium",
                "sources": [SHEET],
            },
            "after": {
                "value": 4_000_000_000_000,
                "unit": "B/s",
                "stated": {"value": 4, "unit": "TB/s"},
                "confidence": "low",
                "sources": [SHEET],
            },
        }
    ]


def test_who_writes_says_what_is_expected_to_be_there(own: Client) -> None:
    problem(put(own, PATH, CHIP), 428, "precondition-required")
    problem(put(own, PATH, CHIP, if_match="*"), 412, "precondition-failed")
    problem(put(own, PATH, CHIP, if_match='"0123"'), 412, "precondition-failed")
    assert list(faults(put(own, PATH, CHIP, if_none_match='"0123"'), "out-of-range")) == [("/header/If-None-Match", "out-of-range")]
    tag = create(own, PATH, CHIP).headers["etag"]
    problem(put(own, PATH, CHIP, if_none_match="*"), 412, "precondition-failed")
    problem(put(own, PATH, CHIP, if_match=f"W/{tag}"), 412, "precondition-failed")
    problem(own.request("DELETE", PATH), 428, "precondition-required")
    problem(own.request("DELETE", PATH, headers={"if-match": '"0123"'}), 412, "precondition-failed")
    assert put(own, PATH, chip(revision=2, id="next-one"), if_match=tag).json()["ref"] == "next-one@2"
    problem(put(own, PATH, CHIP, if_match=tag), 412, "precondition-failed")
    assert list(faults(put(own, PATH, chip(revision=2), if_match="*"), "out-of-range")) == [("/revision", "out-of-range")]
    assert len(own.get(f"{PATH}/revisions").json()["items"]) == 2


def test_a_deleted_chip_is_known_by_its_revisions_alone_until_it_is_made_again(own: Client) -> None:
    tag = create(own, PATH, CHIP).headers["etag"]
    before = own.get(f"{PATH}@1")
    kept = own.post("/v1/analyses", json={"op": OP, "target": {"chip": "next-one"}})
    assert own.request("DELETE", PATH, headers={"if-match": tag}).status_code == 204
    gone = problem(own.post(f"{kept.headers['location']}/recompute"), 409, "conflict")
    assert str(gone["detail"]).endswith("its revisions can still be named.")
    problem(own.get(PATH), 404, "not-found")
    problem(own.request("DELETE", PATH, headers={"if-match": "*"}), 404, "not-found")
    problem(put(own, PATH, CHIP, if_match=tag), 412, "precondition-failed")
    refused = own.post("/v1/evaluate", json={"op": OP, "target": {"chip": "next-one"}})
    assert list(faults(refused, "unknown-chip")) == [("/target/chip", "unknown-chip")]
    assert own.get(f"{PATH}@1").content == before.content
    assert evaluate(own, "next-one@1")["target"] == {"chip": "next-one@1"}
    assert refused.json()["errors"][0]["suggestions"] == ["next-one@1"]
    assert [each["id"] for each in own.get("/v1/analyses?chip=next-one").json()["items"]] == [kept.json()["id"]]
    assert not [each for each in own.get("/v1/chips?limit=200").json()["items"] if each["id"] == "next-one"]
    again = create(own, PATH, chip(reason="built after all"))
    assert again.json()["ref"] == "next-one@2"
    assert [each["reason"] for each in own.get(f"{PATH}/revisions").json()["items"]] == ["announced", "built after all"]


@pytest.mark.parametrize(("path", "way"), [("/v1/chips/nvidia-h100-sxm", "nvidia-h100-sxm"), ("/v1/clusters/hgx-h100-8@1", "hgx-h100-8")])
def test_what_is_shipped_is_read_only_and_the_refusal_says_how_to_copy_it(client: Client, path: str, way: str) -> None:
    for answer in (put(client, path, {"reason": "mine"}, if_match="*"), client.request("DELETE", path, headers={"if-match": "*"})):
        assert f'{{"base": "{way}", "reason": "…"}}' in str(problem(answer, 403, "read-only")["detail"])


def test_a_what_if_is_kept_as_it_is_asked_in_place(alone: Client) -> None:
    """The copy answers as the chip in place does: measured times of its base serve for both."""
    what_if = {"base": "nvidia-h100-sxm", "hbm": {"bandwidth_bytes_per_s": 4.8e12}}
    made = create(alone, "/v1/chips/h100-faster", {**what_if, "reason": "What if the memory were faster?"}).json()
    assert (made["base"], made["numbers"]["hbm"]["bandwidth_bytes_per_s"]) == ("nvidia-h100-sxm@1", 4_800_000_000_000)
    assert made["hbm"]["bandwidth_bytes_per_s"] == {
        "value": 4_800_000_000_000,
        "unit": "B/s",
        "stated": {"value": 4.8e12, "unit": "B/s"},
        "sources": [{"key": "what-if", "title": "What-if: a number that was assumed", "publisher": "whoever added the entry"}],
        "confidence": "low",
        "note": "What if the memory were faster?",
    }
    in_place, copied = evaluate(alone, what_if), evaluate(alone, "h100-faster")
    assert without_assumed(copied) == without_assumed(in_place)
    assert copied["target_digest"] == in_place["target_digest"]


def test_an_entry_is_seen_wherever_the_shipped_ones_are(alone: Client) -> None:
    create(alone, PATH, CHIP)
    create(alone, "/v1/clusters/next-rack", {"base": "hgx-h100-8", "chip": "next-one", "reason": "a rack of it"})
    assert [each["id"] for each in alone.get("/v1/chips?vendor=example&text=next&dtype=fp8").json()["items"]] == ["next-one"]
    assert "next-rack" in [each["id"] for each in alone.get("/v1/clusters?limit=200").json()["items"]]
    assert alone.get("/v1/charts/roofline?chip=next-one&dtype=bf16").json()["ridges"][0]["x"] == 200.0
    assert "next-one" in alone.get("/v1/chips?format=csv&limit=200").text
    cell = alone.get("/v1/cell/bound?op=matmul&m=64&k=8192&n=8192&dtype=bf16&chip=next-one")
    assert (cell.text, cell.headers["cache-control"]) == ("hbm", "private, no-cache")
    pinned = alone.get("/v1/cell/bound?op=matmul&m=64&k=8192&n=8192&dtype=bf16&chip=next-one@1")
    assert (pinned.text, pinned.headers["cache-control"]) == ("hbm", "private, max-age=3600")
    rows = [
        {"op": "matmul", "m": 64, "k": 8192, "n": 8192, "dtype": "bf16", "chip": name} for name in ("next-one", "next-one@1", "next-zero")
    ]
    answered = alone.post("/v1/batches", json=rows).json()
    assert [(each["bound"], each["error_code"]) for each in answered] == [("hbm", None), ("hbm", None), (None, "unknown-chip")]
    with ZipFile(BytesIO(alone.get("/v1/batches/template.xlsx?op=matmul").content)) as workbook:
        assert any(b"next-one" in workbook.read(name) for name in workbook.namelist())
    mesh = {"cluster": "next-rack", "sizes": {"gpu": 8}}
    assert evaluate(alone, "next-one", mesh=mesh)["result"]["devices"] == 8
    ranked = alone.post(
        "/v1/rank", json={"op": OP, "candidates": [{"id": name, "target": {"chip": name}} for name in ("next-one", "nvidia-h100-sxm")]}
    ).json()
    assert [each["id"] for each in ranked["items"]] == ["nvidia-h100-sxm", "next-one"]
    everywhere = alone.post("/v1/compare", json={"cases": [{"op": OP}], "chips": "all"}).json()
    assert "next-one" in json.dumps(everywhere)


def test_what_users_add_changes_no_answer_for_a_shipped_chip(alone: Client) -> None:
    """Chips of one die lend numbers to each other, but own ones lend none."""
    before = evaluate(alone, "nvidia-h800-sxm")
    digest = alone.get("/v1/meta").json()["catalogue_digest"]
    create(alone, "/v1/chips/a-first-of-all", {"base": "nvidia-h100-sxm", "hbm": {"bandwidth_bytes_per_s": 4.8e12}, "reason": "what if"})
    after = evaluate(alone, "nvidia-h800-sxm")
    assert alone.get("/v1/meta").json()["catalogue_digest"] == after.pop("catalogue_digest") != digest == before.pop("catalogue_digest")
    assert after == before


def test_an_implausible_value_is_refused_unless_a_reason_is_given_which_is_kept_and_shown(alone: Client) -> None:
    """2,000 TB/s are the data sheet's GB/s under another unit."""
    path = "/v1/chips/wafer"
    slip = chip(hbm={**CHIP["hbm"], "bandwidth": value(2000, "TB/s")})
    answer = put(alone, path, slip, if_none_match="*")
    assert list(faults(answer, "implausible-value")) == [("/hbm/bandwidth", "implausible-value")]
    assert "override" in answer.json()["errors"][0]["detail"]
    made = create(alone, path, {**slip, "override": "The whole memory is on the wafer."})
    assert made.json()["override"] == "The whole memory is on the wafer."
    assert create(alone, "/v1/chips/wafer-two", {"base": "wafer", "reason": "a copy"}).json()["override"] == made.json()["override"]
    sparse = {"base": "wafer", "peak_flops_per_s": {"fp8": 1.6e15}, "reason": "a copy"}
    assert list(faults(put(alone, "/v1/chips/wafer-three", sparse, if_none_match="*"), "implausible-value")) == [
        ("/compute/fp8", "implausible-value")
    ]
    right = {"base": "wafer", "hbm": {"bandwidth": value(2, "TB/s")}, "reason": "nothing is odd any more"}
    assert "override" not in create(alone, "/v1/chips/wafer-four", right).json()


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"l2": None}, ("/l2", "wrong-type")),
        ({"peak_flops_per_s": None}, ("/peak_flops_per_s", "wrong-type")),
        ({"hbm": {"capacity_bytes": None}}, ("/hbm/capacity_bytes", "wrong-type")),
        ({"compute": None, "peak_flops_per_s": {"bf16": 2e15}}, ("/peak_flops_per_s/bf16", "invalid-request")),
        ({"on_chip": [], "on_chip_bytes_per_core": 65536}, ("/on_chip_bytes_per_core", "invalid-request")),
        ({"reason": "  "}, ("/reason", "out-of-range")),
        ({"vectro": None}, ("/vectro", "unknown-member")),
        ({"hbm": {"bandwith": None}}, ("/hbm/bandwith", "unknown-member")),
        ({"compute": {"bf17": None}}, ("/compute/bf17", "wrong-type")),
    ],
)
def test_nothing_of_a_what_if_is_passed_over(client: Client, changes: dict[str, Any], expected: tuple[str, str]) -> None:
    answer = put(client, PATH, {"base": "nvidia-h100-sxm", "reason": "what if", **changes}, if_none_match="*")
    assert list(faults(answer, expected[1])) == [expected]


def test_a_system_outlives_its_chip_and_is_asked_with_a_revision_of_it(alone: Client) -> None:
    create(alone, "/v1/chips/gone-soon", CHIP)
    create(alone, "/v1/clusters/gone-rack", {"base": "hgx-h100-8", "chip": "gone-soon", "reason": "a rack of it"})
    mesh = {"cluster": "gone-rack", "sizes": {"gpu": 8}}
    before = evaluate(alone, "gone-soon@1", mesh=mesh)
    assert alone.request("DELETE", "/v1/chips/gone-soon", headers={"if-match": "*"}).status_code == 204
    assert evaluate(alone, "gone-soon@1", mesh=mesh)["result"] == before["result"]
    assert alone.get("/v1/clusters/gone-rack?format=csv").status_code == 200


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"hbm": {**CHIP["hbm"], "bandwidth": value(-1, "TB/s")}}, [("/hbm/bandwidth/value", "out-of-range")]),
        ({"hbm": {**CHIP["hbm"], "bandwidth": value(0, "TB/s")}}, [("/hbm/bandwidth/value", "out-of-range")]),
        ({"hbm": {**CHIP["hbm"], "bandwidth": value(1e300, "TB/s")}, "override": "x"}, [("/hbm/bandwidth/value", "out-of-range")]),
        ({"hbm": {**CHIP["hbm"], "bandwidth": value(1e-300, "TB/s")}, "override": "x"}, [("/hbm/bandwidth/value", "out-of-range")]),
        ({"hbm": {**CHIP["hbm"], "bandwidth": value(True, "TB/s")}}, [("/hbm/bandwidth/value", "wrong-type")]),
        ({"hbm": {**CHIP["hbm"], "bandwidth": value("2", "TB/s")}}, [("/hbm/bandwidth/value", "wrong-type")]),
        ({"hbm": {**CHIP["hbm"], "bandwidth": value(2, "TB")}}, [("/hbm/bandwidth/unit", "out-of-range")]),
        ({"hbm": {**CHIP["hbm"], "bandwidth": {"value": 2, "unit": "TB/s"}}}, [("/hbm/bandwidth/source", "missing")]),
        ({"hbm": {**CHIP["hbm"], "bandwidth": 2e12}}, [("/hbm/bandwidth", "wrong-type")]),
        ({"hbm": {**CHIP["hbm"], "bandwith": value(2, "TB/s")}}, [("/hbm/bandwith", "unknown-member")]),
        ({"cores": {"name": "core", "count": value(1.5, "count")}}, [("/cores/count/value", "out-of-range")]),
        ({"compute": {"bf61": value(400, "TFLOP/s")}}, [("/compute/bf61", "unknown-dtype")]),
        ({"launch_year": "2027"}, [("/launch_year", "wrong-type")]),
        ({"kind": "abacus"}, [("/kind", "out-of-range")]),
        ({"name": "  "}, [("/name", "out-of-range")]),
        ({"date": "tomorrow"}, [("/date", "wrong-type")]),
        ({"colour": "green"}, [("/colour", "unknown-member")]),
        ({"id": "next-two"}, [("/id", "out-of-range")]),
        ({"revision": 7}, [("/revision", "out-of-range")]),
        ({"base": "next-zero"}, [("/base", "unknown-chip")]),
        ({"base": "nvidia-h100-sxm@9"}, [("/base", "unknown-revision")]),
        ({"reason": ""}, [("/reason", "out-of-range")]),
        ({"sources": {}}, [(f"/{path}/source", "missing") for path in ("compute/bf16", "compute/fp8", "vector/fp32")]),
        ({"sources": {**CHIP["sources"], "other": CHIP["sources"][SHEET]}}, [("/sources/other", "invalid-request")]),
        ({"sources": {SHEET: {"title": "x", "publisher": "y", "url": "file:///etc/passwd"}}}, [(f"/sources/{SHEET}/url", "out-of-range")]),
        ({"sources": {SHEET: {"title": "x", "publisher": "y", "read": 20261102}}}, [(f"/sources/{SHEET}/read", "wrong-type")]),
        ({"sources": {f"s{n}": CHIP["sources"][SHEET] for n in range(501)}}, [("/sources", "out-of-range")]),
        ({"vector": {"fp32": value(25, "TFLOP/s", source=["s"] * 100)}}, [("/vector/fp32/source", "out-of-range")]),
        (
            {"on_chip": [{"name": "L2", "scope": "chip"}] * 2},
            [("/on_chip/0/name", "invalid-request"), ("/on_chip/1/name", "invalid-request")],
        ),
    ],
)
def test_what_is_wrong_is_pointed_at_and_nothing_is_kept(client: Client, changes: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    answer = put(client, PATH, chip(**changes), if_none_match="*")
    codes = {code for _, code in expected}
    found = list(faults(answer, codes.pop() if len(codes) == 1 else "invalid-request"))
    assert found[: len(expected)] == expected
    assert client.get(PATH).status_code == 404


@pytest.mark.parametrize(
    "name", ["Next-One", "next one", "next_one", "näxt", "-next", "next--one", "next-one@2", "a" * 101, "all", "none", "%F0%9F%92%A5"]
)
def test_names_are_slugs(client: Client, name: str) -> None:
    assert list(faults(client.request("PUT", f"/v1/chips/{name}", json=CHIP, headers=NEW), "out-of-range")) == [
        ("/path/ref", "out-of-range")
    ]


@pytest.mark.parametrize(
    ("text", "status", "code"),
    [
        ('{"reason": "x", "hbm": ' + '{"a":' * 40 + "1" + "}" * 40 + "}", 400, "too-deep"),
        ('{"reason": "x", "launch_year": NaN}', 400, "malformed-json"),
        ('{"reason": "x", "reason": "y"}', 400, "malformed-json"),
        ('{"reason": "\\ud800"}', 400, "malformed-json"),
        ('{"reason": "a\\u0000b"}', 400, "malformed-json"),
        ('{"reason": 1e999}', 422, "not-finite"),
        ("[]", 422, "wrong-type"),
    ],
)
def test_hostile_texts_are_refused(client: Client, text: str, status: int, code: str) -> None:
    headers = {**NEW, "content-type": "application/json"}
    problem(client.request("PUT", PATH, content=text.encode(), headers=headers), status, code)


def test_a_hundred_thousand_sources_are_refused_at_once(alone: Client) -> None:
    answer = put(alone, "/v1/chips/wordy", chip(sources=dict.fromkeys(map(str, range(100_000)), 0)), if_none_match="*")
    assert list(faults(answer, "out-of-range")) == [("/sources", "out-of-range")]
    long = put(
        alone,
        "/v1/chips/wordy",
        chip(notes=["x" * 1900] * 100, alternatives=[], hbm={**CHIP["hbm"], "type": "y" * 1900}),
        if_none_match="*",
    )
    assert long.status_code == 201, long.text
    assert alone.request("DELETE", "/v1/chips/wordy", headers={"if-match": "*"}).status_code == 204


def test_a_system_of_an_unknown_chip_is_refused(client: Client) -> None:
    answer = put(client, "/v1/clusters/rack", {"base": "hgx-h100-8", "chip": "next-zero", "reason": "x"}, if_none_match="*")
    assert list(faults(answer, "unknown-chip")) == [("/chip", "unknown-chip")]
    answer = put(client, "/v1/clusters/rack", {"base": "hgx-h100-8", "axes": [], "reason": "x"}, if_none_match="*")
    assert list(faults(answer, "out-of-range")) == [("/axes", "out-of-range")]
