"""`roofline evaluate`: the API's bytes in a pipe, the verdict and the five steps on a terminal, the API's refusals."""

from __future__ import annotations

import array
import fcntl
import json
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path

import httpx
import pytest

from .program import COMMAND, PATIENCE_S, ROOT, STYLES, environment, on_terminal, plain, roofline

CHIP = {"peak_flops_per_s": {"bf16": 1e14}, "vector_peak_flops_per_s": {"fp32": 5e12}, "hbm": {"bandwidth_bytes_per_s": 1e12}}
MATMUL = {"kind": "matmul", "m": 64, "k": 4096, "n": 4096, "dtype": "bf16"}
ONE = {"op": MATMUL, "target": {"chip": CHIP}}
COLUMNS = {"op": {**MATMUL, "m": [64, 256, 1024]}, "target": {"chip": "nvidia-h100-sxm"}, "options": {"overlap": 0.5}}
LIST = {
    "ops": [{**MATMUL, "count": 32}, {"kind": "elementwise", "n": 1_000_000, "dtype": "bf16"}],
    "target": {"chip": {"base": "nvidia-h100-sxm", "hbm": {"bandwidth_bytes_per_s": 2e12}}},
}
JSON = {"content-type": "application/json"}

PAGE = """\
matmul m=64 k=4096 n=4096 dtype=bf16  on a chip given in place
  Limited by hbm: it takes 34.6 µs, 1.611× the 21.47 µs of compute.
  Between 34.6 µs (all overlaps) and 56.08 µs (nothing does), at most 62.06 TFLOP/s, 62.06 % of the
  peak.
How it is tiled
  16 tiles of 64 x 256, 64 of k at a step, in 16 waves; 100 % of the operations count and 100 % of
  the cores work; 147.5 kB beside a core.
  With them 21.47 µs of compute and 42.47 µs of hbm, 50.57 FLOP/B: limited by hbm.
What would change it
  change                        then limited by  at least   speed
  hbm_bandwidth_bytes_per_s ×2  compute          21.47 µs  1.611×
  b_bytes ×0.5                  compute          21.47 µs  1.611×
  m ×2                          compute          42.95 µs  1.611×
  No help: peak_flops_per_s ×2, another tile.
  Compute and hbm take equally long at m = 105.1 (by the textbook 100); here m = 64.
1. How much work
  flops = 2·batch·m·k·n
        = 2·1·64·4096·4096
        = 2.147 GFLOP
    How to Scale Your Model, All About Rooflines: matrix multiplication
2. How much is moved
  bytes of a = ⌈batch·m·k·16 bit / 8⌉
             = ⌈1·64·4096·16 bit / 8⌉
             = 524.3 kB
  bytes of b = ⌈batch·k·n·16 bit / 8⌉
             = ⌈1·4096·4096·16 bit / 8⌉
             = 33.55 MB
  bytes of out = ⌈batch·m·n·16 bit / 8⌉
               = ⌈1·64·4096·16 bit / 8⌉
               = 524.3 kB
    How to Scale Your Model, All About Rooflines: matrix multiplication
  bytes = a + b + out
        = 524288 + 33554432 + 524288
        = 34.6 MB
    every block moved once (ideal traffic)
3. Work for each byte
  I = flops / bytes
    = 2147483648 / 34603008
    = 62.06 FLOP/B
    Williams, Waterman, Patterson 2009, Roofline; How to Scale Your Model, All About Rooflines
  I_crit = peak / bandwidth
         = 100000000000000.0 / 1000000000000.0
         = 100 FLOP/B
    given in the request
4. Time on each path
  t_math = flops / peak of the matrix unit in bf16
         = 2147483648 / 100000000000000.0
         = 21.47 µs
  t_hbm = bytes / HBM bandwidth
        = 34603008 / 1000000000000.0
        = 34.6 µs
    given in the request
  waves = ⌈tiles·split / cores⌉
        = ⌈16·1 / 1⌉
        = 16 waves
  t_math of tiles = t_math / (padding efficiency·wave efficiency)
                  = 2.147483648e-05 / (1.0·1.0)
                  = 21.47 µs
    NVIDIA, Matrix Multiplication Background: tile and wave quantization
  bytes of tiles = bytes + what is read again
                 = 34603008 + 7864320
                 = 42.47 MB
    tiles on all cores at once share what they read through the last cache; without one each reads
    its own
  t_hbm of tiles = bytes of tiles / HBM bandwidth
                 = 42467328 / 1000000000000.0
                 = 42.47 µs
    NVIDIA, Matrix Multiplication Background: tile and wave quantization
5. Bounds of the time
  lower = max(t_math, t_hbm)
        = max(2.147483648e-05, 3.4603008e-05)
        = 34.6 µs
  upper = t_math + t_hbm
        = 2.147483648e-05 + 3.4603008e-05
        = 56.08 µs
    Williams, Waterman, Patterson 2009, Roofline; How to Scale Your Model, All About Rooflines
  overlapped = lower + (1 − overlap)·(upper − lower)
             = 3.4603008e-05 + (1 − 1.0)·(5.6077844480000006e-05 − 3.4603008e-05)
             = 34.6 µs
    linear between the bounds, a convention of this service
Assumed
  batch = 1, a_dtype = bf16, b_dtype = bf16, out_dtype = bf16, compute_dtype = bf16,
  target/chip/cores = 1, options/overlap = 1.0, options/collectives = exact, options/plan = rules,
  options/tile = auto, options/launch = graph, options/cache = cold
Notes
  layers.tile.on_chip_capacity_bytes is null: the chip states no store of a core, so whether the
  tile fits was not checked.
  layers.tile.losses and its estimate_s are null, as the estimates are.
  The estimates of time are null: the chip in place has one core, and kernels were measured on chips
  of many.
"""


