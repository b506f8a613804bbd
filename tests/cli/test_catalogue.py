"""`roofline chips`, `clusters` and `ops`: the API's documents in a pipe, tables on a terminal."""

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
        (("chips", "--vendor", "nvidia", "--kind", "gpu"), "/v1/chips?limit=200&vendor=nvidia&kind=gpu"),
        (("chips", "--dtype", "nvfp4", "--year", "2024"), "/v1/chips?limit=200&dtype=nvfp4&year=2024"),
        (("chips", "--text", "Hopper NVL", "--json"), "/v1/chips?limit=200&text=Hopper+NVL"),
        (("clusters",), "/v1/clusters?limit=200"),
        (("clusters", "hgx-h100-8@1"), "/v1/clusters/hgx-h100-8@1"),
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


@pytest.mark.parametrize(
    ("arguments", "path", "code"),
    [
        (("chips", "h100"), "/v1/chips/h100", "not-found"),
        (("clusters", "h100"), "/v1/clusters/h100", "not-found"),
        (("ops", "matmull"), "/v1/ops/matmull", "not-found"),
        (("chips", "--vendor", "nvida"), "/v1/chips?vendor=nvida", "out-of-range"),
        (("chips", "--dtype", "bf17"), "/v1/chips?dtype=bf17", "unknown-dtype"),
        (("chips", "--kind", "gpus"), "/v1/chips?kind=gpus", "out-of-range"),
    ],
)
def test_an_unknown_name_is_refused_as_by_the_api(arguments: tuple[str, ...], path: str, code: str, api: httpx.Client) -> None:
    problem = api.get(path).json()
    del problem["request_id"]
    ended = roofline(*arguments)
    assert (ended.status, ended.output, json.loads(ended.words)) == (2, b"", problem)
    suggestions = problem["suggestions"] if code == "not-found" else problem["errors"][0]["suggestions"]
    assert (problem["code"], bool(suggestions)) == (code, True)


def test_an_id_is_not_narrowed() -> None:
    ended = roofline("chips", "nvidia-h100-sxm", "--year", "2022")
    assert (ended.status, ended.output) == (2, b"")
    assert ended.words.startswith("roofline: Invalid value for '--year'")


def test_chips_are_a_table_on_a_terminal() -> None:
    shown = plain(on_terminal("chips"))
    ids = [line.split()[0] for line in shown.splitlines()[1:-2]]
    assert ids == [chip.id for chip in load().chips]
    assert "  chip                            memory  bandwidth     bf16      fp8     int8  ridge\n" in shown
    assert "  nvidia-h100-sxm                 85.9 G     3.35 T  989.4 T  1.979 P  1.979 P  295.3\n" in shown


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


def test_narrowed_chips_are_a_shorter_table() -> None:
    shown = plain(on_terminal("chips", "--vendor", "apple", "--text", "ULTRA"))
    assert [line.split()[0] for line in shown.splitlines()[1:-2]] == ["apple-m1-ultra", "apple-m2-ultra", "apple-m3-ultra"]
    assert plain(on_terminal("chips", "--vendor", "apple", "--dtype", "fp4")) == "  No chip of the catalogue is all of this.\n"


def test_systems_are_a_table_on_a_terminal() -> None:
    lines = plain(on_terminal("clusters")).splitlines()
    first = [line.split()[0] for line in lines[1:] if not line.startswith("   ")]
    assert first[: len(load().clusters)] == [cluster.id for cluster in load().clusters]
    at = next(at for at, line in enumerate(lines) if line.startswith("  tpu-v5p-pod "))
    assert " ".join(lines[at].split()) == "tpu-v5p-pod google-tpu-v5p 8,960 x 16 ring 90 GB/s"
    assert lines[at + 3].strip() == "node switch 6.25 GB/s"


def test_a_system_is_shown_with_its_axes_and_every_source() -> None:
    shown = plain(on_terminal("clusters", "hgx-h100-8", columns=160))
    document = load().cluster("hgx-h100-8").document()
    rows = [" ".join(line.split()) for line in shown.splitlines()]
    assert shown.startswith(f"hgx-h100-8@1  {document['name']}\n  8 × nvidia-h100-sxm; confidence high\n")
    assert {"gpu switch 8 450 GB/s – NVLink4 + 4 NVSwitch3", "node switch – 50 GB/s – InfiniBand NDR 400 Gb/s"} <= set(rows)
    assert "axes[node].bandwidth_per_direction_bytes_per_s 400 Gbit/s high 2" in rows
    for axis in document["axes"]:
        for source in axis["bandwidth_per_direction_bytes_per_s"]["sources"]:
            assert source["title"] in shown


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
