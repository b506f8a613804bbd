"""A checkout to which the op and the chip of the guides have been added, by doing what the guides say."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from .pages import ADDING_A_CHIP, ADDING_AN_OP, ROOT, block

OP_FILE = "service/engine/ops/axpy.py"
CHIP_FILE = "service/catalogue/chips/example-one.toml"


class Checkout:
    """A copy of this checkout in `folder`. It has no `pyproject.toml`, so that its commands run in the environment of the tests."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for part in ("service", "migrations", "tests", "docs"):
            shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text, encoding="utf-8")

    def read(self, name: str) -> str:
        return (self.folder / name).read_text(encoding="utf-8")

    def type(self, command: str) -> str:
        """What a command of a guide prints; it must succeed."""
        command = command.replace(".venv/bin/python", sys.executable)
        environ = {**os.environ, "PYTHONPATH": str(self.folder), "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(
            ["bash", "-euc", command], cwd=self.folder, env=environ, capture_output=True, text=True, timeout=110, check=False
        )
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        return done.stdout

    def add_sources(self, text: str) -> None:
        """Sources are sorted by their keys, which stand first in each."""
        head, *sources = re.split(r"^(?=\[)", self.read("service/catalogue/sources.toml"), flags=re.MULTILINE)
        sources = sorted([*(each.strip() for each in sources), text.strip()], key=lambda each: each.partition("]")[0])
        self.write("service/catalogue/sources.toml", head + "\n\n".join(sources) + "\n")


def extended(folder: Path) -> Checkout:
    """The checkout after the steps of both guides."""
    checkout = Checkout(folder)
    checkout.write(OP_FILE, block(ADDING_AN_OP, OP_FILE))
    checkout.write(CHIP_FILE, block(ADDING_A_CHIP, CHIP_FILE))
    checkout.add_sources(block(ADDING_A_CHIP, "sources"))
    checkout.type(block(ADDING_A_CHIP, "digests"))
    return checkout
