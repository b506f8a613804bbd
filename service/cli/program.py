"""What can be typed. Every command imports what it needs when it runs, so that the light ones start fast.

0 done · 2 refused, with one problem on standard error · 130 interrupted · 141 the reader of the output went away
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from typing import Annotated, Final, NoReturn, cast

import typer

from .. import __version__
from ..bootstrap import say
from ..errors import ServiceError
from ..settings import Settings
from .backup_commands import backup, restore
from .comparison_commands import compare, recompute
from .key_commands import commands as key_commands
from .options import DataOption, JsonFlag, UrlOption
from .output import INTERRUPTED, REFUSED, is_json
from .own_program import commands, singular
from .problems import explained

app = typer.Typer(
    name="roofline",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)

app.add_typer(commands("chip", "chips"), name="chip")
app.add_typer(commands("cluster", "systems"), name="cluster")
app.add_typer(key_commands, name="keys")


def _show_version(wanted: bool) -> None:  # noqa: FBT001 - the flag as it was typed
    if wanted:
        typer.echo(f"roofline {__version__}")
        raise typer.Exit


@app.callback()
def about(
    *,
    version: Annotated[bool, typer.Option("--version", is_eager=True, help="Show the version and exit.", callback=_show_version)] = False,
) -> None:
    """Rooflines: what limits an operation on an accelerator, by how much, and what would change that.

    Without a command, `serve` runs.
    """


@app.command()
def serve(
    host: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Address to listen on, 127.0.0.1 by default; also ROOFLINE_HOST.")
    ] = None,
    port: Annotated[
        str | None,
        typer.Option("--port", metavar="NUMBER", help="8000 by default, 0 for any free port; also ROOFLINE_PORT."),
    ] = None,
    data: DataOption = None,
    database_url: UrlOption = None,
    workers: Annotated[
        str | None, typer.Option(metavar="NUMBER", help="Processes that answer, 1 by default; more need a PostgreSQL database.")
    ] = None,
    *,
    allow_unauthenticated: Annotated[
        bool | None,
        typer.Option("--allow-unauthenticated", help="Listen beyond this machine although callers need no key."),
    ] = None,
) -> None:
    """Answer over HTTP until told to stop (SIGTERM, Ctrl-C).

    The schema of the database is made, and in the embedded database brought up to date; a PostgreSQL one that is older is
    left to `roofline migrate`. Beyond this machine callers need keys, which `roofline keys` makes. Every other setting is a
    variable ROOFLINE_<NAME>.
    """
    from .serve import serve as run

    run(
        Settings.from_environment(
            os.environ,
            host=host,
            port=port,
            data_dir=data,
            database_url=database_url,
            allow_unauthenticated=allow_unauthenticated,
            workers=workers,
        )
    )


@app.command()
def evaluate(
    file: Annotated[str | None, typer.Argument(metavar="[FILE]", help="The question; - or nothing reads standard input.")] = None,
    *,
    json: JsonFlag = False,
) -> None:
    """Answer one question, JSON as for POST /v1/evaluate.

    On a terminal the verdict and the five steps behind it as text, elsewhere the API's answer.

    \b
    roofline evaluate <<< '{"op": {"kind": "matmul", "m": 512, "k": 8192, "n": 28672, "dtype": "bf16"},
                            "target": {"chip": "nvidia-h100-sxm"}}'
    """
    with explained(json):
        from .evaluate import evaluate as run

        run(file, is_json=is_json(json))


app.command()(compare)
app.command()(recompute)


@app.command()
def batch(
    file: Annotated[str | None, typer.Argument(metavar="[FILE]", help="The table; - or nothing reads standard input.")] = None,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Write to this file, in the format that its name ends in.")
    ] = None,
    form: Annotated[
        str | None,
        typer.Option("--format", metavar="NAME", help="csv, xlsx, ndjson, json, columns or arrow: of what is piped in and out."),
    ] = None,
    *,
    columns: Annotated[str | None, typer.Option(metavar="NAMES", help="What is appended: time_s,bound,levers.m.speedup.")] = None,
    mapped: Annotated[
        str | None, typer.Option("--map", metavar="NAMES", help="Columns under other names than their members': Batch:m,Hidden:k.")
    ] = None,
    sep: Annotated[str | None, typer.Option(metavar="MARK", help="Separator of CSV: comma, semicolon or tab.")] = None,
    decimal: Annotated[str | None, typer.Option(metavar="MARK", help="Decimal mark of CSV: a point or a comma.")] = None,
    sheet: Annotated[str | None, typer.Option(metavar="NAME", help="Sheet of a workbook, the first by default.")] = None,
    on_error: Annotated[
        str | None, typer.Option(metavar="row|fail", help="Mark rows that cannot be answered, the default, or refuse the table.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it is there.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print refusals as JSON on a terminal too.")] = False,
) -> None:
    """Answer the rows of a table, as POST /v1/batches does.

    \b
    roofline batch plan.xlsx -o answered.csv
    """
    asked = {"columns": columns, "map": mapped, "sep": sep, "decimal": decimal, "sheet": sheet, "on_error": on_error}
    with explained(json):
        from .batch import Files
        from .batch import batch as run

        run(Files(file, output, form, force=force), {name: text for name, text in asked.items() if text is not None})


@app.command()
def chart(
    file: Annotated[
        str | None,
        typer.Argument(metavar="[FILE]", help="Cases to draw, as for POST /v1/charts/roofline; - or nothing reads standard input."),
    ] = None,
    chip: Annotated[str | None, typer.Option(metavar="ID", help="Draw the roof of this chip instead; an id, or id@revision.")] = None,
    dtype: Annotated[str | None, typer.Option(metavar="FORMAT", help="The number format of that roof.")] = None,
    points: Annotated[int | None, typer.Option(metavar="NUMBER", help="Points of that roof in the JSON, 64 by default.")] = None,
    output: Annotated[str | None, typer.Option("--output", "-o", metavar="FILE.svg", help="Write a picture to this file.")] = None,
    *,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it is there.")] = False,
    json: JsonFlag = False,
) -> None:
    """Draw rooflines: of a chip, or of cases with their points.

    On a terminal a plot, elsewhere the API's answer, with -o a picture (SVG) in a file.

    \b
    roofline chart --chip nvidia-h100-sxm --dtype bf16 -o h100.svg
    """
    asks_chip = chip is not None or dtype is not None or points is not None
    if asks_chip and file is not None:
        raise typer.BadParameter("a file states its own chips; leave out --chip, --dtype and --points", param_hint="FILE")
    with explained(json):
        from . import chart as charts

        charts.check_output(output, force=force)
        text = charts.of_chip(chip, dtype, points) if asks_chip else charts.of_file(file)
        charts.show(text, output, is_json=is_json(json), force=force)


@app.command()
def chips(
    chip: Annotated[str | None, typer.Argument(metavar="[ID]", help="An id, or id@revision.")] = None,
    *,
    vendor: Annotated[str | None, typer.Option("--vendor", metavar="NAME", help="Only those of this vendor.")] = None,
    kind: Annotated[str | None, typer.Option("--kind", metavar="KIND", help="Only those of this kind: gpu, tpu, npu, cpu.")] = None,
    dtype: Annotated[str | None, typer.Option("--dtype", metavar="FORMAT", help="Only those with a peak for this number format.")] = None,
    year: Annotated[int | None, typer.Option("--year", metavar="YEAR", help="Only those launched in this year.")] = None,
    text: Annotated[
        str | None, typer.Option("--text", metavar="WORDS", help="Only those with these words in id, name or architecture.")
    ] = None,
    json: JsonFlag = False,
) -> None:
    """List the chips, or show all that is known of one, with sources.

    On a terminal a table, elsewhere the JSON of GET /v1/chips.
    """
    given = {"vendor": vendor, "kind": kind, "dtype": dtype, "year": year, "text": text}
    filters = {name: value for name, value in given.items() if value is not None}
    if chip is not None and filters:
        raise typer.BadParameter("It narrows the list, and an id asks for one chip", param_hint=f"'--{next(iter(filters))}'")
    with explained(json):
        from .chips import show, show_all

        show_all(filters, is_json=is_json(json)) if chip is None else show(chip, is_json=is_json(json))


@app.command()
def clusters(
    cluster: Annotated[str | None, typer.Argument(metavar="[ID]", help="An id, or id@revision.")] = None,
    *,
    json: JsonFlag = False,
) -> None:
    """List the systems, chips wired together, or show one with sources.

    On a terminal a table, elsewhere the JSON of GET /v1/clusters.
    """
    with explained(json):
        from .clusters import show, show_all

        show_all(is_json=is_json(json)) if cluster is None else show(cluster, is_json=is_json(json))


@app.command()
def ops(
    kind: Annotated[str | None, typer.Argument(metavar="[KIND]", help="The kind of op to describe.")] = None,
    *,
    json: JsonFlag = False,
) -> None:
    """List the ops, or describe one: fields, formulas, an example.

    On a terminal a table, elsewhere the JSON of GET /v1/ops.
    """
    with explained(json):
        from .ops import show, show_all

        show_all(is_json=is_json(json)) if kind is None else show(kind, is_json=is_json(json))


@app.command()
def migrate(data: DataOption = None, database_url: UrlOption = None) -> None:
    """Bring the schema of the database to this version."""
    from .migrate import migrate as run

    run(Settings.from_environment(os.environ, data_dir=data, database_url=database_url))


app.command()(backup)
app.command()(restore)


@app.command()
def openapi() -> None:
    """Print the OpenAPI document, as committed in openapi.yaml."""
    from ..api.openapi import render
    from .output import put

    put(render().encode())


# Typer exports only descendants of the root of all faults in what was typed.
UsageError: Final = cast("type[typer.BadParameter]", typer.BadParameter.__base__)


def main() -> NoReturn:
    """The entry point of the program."""
    status = run(sys.argv[1:])
    gc.freeze()  # the process ends, and looking through all that it has loaded for garbage would delay that
    sys.exit(status)


def run(arguments: Sequence[str]) -> int:
    """Do what `arguments` say; the exit status."""
    try:
        status = app(_with_command(arguments), prog_name="roofline", standalone_mode=False)
    except UsageError as error:
        say(_mistyped(error))
    except ServiceError as error:
        say(error.detail)
    except KeyboardInterrupt:
        return INTERRUPTED
    else:
        return status or 0
    return REFUSED


def _with_command(arguments: Sequence[str]) -> list[str]:
    """Options alone are those of `serve`, but for the program's own."""
    if not arguments or (arguments[0].startswith("-") and arguments[0] not in {"-h", "--help", "--version"}):
        return ["serve", *arguments]
    return singular(arguments)


def _mistyped(error: typer.BadParameter) -> str:
    """One line. An address may hold a password, so what was typed is then not repeated."""
    message = " ".join(error.format_message().split())
    if "://" in message:
        message = "An address stands where none is expected; --database-url takes that of a database"
    command = error.ctx.command_path if error.ctx is not None else "roofline"
    return f"{message.removesuffix('.')}; `{command} --help` says what can be typed."
