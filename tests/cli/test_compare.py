"""`roofline compare`: the API's bytes in a pipe; on a terminal the cases, why they differ, what cancels, who is not in it."""

from __future__ import annotations

import json
import re

import httpx
import pytest

from .program import on_terminal, plain, roofline

CHIP = {
    "peak_flops_per_s": {"bf16": 1e14, "int8": 2e14},
    "vector_peak_flops_per_s": {"fp32": 5e12},
    "hbm": {"bandwidth_bytes_per_s": 1e12},
}
MATMUL = {"kind": "matmul", "m": 64, "k": 4096, "n": 4096, "dtype": "bf16"}
FORMATS = {
    "cases": [
        {"op": MATMUL, "target": {"chip": CHIP}},
        {"op": {**MATMUL, "dtype": "int8"}, "target": {"chip": CHIP}, "measured_s": 1e-5},
        {"op": {**MATMUL, "b_dtype": "int8"}, "target": {"chip": CHIP}},
    ]
}
CHIPS = {"cases": [{"op": MATMUL, "target": {"chip": "google-tpu-v5e"}}], "chips": "all"}
JSON = {"content-type": "application/json"}

PAGE = """\
3 cases of matmul
     on        formats         at least    bound     bytes  FLOP/B  critical  turns at m     time
  1  in place  bf16             34.6 µs      hbm   34.6 MB   62.06       100       105.1       1×
  2  in place  int8             17.3 µs      hbm   17.3 MB   124.1       200       105.1     0.5×
  3  in place  bf16/int8/bf16  21.47 µs  compute  17.83 MB   120.5       100       52.57  0.6206×
What was measured
  2: 10 µs, 173 % of the roof, above the roof; look into wrong-unit.
Why the least time differs from that of the first
     on           time  by number formats  by peak
  2  in place     0.5×            0.6206×  0.8057×
  3  in place  0.6206×            0.6206×       1×
  One after another in this order, so that they multiply to the time.
What cancels
  2: number formats (0.5×) and peak (2×) offset each other: the size at which the verdict turns
  stays where case 1 has it.
"""


def body(question: object) -> bytes:
    return json.dumps(question).encode()


@pytest.mark.parametrize("question", [FORMATS, CHIPS])
def test_a_pipe_gets_the_bytes_of_the_api(question: object, api: httpx.Client) -> None:
    answer = api.post("/v1/compare", content=body(question), headers=JSON)
    assert answer.status_code == 200
    ended = roofline("compare", stdin=body(question))
    assert (ended.status, ended.output, ended.words) == (0, answer.content, "")


def test_a_terminal_gets_the_cases_and_why_they_differ() -> None:
    ended = on_terminal("compare", stdin=body(FORMATS))
    assert (ended.status, plain(ended)) == (0, PAGE)


def test_every_chip_is_in_the_table_or_said_to_be_missing() -> None:
    ended = on_terminal("compare", "-", stdin=body(CHIPS), columns=120)
    shown = plain(ended)
    assert ended.status == 0
    assert "\n  1   google-tpu-v5e@1 " in shown
    excluded = shown[shown.index("Not in it\n") :]
    assert "  nvidia-v100-sxm2@1             The chip's matrix unit has no bf16 peak; it has fp16.\n" in excluded
    lines = re.findall(r"^  [0-9]+ +[a-z]", shown[: shown.index("Why")], re.MULTILINE)
    assert shown.startswith(f"{len(lines)} cases of matmul\n")


def test_cases_of_several_kinds_name_the_dim_in_which_each_turns() -> None:
    cases = [{"op": MATMUL, "target": {"chip": CHIP}}, {"op": {"kind": "dot", "n": 1000, "dtype": "fp32"}, "target": {"chip": CHIP}}]
    shown = plain(on_terminal("compare", stdin=body({"cases": cases})))
    assert shown.startswith("2 cases of matmul, dot\n")
    assert "by other work" in shown


def test_a_pipe_gets_the_refusal_of_the_api(api: httpx.Client) -> None:
    question = body({"cases": [{"op": MATMUL, "target": {"chip": "nvidia-l40x"}}, {"op": MATMUL}]})
    problem = api.post("/v1/compare", content=question, headers=JSON).json()
    del problem["request_id"]
    ended = roofline("compare", stdin=question)
    assert (ended.status, ended.output, json.loads(ended.words)) == (2, b"", problem)
    assert problem["errors"]
