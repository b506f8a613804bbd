"""`roofline chart`: the API's bytes in a pipe, a plot on a terminal, a picture in a file."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest

from .program import on_terminal, plain, roofline

CHIP = {"peak_flops_per_s": {"bf16": 1e14}, "vector_peak_flops_per_s": {"fp32": 5e12}, "hbm": {"bandwidth_bytes_per_s": 1e12}}
MATMUL = {"kind": "matmul", "m": 64, "k": 4096, "n": 4096, "dtype": "bf16"}
CASES = {
    "cases": [
        {"op": MATMUL, "target": {"chip": CHIP}, "measured_s": 1e-4},
        {"op": {**MATMUL, "m": 4096}, "target": {"chip": CHIP}},
        {"op": {"kind": "copy", "rows": 4, "cols": 8, "dtype": "bf16"}, "target": {"chip": CHIP}},
    ]
}
JSON = {"content-type": "application/json"}
OF_CHIP = ("chart", "--chip", "google-tpu-v5e", "--dtype", "bf16")
ADVICE = "; `roofline chart --help` says what can be typed.\n"

PAGE = """\
Roofline of chip in place bf16 (matrix)
  FLOP/s
    1 P ┤
        │
        │
        │
  100 T ┤                                         ⡠⠒⠒⠒⠒⠒⠒⠒⠒2⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒A
"""


def body(question: object) -> bytes:
    return json.dumps(question).encode()


def test_a_pipe_gets_the_bytes_of_the_api(api: httpx.Client) -> None:
    answer = api.post("/v1/charts/roofline", content=body(CASES), headers=JSON)
    ended = roofline("chart", stdin=body(CASES))
    assert (answer.status_code, ended.status, ended.output, ended.words) == (200, 0, answer.content, "")
    answer = api.get("/v1/charts/roofline?chip=google-tpu-v5e&dtype=bf16&points=5")
    ended = roofline(*OF_CHIP, "--points", "5")
    assert (answer.status_code, ended.status, ended.output, ended.words) == (200, 0, answer.content, "")


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_a_terminal_gets_a_plot_that_fits_it(columns: int) -> None:
    ended = on_terminal("chart", stdin=body(CASES), columns=columns)
    lines = plain(ended).splitlines()
    plot = lines[2:20]
    assert ended.status == 0
    assert max(map(len, lines)) <= columns
    assert lines[:2] == ["Roofline of chip in place bf16 (matrix)", "  FLOP/s"]
    assert "".join(plot).count("1") - sum(line[:8].count("1") for line in plot) == 1
    assert [line.rstrip()[-1] for line in plot].count("A") == 1
    assert lines[20].startswith("   10 G └┬─")
    assert lines[21].endswith(" FLOP/B")


def test_the_numbers_stand_below_the_plot() -> None:
    shown = [" ".join(line.split()) for line in plain(on_terminal("chart", stdin=body(CASES))).splitlines()]
    assert shown[-6:] == [
        "roof peak bandwidth ridge",
        "A chip in place bf16 (matrix) 100 TFLOP/s 1 TB/s 100 FLOP/B",
        "op roof FLOP/B at most limited by measured ×",
        "1 matmul A 62.06 62.06 TFLOP/s hbm 21.47 TFLOP/s",
        "2 matmul A 1,365 100 TFLOP/s compute –",
        "3 copy – 0 0 FLOP/s hbm –",
    ]


def test_a_terminal_without_these_signs_gets_plain_ones() -> None:
    ended = on_terminal(*OF_CHIP, variables={"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    assert ended.status == 0
    assert plain(ended).isascii()
    assert ".......BA" in plain(ended)


def test_a_picture_is_written_to_a_file_that_is_not_there(tmp_path: Path) -> None:
    file = tmp_path / "chart.svg"
    first = roofline("chart", "-o", str(file), stdin=body(CASES))
    assert (first.status, first.output, first.words) == (0, b"", f"roofline: {file} is written\n")
    picture = file.read_bytes()
    assert picture.startswith(b"<svg ")
    again = roofline(*OF_CHIP, "-o", str(file))
    assert (again.status, again.output) == (2, b"")
    assert again.words == f"roofline: Invalid value for -o: the file is there already; --force replaces it{ADVICE}"
    assert file.read_bytes() == picture
    forced = roofline(*OF_CHIP, "-o", str(file), "--force")
    assert (forced.status, b"google-tpu-v5e@1" in file.read_bytes()) == (0, True)


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("none/chart.svg", "the file cannot be written: No such file or directory"),
        ("file/chart.svg", "the file cannot be written: Not a directory"),
        ("chart.png", "the picture is SVG, so the name of its file ends in .svg"),
        ("chart", "the picture is SVG, so the name of its file ends in .svg"),
    ],
)
def test_a_path_that_cannot_be_written_is_one_line(path: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    ended = roofline(*OF_CHIP, "-o", str(tmp_path / path))
    assert (ended.status, ended.output, ended.words) == (2, b"", f"roofline: Invalid value for -o: {words}{ADVICE}")


@pytest.mark.parametrize(
    ("arguments", "path"),
    [
        (("--chip", "h100", "--dtype", "bf16"), "?chip=h100&dtype=bf16"),
        (("--chip", "google-tpu-v5e", "--dtype", "fp8"), "?chip=google-tpu-v5e&dtype=fp8"),
        (("--dtype", "bf16"), "?dtype=bf16"),
        (("--chip", "google-tpu-v5e", "--dtype", "bf16", "--points", "1"), "?chip=google-tpu-v5e&dtype=bf16&points=1"),
        (("--chip", "google-tpu-v5e", "--dtype", "bf16", "--points", "2049"), "?chip=google-tpu-v5e&dtype=bf16&points=2049"),
    ],
)
def test_a_pipe_gets_the_refusal_of_the_api(arguments: tuple[str, ...], path: str, api: httpx.Client) -> None:
    problem = api.get(f"/v1/charts/roofline{path}").json()
    del problem["request_id"]
    ended = roofline("chart", *arguments)
    assert (ended.status, ended.output, json.loads(ended.words)) == (2, b"", problem)


def test_saved_analyses_are_left_to_the_service() -> None:
    ended = roofline("chart", stdin=body({"analyses": ["an_x"]}))
    assert (ended.status, json.loads(ended.words)["errors"][0]["pointer"]) == (2, "/analyses")


def test_a_file_and_a_chip_are_not_drawn_together() -> None:
    ended = roofline("chart", "cases.json", "--chip", "google-tpu-v5e")
    words = f"Invalid value for FILE: a file states its own chips; leave out --chip, --dtype and --points{ADVICE}"
    assert (ended.status, ended.words) == (2, f"roofline: {words}")
