"""A page read to a real service: every request of it is sent, in order, to one that has kept nothing before."""

from __future__ import annotations

import argparse
import json
import re
import shlex
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from service.api.app import create_app
from service.catalogue import load
from service.settings import Settings
from service.storage import migrate, open_database

from ..api.conftest import served
from .pages import Block, exchanges, files
from .replies import renewed


@dataclass(frozen=True)
class Request:
    """`{name}` in target and body stands for the member `name` of the last reply that has one, `{earlier_id}` for the id before it."""

    method: str
    target: str
    headers: dict[str, str] = field(default_factory=dict)
    body: str | None = None


def read(block: Block, files: Mapping[str, str] | None = None) -> Request:
    """The request of a block; `files` are those that the page shows, by name."""
    return _read_curl(block.text, files or {}) if block.language == "sh" else _read_http(block.text)


def _read_http(text: str) -> Request:
    head, _, body = text.partition("\n\n")
    first, *lines = head.splitlines()
    method, target = first.split(" ", 1)
    headers = dict(line.split(": ", 1) for line in lines)
    return Request(method, target, headers, body or None)


def _read_curl(text: str, files: Mapping[str, str]) -> Request:
    curl = argparse.ArgumentParser(exit_on_error=False)
    curl.add_argument("-s", action="store_true")
    curl.add_argument("-H", action="append", default=[])
    curl.add_argument("-d")
    curl.add_argument("-o")
    curl.add_argument("--data-binary")
    curl.add_argument("url")
    asked = curl.parse_args(shlex.split(text)[1:])
    headers = dict(line.split(": ", 1) for line in asked.H)
    body = asked.d if asked.data_binary is None else files.get(asked.data_binary.removeprefix("@"), "")
    return Request("GET" if body is None else "POST", asked.url.removeprefix("http://127.0.0.1:8000"), headers, body)


@contextmanager
def fresh_service() -> Iterator[httpx.Client]:
    """A client of a service on a port of its own, with an empty database."""
    with tempfile.TemporaryDirectory() as folder, closing(open_database(None, Path(folder))) as database:
        migrate.ensure(database)
        app = create_app(Settings.from_environment({"ROOFLINE_LOG_LEVEL": "error"}), catalogue=load(), database=database)
        with served(app) as port, httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=60) as client:
            yield client


@dataclass(frozen=True)
class Turn:
    """One reply of a page, and what it should show."""

    reply: Block
    due: str


def conversation(page: str) -> Iterator[Turn]:
    """Sends all requests of a page. Fails where a status is another one than the page says."""
    members: dict[str, str] = {}
    with fresh_service() as client:
        for asked, reply in exchanges(page):
            request = read(asked, files(page))
            target, body = _filled(request.target, members), None if request.body is None else _filled(request.body, members)
            answer = client.request(request.method, target, headers=request.headers, content=body)
            if reply.language == "json" and isinstance(document := json.loads(answer.text), dict):
                if document.get("id") not in (None, members.get("id")):
                    members["earlier_id"] = members.get("id", "")
                members |= document
            assert answer.status_code == int(reply.words or 200), f"{request.target} is answered by {answer.status_code}: {answer.text}"
            yield Turn(reply, renewed(reply.text, answer.text, reply.language))


def _filled(text: str, members: Mapping[str, str]) -> str:
    return re.sub(r"\{(\w+)\}", lambda found: members[found[1]], text)
