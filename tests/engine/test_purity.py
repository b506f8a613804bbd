"""The engine alone: no web, no database, no state that threads could share."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from service.engine.machine import Machine

from .asking import ask
from .chips import B200, H100, V5E
from .test_laws import bits

FOREIGN = ("pydantic", "fastapi", "starlette", "sqlalchemy", "alembic", "psycopg", "orjson", "typer", "structlog", "yaml")
OTHER_ROOMS = ("service.api", "service.analysis", "service.schemas", "service.storage", "service.catalogue", "service.settings")


def test_importing_the_engine_loads_no_web_and_no_database() -> None:
    program = "import sys, service.engine.ops, service.engine.batch; print(*sorted(sys.modules))"
    loaded = set(subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60).stdout.split())
    assert "service.engine.ops.matmul" in loaded
    assert not loaded & {*FOREIGN, *OTHER_ROOMS}


def test_eight_threads_give_the_answers_of_one() -> None:
    questions: list[tuple[str, Machine, dict[str, Any]]] = []
    for n in range(1, 51):
        questions += [
            ("matmul", V5E, {"m": n, "k": 64 * n, "n": 4096, "dtype": "bf16", "b_dtype": "int8"}),
            ("matmul", B200, {"m": n, "k": 4096, "n": 8192, "batch": 1 + n % 3, "dtype": "mxfp8"}),
            ("einsum", H100, {"equation": "bhqd,bhkd->bhqk", "dims": {"b": n, "h": 8, "q": 16, "k": 64, "d": 128}, "dtype": "fp16"}),
            ("elementwise", H100, {"n": 1000 * n, "dtype": "bf16"}),
            ("dot", H100, {"n": [n, 2 * n], "dtype": "fp8"}),
        ]

    def answered(question: tuple[str, Machine, dict[str, Any]]) -> list[dict[str, bytes]]:
        kind, chip, members = question
        found = ask(kind, chip, **members)
        return [bits(found, at) for at in range(found.rows)]

    serial = [answered(each) for each in questions]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(answered, questions)) == serial


def test_asking_changes_nothing_in_a_chip_or_a_question() -> None:
    before = {name: peak.copy() for name, peak in V5E.matrix_peaks.items()}
    first, second = (ask("matmul", V5E, m=7, k=9, n=11, batch=3, dtype="bf16") for _ in range(2))
    assert bits(first, 0) == bits(second, 0)
    assert {name: peak.tolist() for name, peak in V5E.matrix_peaks.items()} == {name: peak.tolist() for name, peak in before.items()}