def body(question: object) -> bytes:
    return json.dumps(question).encode()


@pytest.mark.parametrize("question", [COLUMNS, LIST])
def test_a_pipe_gets_the_bytes_of_the_api(question: object, api: httpx.Client) -> None:
    answer = api.post("/v1/evaluate", content=body(question), headers=JSON)
    assert answer.status_code == 200
    ended = roofline("evaluate", stdin=body(question))
    assert (ended.status, ended.output, ended.words) == (0, answer.content, "")


def test_a_terminal_gets_the_verdict_what_would_change_it_and_five_steps(tmp_path: Path) -> None:
    file = tmp_path / "question.json"
    file.write_bytes(body(ONE))
    ended = on_terminal("evaluate", str(file))
    assert ended.status == 0
    assert plain(ended) == PAGE
    assert "\x1b[" in ended.text  # bold, where the terminal can


def test_the_rows_of_lists_stand_in_a_table(api: httpx.Client) -> None:
    ended = on_terminal("evaluate", "-", stdin=body({**COLUMNS, "op": {**MATMUL, "m": list(range(64, 64 * 26, 64))}}))
    assert ended.status == 0
    shown = plain(ended).splitlines()
    assert shown[:5] == [
        "matmul m=[25 rows] k=4096 n=4096 dtype=bf16  on nvidia-h100-sxm@1",
        "  Limits of 25 rows: compute 20, hbm 5.",
        "  m      limited by  at least   at most  FLOP/B",
        "  64            hbm  10.33 µs   12.5 µs   62.06",
        "  128           hbm  10.64 µs  14.98 µs   120.5",
    ]
    assert shown[22:25] == [
        "  1,280     compute  43.41 µs  59.69 µs   787.7",
        "  … and 5 more, which --json prints.",
        "  The steps of the first row:",
    ]
    assert [line for line in shown if line[:1].isdigit()] == [
        "1. How much work",
        "2. How much is moved",
        "3. Work for each byte",
        "4. Time on each path",
        "5. Bounds of the time",
    ]


def test_a_list_of_ops_is_a_table_with_the_share_of_each() -> None:
    ended = on_terminal("evaluate", stdin=body(LIST))
    assert ended.status == 0
    assert plain(ended) == (
        "2 ops, one after another  on nvidia-h100-sxm@1 with some numbers replaced\n"
        "  Between 556.6 µs (all overlaps) and 626.1 µs (nothing does), for 68.72 GFLOP and 1.113 GB.\n"
        "  Limits of 2 ops: hbm 2.\n"
        "  op           limited by  count  at least, each  of the whole  FLOP/B\n"
        "  matmul              hbm     32         17.3 µs        99.5 %   62.06\n"
        "  elementwise         hbm      1            3 µs         0.5 %  0.1667\n"
        "  Ask for an op alone to see its steps and what would change it.\n"
        "Assumed\n"
        "  target/chip/base = nvidia-h100-sxm@1, options/overlap = 1.0, options/collectives = exact,\n"
        "  options/plan = rules, options/tile = auto, options/launch = graph, options/cache = cold\n"
    )


def test_text_keeps_within_a_narrow_terminal_and_without_colours() -> None:
    ended = on_terminal("evaluate", stdin=body(ONE), columns=60, variables={"NO_COLOR": "1"})
    assert ended.status == 0
    assert max(map(len, plain(ended).splitlines())) <= 60
    assert not [style for style in STYLES.findall(ended.text) if any(number in style for number in ("3", "4", "9"))]


