"""What can be typed behind `roofline chip` and `roofline cluster`: the same words for both."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Annotated, Final, Literal

import typer

from ..settings import Settings
from .options import DataOption, JsonFlag, UrlOption
from .output import is_json
from .problems import explained

Noun = Literal["chip", "cluster"]
WORDS: Final = ("import", "export", "delete")
SINGULAR: Final = {"chips": "chip", "clusters": "cluster"}


def singular(arguments: Sequence[str]) -> list[str]:
    """`chips import …` means `chip import …`; no id may be one of these words."""
    if len(arguments) > 1 and arguments[0] in SINGULAR and arguments[1] in WORDS:
        return [SINGULAR[arguments[0]], *arguments[1:]]
    return list(arguments)


def commands(noun: Noun, what: str) -> typer.Typer:
    """The commands about `what`."""
    group = typer.Typer(help=f"Keep {what} of your own: import, export, delete TOML files.")

    @group.command("import")
    def bring_in(
        file: Annotated[str | None, typer.Argument(metavar="[FILE]", help="The TOML file; - or nothing reads standard input.")] = None,
        data: DataOption = None,
        database_url: UrlOption = None,
        *,
        json: JsonFlag = False,
    ) -> None:
        """Keep what a file states, as a new entry or as the next revision of one.

        The file is one of `export`, or like those of the catalogue with the works that it cites under [sources.KEY].
        """
        with explained(json):
            from ..catalogue.own import KINDS
            from .own import bring_in as run

            run(KINDS[noun], file, _settings(data, database_url), is_json=is_json(json))

    @group.command("export")
    def send_out(
        ref: Annotated[str, typer.Argument(metavar="ID", help="An id, or id@revision, shipped or your own.")],
        output: Annotated[str | None, typer.Option("--output", "-o", metavar="FILE", help="Write to this file.")] = None,
        *,
        force: Annotated[bool, typer.Option("--force", help="Replace the file if it is there.")] = False,
        json: Annotated[bool, typer.Option("--json", help="Print refusals as JSON on a terminal too.")] = False,
    ) -> None:
        """Print an entry as a file that can be changed and imported."""
        with explained(json):
            from ..catalogue.own import KINDS
            from .own import send_out as run

            run(KINDS[noun], ref, output, force=force)

    @group.command("delete")
    def delete(
        name: Annotated[str, typer.Argument(metavar="ID", help="The id of an entry of your own.")],
        data: DataOption = None,
        database_url: UrlOption = None,
        *,
        json: Annotated[bool, typer.Option("--json", help="Print refusals as JSON on a terminal too.")] = False,
    ) -> None:
        """Delete an entry of your own. Its revisions can still be asked by id@revision."""
        with explained(json):
            from ..catalogue.own import KINDS
            from .own import delete as run

            run(KINDS[noun], name, _settings(data, database_url))

    return group


def _settings(data: str | None, database_url: str | None) -> Settings:
    return Settings.from_environment(os.environ, data_dir=data, database_url=database_url)
