"""Keys in addresses: for cells alone, of keys that can do nothing else, and seen by nobody but the service."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from service.api.app import create_app
from service.api.logs import open_log
from service.catalogue import Catalogue
from service.settings import Settings
from service.storage import Database

from .conftest import Client
from .holders import CELL, CHALLENGE, bearing, expired, issued, reached
from .test_every_route import faults, problem
from .test_logs import Reader, reader

__all__ = ["reader"]

CELLS = "/v1/cells.csv?metrics=bound&op=dot&n=1024&dtype=fp32&chip=nvidia-h100-sxm"


@pytest.fixture(scope="module")
def guarded(settings: Settings, catalogue: Catalogue, shared_database: Database) -> Iterator[Client]:
    with reached(settings, catalogue, shared_database) as client:
        yield client


@pytest.fixture(scope="module")
def token(shared_database: Database) -> str:
    return issued(shared_database, "cell").token


@pytest.mark.parametrize("address", [CELL, CELLS])
def test_a_cell_takes_a_key_in_its_address_or_in_the_header(guarded: Client, token: str, address: str) -> None:
    problem(guarded.get(address), 401, "unauthenticated")
    for answer in (guarded.get(f"{address}&key={token}"), guarded.get(address, headers=bearing(token))):
        assert (answer.status_code, answer.text) in {(200, "hbm"), (200, "hbm\r\n")}
        assert (answer.headers["cache-control"], answer.headers["vary"]) == ("private, max-age=3600", "Authorization")
        assert "ratelimit" in answer.headers
    again = guarded.get(f"{address}&key={token}", headers={"if-none-match": answer.headers["etag"]})
    assert (again.status_code, again.headers["cache-control"], again.headers["vary"]) == (304, "private, max-age=3600", "Authorization")


@pytest.mark.parametrize("name", ["key", "k%65y", "%6B%65%79"])
def test_however_its_name_is_spelled_it_is_a_key_and_no_member(guarded: Client, token: str, name: str) -> None:
    assert guarded.get(f"/v1/cell/bound?{name}={token}&{CELL.partition('?')[2]}").text == "hbm"
    assert guarded.get(f"{CELL}&{name}={token.replace('_', '%5F')}").text == "hbm"


def test_only_a_key_that_can_do_nothing_else_may_stand_in_an_address(guarded: Client, shared_database: Database) -> None:
    for scopes in (("evaluate",), ("cell", "read")):
        strong = issued(shared_database, *scopes).token
        answer = guarded.get(f"{CELL}&key={strong}")
        assert problem(answer, 403, "scope-missing")["detail"] == (
            "In an address only a key is taken whose one scope is `cell`. Send it as `Authorization: Bearer …`."
        )
        assert answer.headers["www-authenticate"] == f'{CHALLENGE}, error="insufficient_scope", scope="cell"'
        assert strong not in answer.text
        assert guarded.get(CELL, headers=bearing(strong)).text == "hbm"


def test_one_key_is_enough(guarded: Client, token: str) -> None:
    for answer in (
        guarded.get(f"{CELL}&key={token}&key={token}"),
        guarded.get(f"{CELL}&key={token}", headers=bearing(token)),
        guarded.request("GET", CELL, headers=[("authorization", f"Bearer {token}"), ("authorization", f"Bearer {token}")]),
    ):
        assert problem(answer, 401, "unauthenticated")["detail"] == "The request has more than one key; send one."


@pytest.mark.parametrize("sent", ["", "hunter2", "%00", "%ff", "rlk_" + "a" * 16 + "_" + "a" * 52])
def test_a_key_that_is_none_is_refused_everywhere(guarded: Client, client: Client, sent: str) -> None:
    for caller in (guarded, client):
        answer = caller.get(f"{CELL}&key={sent}")
        assert problem(answer, 401, "unauthenticated")["detail"] == "This key is not in use: it is unknown, expired or revoked."
        assert not sent or sent not in answer.text


def test_a_sheet_that_wants_text_reads_why_its_key_is_refused(guarded: Client, shared_database: Database) -> None:
    answer = guarded.get(f"{CELL}&on_error=text&key={expired(shared_database, 'cell')}")
    assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-cache")
    assert answer.text == "#ERR unauthenticated: This key is not in use: it is unknown, expired or revoked."


@pytest.mark.parametrize("path", ["/v1/chips", "/v1/evaluate", "/v1/keys", "/v1/meta"])
def test_no_other_address_takes_a_key(guarded: Client, client: Client, shared_database: Database, token: str, path: str) -> None:
    method = "POST" if path == "/v1/evaluate" else "GET"
    assert list(faults(client.request(method, f"{path}?key={token}"), "unknown-parameter")) == [("/query/key", "unknown-parameter")]
    for sent in (token, issued(shared_database, "read", "evaluate", "admin").token):
        problem(guarded.request(method, f"{path}?key={sent}"), 401, "unauthenticated")


def test_a_key_in_an_address_is_in_no_log_no_count_and_no_answer(
    settings: Settings, catalogue: Catalogue, shared_database: Database, reader: Reader
) -> None:
    token, strong = issued(shared_database, "cell").token, issued(shared_database, "read").token
    app = create_app(settings, catalogue=catalogue, database=shared_database, log=open_log("debug", file=reader.file))
    caller = Client(app)
    paths = (
        CELL,
        CELLS,
        "/v1/cell/nothing?op=dot",
        "/v1/cell/bound?op=dot&n=x&chip=y",
        "/v1/chips?limit=1",
        "/v1/chips/none?x=1",
        "/none?x=1",
    )
    seen = [reader.text()]
    for sent in (token, strong, "made-up"):
        for path in paths:
            answer = caller.get(f"{path}&key={sent}")
            seen += [answer.text, str(answer.headers)]
    seen += [reader.text(), caller.get("/metrics").text]
    assert len(seen[-2].splitlines()) == 3 * len(paths)
    for secret in (token, strong, token.rpartition("_")[2], strong.rpartition("_")[2], "made-up"):
        assert not [text for text in seen if secret in text]
    app.state.service.pools.close()
    caller.close()
