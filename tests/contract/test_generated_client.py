"""A client that openapi-python-client makes from the committed document asks what the README asks, and reads a typed answer."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from service.api.uploads import MEDIA_TYPES

from ..docs.conversation import read
from ..docs.pages import README, ROOT, exchanges

PACKAGE = "roofline_client"
BYTES = "application/octet-stream"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The generated package, made without a single warning. The generator has to be told which types are mere bytes to it."""
    folder = tmp_path_factory.mktemp("generated")
    config = folder / "config.json"
    config.write_text(json.dumps({"content_type_overrides": dict.fromkeys(set(MEDIA_TYPES) - {"application/json"}, BYTES)}))
    programs = str(Path(sys.executable).parent)
    subprocess.run(
        [
            *("openapi-python-client", "generate", "--path", ROOT / "openapi.yaml", "--meta", "none"),
            *("--output-path", folder / PACKAGE, "--config", config, "--fail-on-warning"),
        ],
        env={**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"},
        check=True,
        timeout=100,
    )
    with pytest.MonkeyPatch.context() as paths:
        paths.syspath_prepend(str(folder))
        yield importlib.import_module(PACKAGE)
    for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
        del sys.modules[name]


def part(name: str) -> Any:
    return importlib.import_module(f"{PACKAGE}.{name}")


@pytest.fixture(scope="module")
def service(client: Any, address: str) -> Iterator[Any]:
    with client.Client(base_url=address, raise_on_unexpected_status=True, httpx_args={"trust_env": False}) as service:
        yield service


def test_it_asks_what_the_readme_asks(service: Any) -> None:
    asked, shown = next(exchanges(README.read_text(encoding="utf-8")))
    models = part("models")
    question = models.Question.from_dict(json.loads(read(asked).body or ""))
    assert isinstance(question.op, models.MatmulOp)
    assert question.op.dtype is models.FormatName.BF16
    answer = part("api.rooflines.post_evaluate").sync(client=service, body=question)
    assert isinstance(answer, models.Answer)
    assert isinstance(answer.result, models.Result)
    expected = json.loads(shown.text)
    assert answer.result.bound is models.Bound.HBM
    assert answer.result.time.lower_s == expected["result"]["time"]["lower_s"]
    assert answer.result.thresholds[0].exact == expected["result"]["thresholds"][0]["exact"]
    assert answer.to_dict() == expected


def test_a_question_is_built_of_typed_parts(service: Any) -> None:
    models = part("models")
    op = models.MatmulOp(kind="matmul", m=64, k=8192, n=28672, dtype=models.FormatName.BF16)
    question = models.Question(op=op, target=models.TargetModel(chip="nvidia-h100-sxm"))
    answer = part("api.rooflines.post_evaluate").sync(client=service, body=question)
    assert answer.result.bound is models.Bound.HBM


def test_what_is_refused_is_a_typed_problem(service: Any) -> None:
    models = part("models")
    op = models.DotOp(kind="dot", n=8, dtype=models.FormatName.BF16)
    question = models.Question(op=op, target=models.TargetModel(chip="nvidia-h100"))
    problem = part("api.rooflines.post_evaluate").sync(client=service, body=question)
    assert isinstance(problem, models.Problem)
    assert problem.errors[0].code == "unknown-chip"
    assert "nvidia-h100-sxm" in problem.errors[0].suggestions


def test_an_analysis_is_kept_and_read(service: Any) -> None:
    models = part("models")
    op = models.DotOp(kind="dot", n=4096, dtype=models.FormatName.BF16)
    question = models.SavedQuestion(op=op, target=models.TargetModel(chip="nvidia-h100-sxm"), note="generated")
    kept = part("api.analyses.post_analysis").sync(client=service, body=question)
    assert isinstance(kept, models.AnalysisDocument)
    found = part("api.analyses.get_analysis").sync(kept.id, client=service)
    assert (found.id, found.note, found.result.bound) == (kept.id, "generated", models.Bound.HBM)


def test_a_cell_is_asked_by_the_members_of_its_question(service: Any) -> None:
    models = part("models")
    members = models.GetCellMembers.from_dict({"op": "dot", "n": "4096", "dtype": "fp32", "chip": "nvidia-h100-sxm"})
    assert part("api.tables.get_cell").sync("bound", client=service, members=members) == "hbm"
