"""The gates that a change passes before it is looked at: lint, types, who may import whom, and lists that agree."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
ADDRESS = re.compile(r"https?://|--(?:extra-)?index-url|--find-links|file:")


def run(*arguments: str) -> None:
    """A tool run by the environment's Python finds nothing, or what it found is shown."""
    finished = subprocess.run([sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=110, check=False)
    assert finished.returncode == 0, f"{finished.stdout}\n{finished.stderr}"


def test_ruff_finds_nothing() -> None:
    run("-m", "ruff", "check", "--no-cache", ".")


def test_the_layout_is_that_of_ruff_format() -> None:
    run("-m", "ruff", "format", "--check", "--no-cache", ".")


def test_mypy_finds_nothing() -> None:
    run("-m", "mypy")


def test_imports_run_from_upper_rooms_to_lower_ones() -> None:
    run("-c", "from importlinter.cli import lint_imports_command; lint_imports_command()", "--no-cache")


def pins(name: str) -> dict[str, list[str]]:
    """The requirements of a locked list, each with its hashes."""
    entries = re.split(r"\n(?=\S)", (ROOT / name).read_text().strip())
    return {entry.split(" \\")[0].strip(): re.findall(r"--hash=sha256:[0-9a-f]{64}", entry) for entry in entries}


def test_the_locked_lists_are_hashed_and_name_no_registry() -> None:
    for name in ("requirements.lock", "requirements-dev.lock", "requirements-build.lock"):
        assert not ADDRESS.search((ROOT / name).read_text())
        for requirement, hashes in pins(name).items():
            assert re.match(r"[a-z0-9-]+==\S+", requirement), requirement
            assert hashes, f"{requirement} has no hash"


def anywhere(name: str) -> dict[str, list[str]]:
    """The requirements of a locked list without the platforms that they are for, of which a longer list may name more."""
    return {requirement.split(" ;")[0]: hashes for requirement, hashes in pins(name).items()}


def test_the_list_for_development_holds_the_other_lists_whole() -> None:
    development = anywhere("requirements-dev.lock")
    for part in (anywhere("requirements.lock"), anywhere("requirements-build.lock")):
        assert {requirement: development.get(requirement) for requirement in part} == part


def test_every_declared_dependency_is_locked() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    groups = project["dependency-groups"]
    declared = {
        "requirements.lock": project["project"]["dependencies"],
        "requirements-build.lock": groups["build"],
        "requirements-dev.lock": [
            *(requirement for requirement in groups["dev"] if isinstance(requirement, str)),
            *(requirement for extra in project["project"]["optional-dependencies"].values() for requirement in extra),
        ],
    }
    for name, requirements in declared.items():
        locked = {pin.split("==")[0] for pin in pins(name)}
        wanted = {re.split(r"[\[>=<; ]", requirement)[0].lower() for requirement in requirements}
        assert wanted <= locked
