"""Every page: its requests are answered as it shows, its tables are the code's, its links lead somewhere."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from service.api.routes.all import all_routes
from service.api.routing import StrictRoute
from service.storage import AnalysisStore, migrate, open_database

from ..storage.examples import analysis
from .conversation import read
from .pages import API, GUIDES, OPERATIONS, PAGES, README, ROOT, anchors, block, blocks, exchanges, files, links
from .replies import MORE
from .rewrite import rewritten

NAMED = pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", [path for path in PAGES if path not in GUIDES], ids=lambda path: path.name)
def test_what_a_page_shows_is_what_the_service_says(path: Path) -> None:
    """`.venv/bin/python -m tests.docs.rewrite` brings a page up to date."""
    assert rewritten(text_of(path)) == text_of(path)


@NAMED
def test_every_reply_belongs_to_a_request(path: Path) -> None:
    """So that no JSON of a page is only believed."""
    found = blocks(text_of(path))
    replies = {reply.start for _, reply in exchanges(text_of(path))}
    shown = [each for each in found if each.language in {"json", "yaml", "html", "text", "csv"} and each.words not in files(text_of(path))]
    assert {each.start for each in shown} == replies


@NAMED
def test_every_link_leads_somewhere(path: Path) -> None:
    for link in links(text_of(path)):
        name, _, anchor = link.partition("#")
        if not link.startswith("https://"):
            target = path if not name else (path.parent / name).resolve()
            assert target.is_relative_to(ROOT), link
            assert target.is_file(), link
            assert not anchor or anchor in anchors(text_of(target)), link


def test_every_page_is_reached_from_the_readme() -> None:
    reached = {(ROOT / link).resolve() for link in links(text_of(README))}
    assert set(PAGES) - {README} <= reached


def test_the_readmes_first_reply_is_whole() -> None:
    question, reply = next(exchanges(text_of(README)))
    assert question.language == "sh"
    assert MORE not in reply.text


def test_the_numbers_that_the_readme_explains_are_those_of_its_reply() -> None:
    page = text_of(README)
    _, reply = next(exchanges(page))
    result = json.loads(reply.text)["result"]
    compute, hbm = result["layers"]["compute"], result["layers"]["hbm"]
    for said in (
        f"{compute['time_s'] * 1e6:.1f} µs of arithmetic, {hbm['time_s'] * 1e6:.1f} µs of memory",
        f"at best: {result['utilization']:.0%}".replace("%", " %"),
        f"with each byte, {hbm['intensity_flops_per_byte']:.0f};",
        f"to be kept busy, {hbm['critical_intensity_flops_per_byte']:.0f}.",
        f"`m` = {result['thresholds'][0]['exact']:.0f} tokens",
    ):
        assert said in page


def test_the_tour_visits_every_route() -> None:
    asked = [read(request) for request, _ in exchanges(text_of(API))]
    for route in all_routes():
        assert isinstance(route, StrictRoute)
        if route.include_in_schema or route.path in {"/docs", "/openapi.json", "/openapi.yaml"}:
            for method in route.methods:
                path = re.escape(route.path_format)
                pattern = re.compile(re.sub(r"\\\{\w+\\\}", "[^/?]+", path) + r"(\?.*)?")
                assert any(each.method == method and pattern.fullmatch(each.target) for each in asked), route.path


def test_a_backup_made_while_the_service_runs_is_whole(tmp_path: Path) -> None:
    """The commands of the page, on a database that is open and has a write-ahead log, and on one that is not there yet."""
    command = 'roofline() { "$PYTHON" -m service "$@"; }\n'
    environ = {**os.environ, "PYTHON": sys.executable, "PYTHONPATH": str(ROOT)}
    with closing(open_database(None, tmp_path / "data")) as database:
        migrate.ensure(database)
        AnalysisStore(database).add(analysis(7))
        for name, data in (("backup", "data"), ("restore", "other")):
            variables = {**environ, "ROOFLINE_DATA": str(tmp_path / data)}
            subprocess.run(["bash", "-euc", command + block(OPERATIONS, name)], cwd=tmp_path, env=variables, timeout=60, check=True)
    with closing(open_database(None, tmp_path / "other")) as copy:
        assert AnalysisStore(copy).page(5).items == (analysis(7).headline,)
