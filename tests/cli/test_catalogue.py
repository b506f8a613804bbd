"""`roofline chips` and `roofline ops`: the API's documents in a pipe, tables on a terminal."""

from __future__ import annotations

import json
import subprocess

import httpx
import pytest

from service.catalogue import load
from service.engine.ops import OPS

from .program import COMMAND, PATIENCE_S, ROOT, environment, on_terminal, plain, roofline


@pytest.mark.parametrize(
    ("arguments", "path"),
    [
        (("chips",), "/v1/chips?limit=200"),
        (("chips", "google-tpu-v5e@1"), "/v1/chips/google-tpu-v5e@1"),
        (("ops",), "/v1/ops?limit=200"),
        (("ops", "einsum"), "/v1/ops/einsum"),
        (("openapi",), "/openapi.yaml"),
    ],
)
def test_a_pipe_gets_the_bytes_of_the_api(arguments: tuple[str, ...], path: str, api: httpx.Client) -> None:
    answer = api.get(path)
    assert answer.status_code == 200
    ended = roofline(*arguments)
    assert (ended.status, ended.output, ended.words) == (0, answer.content, "")


@pytest.mark.parametrize(("arguments", "path"), [(("chips", "h100"), "/v1/chips/h100"), (("ops", "matmull"), "/v1/ops/matmull")])
def test_an_unknown_name_is_refused_as_by_the_api(arguments: tuple[str, ...], path: str, api: httpx.Client) -> None:
    problem = api.get(path).json()
    del problem["request_id"]
    ended = roofline(*arguments)
    assert (ended.status, ended.output, json.loads(ended.words)) == (2, b"", problem)
    assert (problem["code"], bool(problem["suggestions"])) == ("not-found", True)


def test_chips_are_a_table_on_a_terminal() -> None:
    shown = plain(on_terminal("chips"))
    ids = [line.split()[0] for line in shown.splitlines()[1:-2]]
    assert ids == [chip.id for chip in load().chips]
    assert "  chip                             memory   bandwidth     bf16      fp8     int8  ridge bf16\n" in shown
    assert "  nvidia-h100-sxm                 85.9 GB   3.35 TB/s  989.4 T  1.979 P  1.979 P       295.3\n" in shown


def test_a_chip_is_shown_with_every_source_and_every_other_figure() -> None:
    shown = plain(on_terminal("chips", "google-tpu-v5e", columns=160))
    document = load().chip("google-tpu-v5e").document()
    assert shown.startswith(f"google-tpu-v5e@1  {document['name']}\n")
    for source in document["hbm"]["bandwidth_bytes_per_s"]["sources"]:
        assert source["title"] in shown
    for other in document["alternatives"]:
        assert other["field"] in shown
    assert "  hbm.bandwidth_bytes_per_s                               819 GB/s" in shown
    assert "  matrix unit: bf16 240.5, int8 481.1, int4 962.1\n" in shown


def test_ops_are_a_table_on_a_terminal() -> None:
    shown = plain(on_terminal("ops"))
    assert [kind for kind in OPS if f"\n  {kind} " in shown] == list(OPS)


def test_an_op_is_shown_with_fields_counts_and_an_example_that_works() -> None:
    shown = plain(on_terminal("ops", "dot"))
    rows = [" ".join(line.split()) for line in shown.splitlines()]
    assert {"n length of both vectors required", "flops 2·n − 1", "elements of out 1"} <= set(rows)
    example = shown[shown.index("\n  {") :]
    assert roofline("evaluate", stdin=example.encode()).status == 0


def test_a_reader_that_has_seen_enough_is_no_problem() -> None:
    process = subprocess.Popen([*COMMAND, "chips"], cwd=ROOT, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.close()
    try:
        _, words = process.communicate(timeout=PATIENCE_S)
        assert (process.returncode, words) == (141, b"")
    finally:
        process.kill()
        process.wait()


def test_a_full_disk_is_one_line() -> None:
    with open("/dev/full", "wb") as full:  # noqa: PTH123 - a device
        done = subprocess.run(
            [*COMMAND, "ops"], cwd=ROOT, env=environment(), stdout=full, stderr=subprocess.PIPE, timeout=PATIENCE_S, check=False
        )
    assert (done.returncode, done.stderr) == (2, b"roofline: the output cannot be written: No space left on device\n")
