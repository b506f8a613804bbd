"""What is the same for all commands: help, versions, mistakes in what was typed."""

from __future__ import annotations

import pytest

from service import __version__

from .program import on_terminal, plain, roofline

HELP = """\
Usage: roofline [OPTIONS] COMMAND [ARGS]...

  Rooflines: what limits an operation on an accelerator, by how much, and what would change that.

  Without a command, `serve` runs.

Options:
  --version   Show the version and exit.
  -h, --help  Show this message and exit.

Commands:
  serve      Answer over HTTP until told to stop (SIGTERM, Ctrl-C).
  evaluate   Answer one question, JSON as for POST /v1/evaluate.
  compare    Hold cases, or saved analyses, against the first.
  recompute  Ask the question of a saved analysis again, and say what changed and why.
  batch      Answer the rows of a table, as POST /v1/batches does.
  chart      Draw rooflines: of a chip, or of cases with their points.
  chips      List the chips, or show all that is known of one, with sources.
  clusters   List the systems, chips wired together, or show one with sources.
  ops        List the ops, or describe one: fields, formulas, an example.
  migrate    Bring the schema of the database to this version.
  backup     Write all that the database keeps to a file, while the service goes on.
  restore    Bring a backup back into an empty database, all of it or nothing.
  openapi    Print the OpenAPI document, as committed in openapi.yaml.
  chip       Keep chips of your own: import, export, delete TOML files.
  cluster    Keep systems of your own: import, export, delete TOML files.
  keys       Make, list, rotate and revoke keys.
"""


def test_help_says_what_there_is() -> None:
    ended = on_terminal("--help", columns=120)
    assert (ended.status, plain(ended)) == (0, HELP)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("serve", ("--host", "--port", "--data", "--database-url", "--allow-unauthenticated", "ROOFLINE_DATABASE_URL")),
        ("evaluate", ("[FILE]", "--json", "POST /v1/evaluate")),
        ("compare", ("FILE", "ID ID", "--strict", "--data", "--database-url", "--json", "POST /v1/compare", "POST /v1/comparisons")),
        ("recompute", ("ID", "--data", "--database-url", "--json", "/v1/analyses/{id}/recompute")),
        ("chart", ("[FILE]", "--chip", "--dtype", "--points", "-o", "--force", "SVG")),
        ("chips", ("[ID]", "--vendor", "--kind", "--dtype", "--year", "--text", "--json", "id@revision")),
        ("clusters", ("[ID]", "--json", "id@revision")),
        ("chip", ("import", "export", "delete")),
        ("cluster", ("import", "export", "delete")),
        ("ops", ("[KIND]", "--json")),
        ("migrate", ("--data", "--database-url")),
        ("openapi", ("openapi.yaml",)),
    ],
)
def test_every_command_explains_itself(command: str, words: tuple[str, ...]) -> None:
    ended = roofline(command, "-h")
    assert (ended.status, ended.words) == (0, "")
    assert not [word for word in words if word not in ended.text]


def test_the_version_is_the_packages() -> None:
    ended = roofline("--version")
    assert (ended.status, ended.text, ended.words) == (0, f"roofline {__version__}\n", "")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("chps",), "No such command 'chps'. Did you mean 'chips'"),
        (("chips", "--jsn"), "No such option: --jsn (Possible options: --json); `roofline chips --help`"),
        (("openapi", "x"), "Got unexpected extra argument(s) (x); `roofline openapi --help`"),
        (("serve", "--port"), "Option '--port' requires an argument; `roofline"),
        (
            ("postgresql://ann:hunter2@db/x",),
            "An address stands where none is expected; --database-url takes",
        ),
        (("--hots", "x"), "No such option: --hots"),
    ],
)
def test_what_was_mistyped_is_one_line(arguments: tuple[str, ...], words: str) -> None:
    ended = roofline(*arguments)
    assert (ended.status, ended.output) == (2, b"")
    assert ended.words.startswith(f"roofline: {words}")
    assert ended.words.count("\n") == 1
    assert "hunter2" not in ended.words


def test_an_unknown_setting_is_one_line() -> None:
    ended = roofline(variables={"ROOFLINE_PROT": "1"})
    assert (ended.status, ended.output) == (2, b"")
    assert ended.words == "roofline: ROOFLINE_PROT is not a setting; perhaps ROOFLINE_PORT is meant.\n"
