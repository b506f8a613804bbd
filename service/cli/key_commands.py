"""What can be typed behind `roofline keys`."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from ..settings import Settings
from .options import DataOption, JsonFlag, UrlOption
from .output import is_json
from .problems import explained

commands = typer.Typer(
    no_args_is_help=True,
    help="Make, list, rotate and revoke keys.\n\nThey are in the database: no service need run, and one that runs follows in two seconds.",
)

IdArgument = Annotated[str, typer.Argument(metavar="ID", help="The id of a key, as `roofline keys list` shows it.")]
DaysOption = Annotated[int | None, typer.Option("--days", metavar="NUMBER", help="Days until the key expires, 366 at most.")]


@commands.command()
def create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Who uses the key and for what.")],
    scope: Annotated[
        list[str], typer.Option("--scope", metavar="SCOPE", help="read, evaluate, write, catalogue, admin or cell; repeat it.")
    ],
    days: DaysOption = None,
    data: DataOption = None,
    database_url: UrlOption = None,
    *,
    json: JsonFlag = False,
) -> None:
    """Make a key and show its secret, this once. It lives for 90 days unless --days says otherwise.

    \b
    roofline keys create scheduler --scope evaluate --scope read
    """
    with explained(json):
        from .keys import create as run

        run(_settings(data, database_url), name, scope, days, is_json=is_json(json))


@commands.command(name="list")
def list_(data: DataOption = None, database_url: UrlOption = None, *, json: JsonFlag = False) -> None:
    """List all keys, newest first, those that have expired or were revoked included."""
    with explained(json):
        from .keys import show_all as run

        run(_settings(data, database_url), is_json=is_json(json))


@commands.command()
def rotate(
    key: IdArgument, days: DaysOption = None, data: DataOption = None, database_url: UrlOption = None, *, json: JsonFlag = False
) -> None:
    """Give a key another secret and show it, this once. It lives as long as the one before, which ends."""
    with explained(json):
        from .keys import rotate as run

        run(_settings(data, database_url), key, days, is_json=is_json(json))


@commands.command()
def revoke(key: IdArgument, data: DataOption = None, database_url: UrlOption = None, *, json: JsonFlag = False) -> None:
    """Revoke a key, for good."""
    with explained(json):
        from .keys import revoke as run

        run(_settings(data, database_url), key, is_json=is_json(json))


def _settings(data: str | None, database_url: str | None) -> Settings:
    return Settings.from_environment(os.environ, data_dir=data, database_url=database_url)
