"""`roofline keys`: a first key before the first start, a service that asks for it, and words that a person can act on."""

from __future__ import annotations

import gc
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from service.cli.program import run

from .program import PATIENCE_S, on_terminal, plain, serving

TOKEN = re.compile(r"rlk_[a-z2-7]{16}_[a-z2-7]{52}")
QUESTION = {"op": {"kind": "dot", "n": 1024, "dtype": "bf16"}, "target": {"chip": "nvidia-h100-sxm"}}
Keys = Callable[..., dict[str, Any]]


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, str]:
    """Where the database is that does not yet exist, as options."""
    if request.param == "sqlite":
        return "--data", str(tmp_path / "new")
    return "--database-url", request.getfixturevalue("empty_postgres_url")


@pytest.fixture
def keys(place: tuple[str, str], capfd: pytest.CaptureFixture[str]) -> Keys:
    """What `roofline keys` writes into a pipe. It runs in this process, since to start one costs more than all it does."""

    def typed(*arguments: str) -> dict[str, Any]:
        status = run(["keys", *arguments, *place])
        gc.enable()  # which a command that answers once does without
        output, words = capfd.readouterr()
        assert (status, words) == (0, "")
        document: dict[str, Any] = json.loads(output)
        return document

    return typed


def test_a_key_from_its_beginning_to_its_end(keys: Keys) -> None:
    made = keys("create", "scheduler", "--scope", "evaluate", "--scope", "admin", "--days", "2")
    assert TOKEN.fullmatch(made.pop("secret"))
    times = ("created_at", "issued_at", "expires_at")
    about = {"id": made["id"], "name": "scheduler", "scopes": ["evaluate", "admin"], "revoked_at": None, "last_used_at": None}
    assert made == {**about, "status": "active", **{name: made[name] for name in times}}
    assert keys("list") == {"items": [made]}
    other = keys("rotate", made["id"])
    assert TOKEN.fullmatch(other.pop("secret"))
    assert {**other, **{name: made[name] for name in times}} == made
    revoked = keys("revoke", made["id"])
    assert revoked == {**other, "status": "revoked", "revoked_at": revoked["revoked_at"]}
    assert keys("revoke", made["id"]) == revoked
    newer = keys("create", "sheet", "--scope", "cell")
    assert [each["id"] for each in keys("list")["items"]] == [newer["id"], made["id"]]


@pytest.mark.parametrize("place", ["sqlite"], indirect=True)
def test_a_service_for_other_machines_begins_with_a_key(keys: Keys, place: tuple[str, str]) -> None:
    made = keys("create", "scheduler", "--scope", "evaluate")
    with serving("serve", "--host", "0.0.0.0", "--port", "0", *place) as served:
        port = served.client.base_url.port
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=PATIENCE_S) as caller:

            def status(token: str | None) -> int:
                headers = {} if token is None else {"authorization": f"Bearer {token}"}
                return caller.post("/v1/evaluate", json=QUESTION, headers=headers).status_code

            assert (status(None), status(made["secret"])) == (401, 200)
            assert caller.get("/readyz").status_code == 200
            other = keys("rotate", made["id"])
            assert (status(other["secret"]), status(made["secret"])) == (200, 401)


def test_a_person_reads_the_secret_once(tmp_path: Path) -> None:
    data = ("--data", str(tmp_path))
    shown = plain(on_terminal("keys", "create", "planning sheet", "--scope", "cell", "--days", "366", *data))
    token = TOKEN.search(shown)
    assert token is not None
    name = f"key_{token[0][4:20]}"
    until = re.search(r"\d{4}-\d\d-\d\d", shown)
    assert until is not None
    assert shown == (
        f"  {name}, planning sheet: may cell until {until[0]}.\n{token[0]}\n"
        "  This is its secret, shown this once. Send it as `Authorization: Bearer …`.\n"
    )
    listed = plain(on_terminal("keys", "list", *data))
    assert [line.split() for line in listed.splitlines()] == [
        ["key", "name", "scopes", "status", "expires", "last", "used"],
        [name, "planning", "sheet", "cell", "active", until[0], "never"],
    ]


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
def test_what_cannot_be_meant_is_refused(
    arguments: tuple[str, ...], code: str, detail: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    status = run(["keys", *arguments, "--data", str(tmp_path)])
    gc.enable()
    output, words = capfd.readouterr()
    assert (status, output) == (2, "")
    problem = json.loads(words)
    assert (problem["code"], problem.get("errors", [problem])[0]["detail"]) == (code, detail)
