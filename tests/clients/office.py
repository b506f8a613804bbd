"""LibreOffice without a screen, in a profile of its own that is thrown away."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

MISSING = "LibreOffice with its Python library is needed: apt-get install --no-install-recommends libreoffice-calc-nogui python3-uno"
PYTHON = "/usr/bin/python3"
DESKTOP = Path(__file__).with_name("desktop.py")
LIMIT_S = 60

_SETTING = '<item oor:path="/org.openoffice.Office.{path}"><prop oor:name="{name}" oor:op="fuse"><value>{value}</value></prop></item>'
_SETTINGS = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry">{}</oor:items>
"""


@dataclass(frozen=True)
class Opened:
    """A sheet as the office has it."""

    values: list[list[str | float | None]]
    formulas: str
    """the addresses of cells that are formulas"""
    sheets: list[str]


@dataclass(frozen=True)
class Office:
    """A running office, which follows the links of what lies in `folder`."""

    pipe: str
    folder: Path

    def open(self, name: str, content: bytes, *, sheet: str = "", options: str = "") -> Opened:
        """The sheet of a file; `options` say how CSV is to be read, as the office's own dialog does."""
        path = self.folder / name
        path.write_bytes(content)
        command = [PYTHON, str(DESKTOP), self.pipe, path.as_uri(), sheet, options]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
        assert ran.returncode == 0, ran.stderr
        return Opened(**json.loads(ran.stdout))


@contextmanager
def office(folder: Path) -> Iterator[Office]:
    """An office for as long as it is needed. Fails where there is none."""
    if shutil.which("soffice") is None or subprocess.run([PYTHON, "-c", "import uno"], capture_output=True, check=False).returncode:
        pytest.fail(MISSING, pytrace=False)
    files, profile, pipe = folder / "files", folder / "profile", f"roofline-{uuid.uuid4().hex}"
    files.mkdir()
    _write_settings(profile, files)
    program = ["soffice", f"-env:UserInstallation={profile.as_uri()}", "--headless", "--norestore", f"--accept=pipe,name={pipe};urp"]
    process = subprocess.Popen(
        program, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        yield Office(pipe, files)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(LIMIT_S)


def _write_settings(profile: Path, trusted: Path) -> None:
    """Calculate what is opened, and ask nobody before links of files in `trusted` are followed."""
    always = "0"
    settings: list[dict[str, Any]] = [
        {"path": "Common/Security/Scripting", "name": "SecureURL", "value": f"<it>{trusted.as_uri()}</it>"},
        {"path": "Calc/Content/Update", "name": "Link", "value": always},
        {"path": "Calc/Formula/Load", "name": "OOXMLRecalcMode", "value": always},
        {"path": "Calc/Formula/Load", "name": "ODFRecalcMode", "value": always},
    ]
    (profile / "user").mkdir(parents=True)
    items = "".join(_SETTING.format(**each) for each in settings)
    (profile / "user" / "registrymodifications.xcu").write_text(_SETTINGS.format(items), encoding="utf-8")
