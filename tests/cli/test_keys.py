"""`roofline keys`: a first key before the first start, a service that asks for it, and words that a person can act on."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import httpx
import pytest

from .program import PATIENCE_S, on_terminal, plain, roofline, serving

TOKEN = re.compile(r"rlk_[a-z2-7]{16}_[a-z2-7]{52}")
QUESTION = {"op": {"kind": "dot", "n": 1024, "dtype": "bf16"}, "target": {"chip": "nvidia-h100-sxm"}}


def keys(place: tuple[str, str], *arguments: str) -> dict[str, Any]:
    """What `roofline keys` writes into a pipe."""
    ended = roofline("keys", *arguments, *place)
    assert (ended.status, ended.words) == (0, "")
    document: dict[str, Any] = json.loads(ended.output)
    return document


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, str]:
    """Where the database is that does not yet exist, as options."""
    if request.param == "sqlite":
        return "--data", str(tmp_path / "new")
    return "--database-url", request.getfixturevalue("empty_postgres_url")


def test_a_service_for_other_machines_begins_with_a_key(place: tuple[str, str]) -> None:
    refused = roofline("serve", "--host", "0.0.0.0", "--port", "0", *place)
    assert refused.status == 2
    assert "make one with `roofline keys create`" in refused.words
    made = keys(place, "create", "scheduler", "--scope", "evaluate", "--scope", "admin", "--days", "2")
    assert (made["name"], made["scopes"], made["status"]) == ("scheduler", ["evaluate", "admin"], "active")
    with serving("serve", "--host", "0.0.0.0", "--port", "0", *place) as served:
        port = served.client.base_url.port
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=PATIENCE_S) as caller:

            def status(token: str | None) -> int:
                headers = {} if token is None else {"authorization": f"Bearer {token}"}
                return caller.post("/v1/evaluate", json=QUESTION, headers=headers).status_code

            assert (status(None), status(made["secret"])) == (401, 200)
            assert caller.get("/readyz").status_code == 200
            other = keys(place, "rotate", made["id"])
            assert (status(other["secret"]), status(made["secret"])) == (200, 401)
            over_http = caller.post(
                "/v1/keys", json={"name": "x", "scopes": ["evaluate"]}, headers={"authorization": f"Bearer {other['secret']}"}
            )
            assert status(over_http.json()["secret"]) == 200
    assert keys(place, "revoke", made["id"])["status"] == "revoked"
    assert [(each["name"], each["status"]) for each in keys(place, "list")["items"]] == [("x", "active"), ("scheduler", "revoked")]
    assert not TOKEN.search(json.dumps(keys(place, "list")))


def test_a_person_reads_the_secret_once(tmp_path: Path) -> None:
    data = ("--data", str(tmp_path))
    assert plain(on_terminal("keys", "list", *data)) == "  There are no keys. `roofline keys create NAME --scope read` makes one.\n"
    shown = plain(on_terminal("keys", "create", "planning sheet", "--scope", "cell", *data))
    token = TOKEN.search(shown)
    assert token is not None
    name = f"key_{token[0][4:20]}"
    until = keys(data, "list")["items"][0]["expires_at"][:10]
    assert shown == (
        f"  {name}, planning sheet: may cell until {until}.\n{token[0]}\n"
        "  This is its secret, shown this once. Send it as `Authorization: Bearer …`.\n"
    )
    listed = plain(on_terminal("keys", "list", *data))
    assert [line.split() for line in listed.splitlines()] == [
        ["key", "name", "scopes", "status", "expires", "last", "used"],
        [name, "planning", "sheet", "cell", "active", until, "never"],
    ]
    assert plain(on_terminal("keys", "revoke", name, *data)) == f"  {name}, planning sheet, is revoked.\n"


@pytest.mark.parametrize(
    ("arguments", "code", "detail"),
    [
        (
            ("create", "x", "--scope", "raed"),
            "out-of-range",
            "The value must be 'read', 'evaluate', 'write', 'catalogue', 'admin' or 'cell'.",
        ),
        (("create", "x", "--scope", "read", "--days", "367"), "out-of-range", "The number must be at most 31622400."),
        (("create", "", "--scope", "read"), "out-of-range", "The string must have at least 1 characters."),
        (("rotate", "key_none"), "not-found", "No key has this id."),
        (("revoke", "key_none"), "not-found", "No key has this id."),
    ],
)
def test_what_cannot_be_meant_is_refused(arguments: tuple[str, ...], code: str, detail: str, tmp_path: Path) -> None:
    ended = roofline("keys", *arguments, "--data", str(tmp_path))
    assert (ended.status, ended.output) == (2, b"")
    problem = json.loads(ended.words)
    assert (problem["code"], problem.get("errors", [problem])[0]["detail"]) == (code, detail)
