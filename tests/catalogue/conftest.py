"""The shipped catalogue, read once, and small folders that a test may spoil."""

from __future__ import annotations

from pathlib import Path

import pytest

from service.catalogue import Catalogue, load

SOURCES = """\
[sheet]
title     = "Example data sheet"
publisher = "Example"
"""

CHIP = """\
id             = "example-1"
revision       = 1
reason         = "first entry"
confidence     = "high"
confidence_why = "A data sheet."
name           = "Example One"
vendor         = "example"
kind           = "gpu"
architecture   = "First"
launch_year    = 2024
form_factor    = "card"

[compute]
bf16 = { value = 400, unit = "TFLOP/s", source = "sheet" }
fp8  = { value = 800, unit = "TFLOP/s", source = "sheet" }

[vector]
fp32 = { value = 25.6, unit = "TFLOP/s", source = "sheet" }

[hbm]
type      = "HBM3"
capacity  = { value = 80, unit = "GiB", source = "sheet" }
bandwidth = { value = 2.0, unit = "TB/s", source = "sheet" }

[cores]
name  = "core"
count = { value = 100, unit = "count", source = "sheet" }

[matrix_unit]
name = "matrix unit"

[[on_chip]]
name     = "L2"
scope    = "chip"
role     = "l2"
capacity = { value = 40, unit = "MiB", source = "sheet" }

[[on_chip]]
name     = "scratchpad"
scope    = "core"
role     = "tile"
capacity = { value = 256, unit = "KiB", source = "sheet" }
usable   = { value = 228, unit = "KiB", source = "sheet", note = "the rest is kept back" }
"""


class Folder:
    """A catalogue of one chip and one source in a folder of its own."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / "chips").mkdir()
        self.write("sources.toml", SOURCES)
        self.write("chips/example-1.toml", CHIP)

    def write(self, name: str, text: str) -> None:
        (self.root / name).write_text(text, encoding="utf-8")

    def replace(self, name: str, old: str, new: str) -> None:
        text = (self.root / name).read_text(encoding="utf-8")
        assert old in text
        self.write(name, text.replace(old, new))


@pytest.fixture(scope="session")
def catalogue() -> Catalogue:
    return load()


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)
