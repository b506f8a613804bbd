"""The tables of the pages that are made from the code: they stand between `<!-- table: name -->` and `<!-- end of table -->`."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable

from service.api.codes import CODES
from service.api.metrics import Metrics
from service.api.routes.meta import LIMITS
from service.catalogue import load
from service.engine.dtypes import ALIASES, DTYPES
from service.schemas.scopes import SCOPES
from service.settings import Settings, option, variable

_PLACE = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end of table -->)", re.DOTALL)
_OPTIONS = (
    "host",
    "port",
    "data_dir",
    "database_url",
    "allow_unauthenticated",
    "workers",
)  # of the command line; all others are variables only

_MEANINGS = {
    "host": "address to listen on",
    "port": "port to listen on; 0 takes any free one",
    "data_dir": "folder of the embedded database",
    "database_url": "a PostgreSQL database to use instead; never printed",
    "allow_unauthenticated": "listen beyond this machine although callers need no key",
    "allowed_hosts": "names under which callers may address a service on the loopback, besides the loopback's own",
    "allowed_origins": "web pages whose scripts may call the service",
    "key_requests_per_minute": "requests that each key may make in a minute, counted by each process for itself",
    "log_level": "what the service says of itself on standard error",
    "connections": "connections that callers may keep open; then the one that has waited longest for its caller gives way",
    "receive_s": "seconds in which a header must have come, and a body unless it goes on at 64 KiB/s",
    "keep_alive_s": "seconds that a connection stays open between requests",
    "inline_rows": "questions of up to so many rows are answered without leaving the event loop",
    "compute_threads": "threads for larger questions",
    "compute_queue": "how many of those may wait before more are refused",
    "database_connections": "connections to the database",
    "database_queue": "how many requests may wait for one before more are refused",
    "database_deadline_s": "seconds that one request may wait for the database before it is refused",
    "workers": "processes that answer, each with threads and connections of its own; more than one need PostgreSQL",
    "stop_delay_s": "seconds after SIGTERM in which callers are still let in while `/readyz` already refuses",
    "drain_s": "seconds that requests under way may then take",
}

_LIMITS = {
    "header_bytes": "bytes of the line and the header of a request",
    "body_bytes": "bytes of a body",
    "json_depth": "objects and lists within each other",
    "object_members": "members of an object",
    "list_limit": "items of a page of a list",
    "ops": "ops of a list",
    "cases": "cases of a comparison, and cases and analyses of a chart",
    "compared": "saved analyses that are held against another one",
    "compared_ops": "ops of saved analyses that are compared",
    "compared_bytes": "bytes of their stored answers",
    "candidates": "candidates of a ranking",
    "ranked_ops": "ops of a list times candidates of a ranking",
    "ranked_layouts": "arrays times axes of all candidates of a ranking, 40 fold with the plan cheapest",
    "chart_points": "points of a series of a chart",
    "rows": "rows of the lists of an op",
    "table_bytes": "bytes of a table",
    "table_rows": "rows of a table",
    "table_columns": "columns of a table",
    "table_cells": "cells of a table",
    "table_groups": "ways in which the rows of a table differ besides their numbers, and chips that they name",
    "cells": "values of `/v1/cells.csv`",
    "keys": "keys in use",
    "exported_analyses": "analyses of an export",
}


def with_tables(page: str) -> str:
    """The page with each table as the code has it."""
    return _PLACE.sub(lambda found: f"{found[1]}{TABLES[found[2]]()}\n{found[3]}", page)


def _table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    columns = list(columns)
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def codes() -> str:
    """Every code of a refusal."""
    return _table(["status", "code", "meaning"], ([str(each.status), f"`{each.code}`", each.meaning] for each in CODES.values()))


def settings() -> str:
    """Every setting."""
    return _table(
        ["variable", "option of `serve`", "default", "allowed", "meaning"],
        (
            [
                f"`{variable(each.name)}`",
                f"`{option(each.name)}`" if each.name in _OPTIONS else "",
                _default(each),
                each.metadata["reader"].allowed,
                _MEANINGS[each.name],
            ]
            for each in dataclasses.fields(Settings)
        ),
    )


def _default(setting: dataclasses.Field[object]) -> str:
    if setting.name == "data_dir":
        return "`~/.local/share/roofline`"
    default = setting.default
    if isinstance(default, bool):
        return f"`{str(default).lower()}`"
    return f"`{default}`" if isinstance(default, int | str) else ""


def formats() -> str:
    """Every number format."""
    named = {name: [alias for alias, meant in ALIASES.items() if meant == name] for name in DTYPES}
    return _table(
        ["format", "also called", "bits", "its own scales", "computes as"],
        (
            [
                f"`{each.name}`",
                ", ".join(f"`{alias}`" for alias in named[each.name]),
                str(each.bits),
                f"{each.scale_bits} bit per {each.group} elements" if each.group else "",
                f"`{each.arithmetic}`",
            ]
            for each in DTYPES.values()
        ),
    )


def limits() -> str:
    """What a request may have at most."""
    return _table(["limit", "most"], ([_LIMITS[name], f"{most:,}"] for name, most in LIMITS.items()))


def metrics() -> str:
    """What `/metrics` tells."""
    return _table(
        ["metric", "kind", "labels", "meaning"],
        (
            [f"`{each.name}`", each.kind, ", ".join(f"`{label}`" for label in each.labels), each.meaning]
            for each in Metrics(load()).described
        ),
    )


def scopes() -> str:
    """What a key may be allowed to do."""
    return _table(["scope", "allows to"], ([f"`{scope}`", meaning[0].lower() + meaning[1:]] for scope, meaning in SCOPES.items()))


TABLES: dict[str, Callable[[], str]] = {
    "codes": codes,
    "settings": settings,
    "formats": formats,
    "limits": limits,
    "metrics": metrics,
    "scopes": scopes,
}