def test_a_terminal_gets_json_when_asked(api: httpx.Client) -> None:
    ended = on_terminal("evaluate", "--json", stdin=body(ONE))
    answer = api.post("/v1/evaluate", content=body(ONE), headers=JSON)
    assert (ended.status, ended.output) == (0, answer.content + b"\r\n")


@pytest.mark.parametrize(
    ("question", "code"),
    [
        (body({"op": {"kind": "matmul", "m": 0, "k": 1, "dtyp": "bf16"}, "target": {"chip": "nvidia-h100"}}), "invalid-request"),
        (body({"target": {"chip": "nope"}, "op": {"kind": "matmul"}, "sharding": {"a": ["x"]}}), "invalid-request"),
        (b"", "malformed-json"),
        (b"op: matmul", "malformed-json"),
    ],
)
def test_a_pipe_gets_the_refusal_of_the_api(question: bytes, code: str, api: httpx.Client) -> None:
    answer = api.post("/v1/evaluate", content=question, headers=JSON)
    problem = answer.json()
    del problem["request_id"]
    ended = roofline("evaluate", stdin=question)
    assert (ended.status, ended.output) == (2, b"")
    assert json.loads(ended.words) == problem
    assert problem["code"] == code


def test_a_terminal_gets_refusals_as_lines() -> None:
    several = on_terminal("evaluate", stdin=body({"op": {**MATMUL, "m": 0, "kk": 1}, "target": {"chip": CHIP}}))
    assert (several.status, plain(several)) == (
        2,
        (
            "roofline: 2 problems.\n"
            "  /op/m: The number must be at least 1. (out-of-range)\n"
            "  /op/kk: There is no such member here. Perhaps k? (unknown-member)\n"
        ),
    )
    alone = on_terminal("evaluate", stdin=body({"op": MATMUL, "target": {"chip": "nvidia-l40x"}}))
    assert (alone.status, plain(alone)) == (
        2,
        "roofline: /target/chip: No chip has this id. Perhaps nvidia-l40 or nvidia-l40s or nvidia-l4? (unknown-chip)\n",
    )


def test_a_question_larger_than_the_api_reads_is_refused() -> None:
    ended = roofline("evaluate", stdin=b" " * (8 * 2**20 + 1))
    assert (ended.status, ended.output, json.loads(ended.words)["code"]) == (2, b"", "body-too-large")


def test_a_file_that_cannot_be_read_and_no_file_at_all_are_one_line(tmp_path: Path) -> None:
    advice = "; `roofline evaluate --help` says what can be typed.\n"
    missing = roofline("evaluate", str(tmp_path / "none.json"))
    assert (missing.status, missing.output) == (2, b"")
    assert missing.words == f"roofline: Invalid value for FILE: the file cannot be read: No such file or directory{advice}"
    nothing = on_terminal("evaluate")
    assert (nothing.status, plain(nothing).replace("\n", " ")) == (
        2,
        f"roofline: Invalid value for FILE: name a file, or pipe a question in{advice}".replace("\n", " "),
    )


def test_an_interrupt_is_quiet() -> None:
    process = subprocess.Popen(
        [*COMMAND, "evaluate"], cwd=ROOT, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        wait_until_it_reads(process)
        process.send_signal(signal.SIGINT)
        process.wait(PATIENCE_S)
        output, words = process.communicate(timeout=PATIENCE_S)
        assert (process.returncode, output, words) == (130, b"", b"")
    finally:
        process.kill()
        process.communicate()


def wait_until_it_reads(process: subprocess.Popen[bytes]) -> None:
    """Until the pipe has been emptied, which only the reading of the question does."""
    assert process.stdin is not None
    process.stdin.write(b" ")
    process.stdin.flush()
    deadline = time.monotonic() + PATIENCE_S
    while unread(process.stdin.fileno()) and time.monotonic() < deadline:
        time.sleep(0.02)


def unread(pipe: int) -> int:
    count = array.array("i", [0])
    fcntl.ioctl(pipe, termios.FIONREAD, count)
    return count[0]


def test_an_answer_loads_neither_the_web_nor_a_database_nor_a_page() -> None:
    """They would double the time that one answer takes."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "service", "evaluate"],
        cwd=ROOT,
        env=environment(),
        input=json.dumps(ONE).encode(),
        capture_output=True,
        timeout=PATIENCE_S,
        check=True,
    )
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.decode().splitlines()}
    assert "service.analysis.evaluate" in loaded
    assert loaded.isdisjoint({"starlette", "fastapi", "uvicorn", "sqlalchemy", "rich", "service.schemas.compare", "service.storage"})
