"""A checkout in small: the real bootstrap, a command that prints what it sees, and locked lists of one tiny wheel each.

Making its environment takes a second and no network, so the tests can start it clean, interrupted, twice at once, moved.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
BARE_PYTHON = Path(sys.base_prefix) / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}"
BARE = ("-S", "-E", "-s")  # no site-packages, no variables, no user's folder
FILES = ("service/__init__.py", "service/__main__.py", "service/bootstrap.py", "tests/__init__.py", "tests/__main__.py")
COMMAND = """
import json, sys, tiny
def main():
    print(json.dumps({"prefix": sys.prefix, "arguments": sys.argv[1:], "tiny": tiny.VERSION, "file": __file__}))
"""
PYTEST = """
import json, sys
def main(arguments):
    print(json.dumps({"prefix": sys.prefix, "arguments": arguments}))
    return 3
"""
# As uv, but installing waits until a test lets it go on, for a minute at most.
SLOW_UV = """#!/bin/sh
case "$*" in *" install "*)
  echo >&2 'uv has begun'
  left=600
  until [ -e "$HOME/go on" ] || [ "$left" = 0 ]; do sleep 0.1; left=$((left - 1)); done ;;
esac
exec {uv} "$@"
"""


class Checkout:
    """A source checkout in `folder`, started as a person would with a PATH of our choice."""

    def __init__(self, folder: Path, wheels: Path) -> None:
        self.folder = folder
        self.wheels = wheels
        self.environment = folder / ".venv"
        self.programs = wheels.parent / "programs"
        for name in FILES:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
        (folder / "service/cli.py").write_text(COMMAND)
        (folder / "pyproject.toml").touch()
        self.programs.mkdir()
        self.provide_uv()
        self.lock("requirements.lock", tiny="1.0")
        self.lock("requirements-dev.lock", tiny="1.0", pytest="9.9")

    def provide_uv(self, *, slow: bool = False) -> None:
        uv = Path(sysconfig.get_path("scripts")) / "uv"
        script = SLOW_UV if slow else '#!/bin/sh\nexec {uv} "$@"\n'
        (self.programs / "uv").write_text(script.format(uv=uv))
        (self.programs / "uv").chmod(0o755)

    def go_on(self) -> None:
        """Let a slow uv install."""
        (self.wheels.parent / "go on").touch()

    def remove_uv(self) -> None:
        (self.programs / "uv").unlink()

    def lock(self, name: str, **versions: str) -> None:
        """A list of our own wheels, found beside the checkout and nowhere else."""
        lines = ["--no-index", f"--find-links {self.wheels}"]
        for package, version in versions.items():
            wheel = self.wheel(package, version)
            lines.append(f"{package}=={version} --hash=sha256:{hashlib.sha256(wheel.read_bytes()).hexdigest()}")
        (self.folder / name).write_text("\n".join(lines) + "\n")

    def wheel(self, package: str, version: str) -> Path:
        path = self.wheels / f"{package}-{version}-py3-none-any.whl"
        information = f"{package}-{version}.dist-info"
        files = {
            f"{package}.py": PYTEST if package == "pytest" else f"VERSION = {version!r}\n",
            f"{information}/METADATA": f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n",
            f"{information}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        }
        files[f"{information}/RECORD"] = "".join(f"{name},,\n" for name in [*files, f"{information}/RECORD"])
        with zipfile.ZipFile(path, "w") as archive:
            for name, text in files.items():
                archive.writestr(zipfile.ZipInfo(name), text)
        return path

    def command(self, *arguments: str, package: str = "service", python: Path = BARE_PYTHON, flags: tuple[str, ...] = BARE) -> list[str]:
        return [str(python), *flags, "-m", package, *arguments]

    def begin(self, command: list[str]) -> subprocess.Popen[str]:
        return subprocess.Popen(
            command,
            cwd=self.folder,
            env={"PATH": f"{self.programs}:/usr/bin:/bin", "HOME": str(self.wheels.parent), "LC_ALL": "C.UTF-8"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def start(self, command: list[str] | None = None) -> Start:
        return Start.of(self.begin(command or self.command()))


class Start:
    """One start that has ended: its exit status, its words, and what the command printed."""

    def __init__(self, status: int, output: str, words: str) -> None:
        self.status, self.output, self.words = status, output, words

    @classmethod
    def of(cls, process: subprocess.Popen[str]) -> Start:
        output, words = process.communicate(timeout=100)
        return cls(process.returncode, output, words)

    @property
    def printed(self) -> Any:
        """The JSON on standard output, and only that, of a start that went well."""
        assert self.output, self.words
        return json.loads(self.output)


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """A fresh checkout in a folder whose name needs quoting."""
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    return Checkout(tmp_path / "a person's checkout", wheels)
