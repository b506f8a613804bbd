"""Labels and notes are anybody's words: they come back exactly as they were, or are refused; on both databases."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, closing

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from service.api.app import create_app
from service.catalogue import Catalogue
from service.settings import Settings
from service.storage import Database, open_database

from ..postgres import PostgresServer
from .conftest import Client

QUESTION = {"op": {"kind": "dot", "n": 7, "dtype": "fp32"}, "target": {"chip": "nvidia-h100-sxm"}}
HOSTILE = (
    "=1+1",
    "@SUM(A1)",
    "\u202eevil\u202c",
    "שלום مرحبا",
    "😀👩‍👩‍👧‍👦\U0010ffff",
    "e\u0301 é \ufb01 Å \u212b",
    "\\ \\\\ \\u0041 \\n",
    "\"'`;--",
    "%00 %s {0} ${x} %_",
    "\ufeff\u2028\u2029\u00a0\u200b",
    "a:b:c",
    "<script>",
)
CONTROL = st.characters(codec="utf-8", categories=["Cc"])
WORDS = st.one_of(
    st.sampled_from(HOSTILE),
    st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=40),
    st.text("\\\"'%_=+:é😀", max_size=12),
)
KEYS = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,62}", fullmatch=True)


@pytest.fixture(scope="module")
def clients(
    settings: Settings, catalogue: Catalogue, shared_database: Database, postgres_server: PostgresServer, postgres_at_head: str
) -> Iterator[list[Client]]:
    """One of each database."""
    url = postgres_server.create_database(template=postgres_at_head)
    with ExitStack() as stack:
        stack.callback(postgres_server.drop_database, url)
        postgres = stack.enter_context(closing(open_database(url, None)))
        yield [
            stack.enter_context(closing(Client(create_app(settings, catalogue=catalogue, database=each))))
            for each in (shared_database, postgres)
        ]


def changed(client: Client, path: str, body: object) -> tuple[int, object]:
    answer = client.request("PATCH", path, content=json.dumps(body), headers={"if-match": "*", "content-type": "application/json"})
    return answer.status_code, answer.json()


@settings(max_examples=30)
@example(key="k", label="é\u0301", note="=1+1")
@given(key=KEYS, label=WORDS, note=WORDS)
def test_words_come_back_as_they_were(clients: list[Client], key: str, label: str, note: str) -> None:
    for client in clients:
        path = client.post("/v1/analyses", json=QUESTION).headers["location"]
        changed(client, path, {"labels": None})
        status, body = changed(client, path, {"labels": {key: label}, "note": note})
        read = client.get(path).json()
        assert (status, body) == (200, read)
        assert (read["labels"], read["note"]) == ({key: label}, note)
        (item,) = client.get("/v1/analyses", params={"label": f"{key}:{label}"}).json()["items"]
        assert (item["id"], item["labels"], item["note"]) == (read["id"], {key: label}, note)


@settings(max_examples=20)
@given(words=st.tuples(WORDS, st.one_of(CONTROL, st.characters(categories=["Cs"])), WORDS), place=st.sampled_from(["label", "note", "key"]))
def test_control_characters_and_half_characters_are_refused(clients: list[Client], words: tuple[str, str, str], place: str) -> None:
    text = "".join(words)
    body = {"label": {"labels": {"k": text}}, "key": {"labels": {text: "v"}}, "note": {"note": text}}[place]
    for client in clients:
        path = client.post("/v1/analyses", json=QUESTION).headers["location"]
        before = client.get(path).content
        status, problem = changed(client, path, body)
        assert isinstance(problem, dict)
        assert (status, problem["code"]) == (400, "malformed-json")
        assert text not in problem["detail"]
        assert client.get(path).content == before
