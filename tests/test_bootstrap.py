"""The two commands of a clean checkout, under a bare Python, an old Python, and whatever may come in between."""

from __future__ import annotations

import ast
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from .skeleton import BARE, BARE_PYTHON, FILES, ROOT, Checkout, Start

MADE = ["roofline: making .venv with Python {}.{}.{}".format(*sys.version_info)]
INSTALLED = ["roofline: installing the packages of requirements.lock", "roofline: ready"]


@pytest.mark.parametrize("name", FILES)
def test_what_runs_first_parses_on_an_old_python_and_needs_nothing_installed(name: str) -> None:
    tree = ast.parse((ROOT / name).read_text(), feature_version=(3, 8))
    guarded = {"cli", "pytest"}  # imported only after the bootstrap
    for node in ast.walk(tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or "service"] if isinstance(node, ast.ImportFrom) else []
        assert {name.split(".")[0] for name in names} <= sys.stdlib_module_names | {"service"} | guarded


def test_a_bare_python_makes_the_environment_and_runs_the_command(checkout: Checkout) -> None:
    first = checkout.start(checkout.command("evaluate", "a b", "--x=ü"))
    assert first.printed == {
        "prefix": str(checkout.environment),
        "arguments": ["evaluate", "a b", "--x=ü"],
        "tiny": "1.0",
        "file": str(checkout.folder / "service/cli.py"),
    }
    assert first.words.splitlines() == MADE + INSTALLED
    assert checkout.start().words == ""


def test_without_uv_the_environment_is_made_by_venv_and_pip(checkout: Checkout) -> None:
    checkout.remove_uv()
    start = checkout.start()
    assert start.printed["tiny"] == "1.0"
    assert start.words.splitlines() == MADE + INSTALLED
    assert checkout.start().words == ""


def test_a_warm_start_imports_next_to_nothing(checkout: Checkout) -> None:
    checkout.start()
    warm = checkout.start(checkout.command(flags=(*BARE, "-X", "importtime")))
    imported = {line.split("|")[-1].strip() for line in warm.words.splitlines()}
    assert "hashlib" in imported  # the first process tells what it imports
    assert imported.isdisjoint({"shutil", "subprocess", "tempfile", "pathlib", "typing", "json", "re", "venv"})


def test_the_tests_are_given_the_longer_list_and_their_arguments(checkout: Checkout) -> None:
    tests = checkout.start(checkout.command("-k", "matmul", package="tests"))
    assert tests.printed == {"prefix": str(checkout.environment), "arguments": ["-k", "matmul"]}
    assert tests.status == 3
    assert "requirements-dev.lock" in tests.words
    assert checkout.start().words == ""  # the longer list serves the service too


def test_two_starts_at_once_prepare_one_environment(checkout: Checkout) -> None:
    processes = [checkout.begin(checkout.command()) for _ in range(3)]
    starts = [Start.of(process) for process in processes]
    assert [start.printed["tiny"] for start in starts] == ["1.0"] * 3
    assert sum(start.words.count("installing") for start in starts) == 1


def read_until(word: str, process: subprocess.Popen[str]) -> None:
    """Read what a start says, up to the line with `word`."""
    assert process.stderr is not None
    while word not in process.stderr.readline():
        assert process.poll() is None


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_an_interrupted_start_is_mended_by_the_next(checkout: Checkout, how: signal.Signals) -> None:
    checkout.provide_uv(slow=True)
    process = checkout.begin(checkout.command())
    read_until("installing", process)
    os.killpg(process.pid, how)
    interrupted = Start.of(process)
    if how is signal.SIGINT:
        assert interrupted.status == 130
        assert interrupted.words == "roofline: interrupted; the next start mends what is half done\n"
    checkout.provide_uv()
    after = checkout.start()
    assert after.printed["tiny"] == "1.0"
    assert after.words.splitlines() == MADE + INSTALLED


def test_an_installer_that_outlives_its_start_is_waited_for(checkout: Checkout) -> None:
    """The start alone is killed; what it began goes on to write into the environment."""
    checkout.provide_uv(slow=True)
    killed = checkout.begin(checkout.command())
    read_until("uv has begun", killed)
    killed.kill()
    second = checkout.begin(checkout.command())
    read_until("waiting for another start", second)
    assert not (checkout.environment / "roofline-stamp").exists()
    checkout.go_on()
    after = Start.of(second)
    assert after.printed["tiny"] == "1.0"
    assert [line for line in after.words.splitlines() if "begun" not in line] == MADE + INSTALLED
    assert Start.of(killed).status == -signal.SIGKILL
    assert checkout.start().words == ""


def test_a_start_right_after_one_was_killed_has_a_whole_environment(checkout: Checkout) -> None:
    """As above with pip, at whatever moment the kill finds it."""
    checkout.remove_uv()
    killed = checkout.begin(checkout.command())
    read_until("installing", killed)
    killed.kill()
    after = checkout.start()
    assert after.printed["tiny"] == "1.0"
    assert after.words.splitlines()[-3:] == MADE + INSTALLED
    assert Start.of(killed).status == -signal.SIGKILL


def test_a_half_installed_package_in_an_environment_of_others_is_mended(checkout: Checkout) -> None:
    checkout.start([str(checkout.programs / "uv"), "venv", "-q", "-p", str(BARE_PYTHON), str(checkout.environment)])
    checkout.start()
    (checkout.environment / "roofline-stamp").unlink()
    next(checkout.environment.glob("lib/*/site-packages/tiny.py")).unlink()
    assert checkout.start().printed["tiny"] == "1.0"


def test_a_changed_list_is_installed_into_the_environment_that_is_there(checkout: Checkout) -> None:
    checkout.start()
    checkout.lock("requirements.lock", tiny="10.0")
    after = checkout.start()
    assert after.printed["tiny"] == "10.0"
    assert after.words.splitlines() == INSTALLED


def test_a_command_inside_the_environment_also_follows_a_changed_list(checkout: Checkout) -> None:
    checkout.start()
    checkout.lock("requirements.lock", tiny="10.0")
    after = checkout.start([str(checkout.environment / "bin/roofline")])
    assert after.printed["tiny"] == "10.0"


@pytest.mark.parametrize("stamp", ["", "\n", "python 3.11.0\n", "\0\xff"])
def test_an_environment_with_a_broken_stamp_is_mended(checkout: Checkout, stamp: str) -> None:
    checkout.start()
    (checkout.environment / "roofline-stamp").write_text(stamp)
    assert checkout.start().printed["tiny"] == "1.0"
    assert checkout.start().words == ""


def test_an_environment_whose_python_is_gone_is_made_anew(checkout: Checkout) -> None:
    checkout.start()
    for python in (checkout.environment / "bin").glob("python*"):
        python.unlink()
    after = checkout.start()
    assert after.printed["tiny"] == "1.0"
    assert after.words.splitlines() == MADE + INSTALLED


def test_an_environment_of_another_python_is_noticed_from_inside(checkout: Checkout) -> None:
    """As when the system's Python is upgraded, and the environment's links lead to the new one."""
    checkout.start()
    stamp = checkout.environment / "roofline-stamp"
    stamp.write_text(stamp.read_text().replace("python 3.", "python 2."))
    after = checkout.start()
    assert after.printed["tiny"] == "1.0"
    assert after.words.splitlines()[-1] == "roofline: ready"
    assert checkout.start().words == ""


def test_a_checkout_that_was_moved_gets_an_environment_of_its_own(checkout: Checkout) -> None:
    checkout.start()
    checkout.folder = checkout.folder.rename(checkout.folder.with_name("moved"))
    after = checkout.start()
    assert after.printed["prefix"] == str(checkout.folder / ".venv")
    assert after.words.splitlines() == MADE + INSTALLED


def test_an_environment_made_by_other_means_is_used_where_it_fits(checkout: Checkout) -> None:
    made = checkout.start([str(checkout.programs / "uv"), "venv", "-q", "-p", str(BARE_PYTHON), str(checkout.environment)])
    assert made.status == 0
    (checkout.environment / "mine").touch()
    after = checkout.start()
    assert after.printed["prefix"] == str(checkout.environment)
    assert after.words.splitlines() == INSTALLED
    assert (checkout.environment / "mine").exists()


def test_a_folder_that_is_no_environment_of_ours_is_left_alone(checkout: Checkout) -> None:
    checkout.environment.mkdir()
    (checkout.environment / "mine").touch()
    refused = checkout.start()
    assert refused.status == 2
    assert refused.words.startswith(f"roofline: {checkout.environment} was made by other means and does not fit Python 3.")
    assert (checkout.environment / "mine").exists()


def test_a_file_that_is_not_the_locked_one_is_refused_and_nothing_runs(checkout: Checkout) -> None:
    checkout.lock("requirements.lock", tiny="1.0")
    with (checkout.wheels / "tiny-1.0-py3-none-any.whl").open("ab") as wheel:
        wheel.write(b"\0")
    refused = checkout.start()
    assert (refused.status, refused.output) == (2, "")
    assert "roofline: the packages of requirements.lock cannot be installed" in refused.words
    checkout.lock("requirements.lock", tiny="1.0")
    assert checkout.start().printed["tiny"] == "1.0"


def test_a_checkout_that_cannot_be_written_is_one_sentence(checkout: Checkout) -> None:
    (checkout.folder / ".venv.lock").mkdir()
    refused = checkout.start()
    assert refused.status == 2
    assert refused.words.startswith("roofline: the environment cannot be prepared: ")
    assert len(refused.words.splitlines()) == 1


def test_the_launcher_runs_from_any_folder_whatever_is_named_service_there(checkout: Checkout, tmp_path: Path) -> None:
    checkout.start()
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "service").mkdir(parents=True)
    (elsewhere / "service/__main__.py").write_text("raise SystemExit('not this one')")
    launcher = [str(checkout.environment / "bin/roofline"), "chips"]
    ran = subprocess.run(launcher, cwd=elsewhere, capture_output=True, text=True, check=True, timeout=60)
    assert '"arguments": ["chips"]' in ran.stdout


def test_an_installed_package_passes_through(checkout: Checkout) -> None:
    (checkout.folder / "pyproject.toml").unlink()
    shutil.copy(checkout.wheels / "tiny-1.0-py3-none-any.whl", checkout.folder / "tiny.zip")
    path = f"PYTHONPATH={checkout.folder / 'tiny.zip'}"
    start = checkout.start(["env", path, *checkout.command("chips", flags=("-S", "-s"))])
    assert start.printed["prefix"] == sys.base_prefix
    assert start.words == ""
    assert not checkout.environment.exists()


def pretending(change: str) -> list[str]:
    """The command under a Python that differs from this one by `change`."""
    program = f"import sys, runpy; {change}; sys.path.insert(0, ''); runpy.run_module('service', run_name='__main__')"
    return [str(BARE_PYTHON), *BARE, "-c", program]


def test_a_python_without_venv_is_told_which_package_has_it(checkout: Checkout) -> None:
    checkout.remove_uv()
    for missing in ("ensurepip", "venv"):
        refused = checkout.start(pretending(f"sys.modules[{missing!r}] = None"))
        assert refused.status == 2
        assert "`apt-get install python{}.{}-venv`".format(*sys.version_info) in refused.words.splitlines()[-1]


def test_an_old_python_is_told_what_is_needed_and_where_it_is(checkout: Checkout) -> None:
    change = "sys.version_info = (3, 8, 18, 'final', 0)"
    (checkout.programs / "python3.11").write_text("#!/bin/sh\nexit 127\n")  # as a version manager leaves behind
    (checkout.programs / "python3.13").symlink_to(BARE_PYTHON)
    (checkout.programs / "python3.11").chmod(0o755)
    needed = f"roofline: Python 3.11 or newer is needed, and this is 3.8.18 ({BARE_PYTHON})"
    command = ["env", f"PATH={checkout.programs}", *pretending(change)]
    refused = checkout.start(command)
    assert (refused.status, refused.output) == (2, "")
    assert refused.words == f"{needed}; python3.13 is on PATH: use that in its place\n"
    (checkout.programs / "python3.13").unlink()
    assert checkout.start(command).words == f"{needed}\n"


def old_pythons() -> list[Path]:
    """Those of this machine, on PATH and from pyenv, that are too old for the service and young enough to parse its first files."""
    folders = [Path(folder) for folder in os.get_exec_path()]
    folders += (Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser() / "versions").glob("*/bin")
    found = [folder / f"python3.{minor}" for folder in folders if folder.name != "shims" for minor in range(6, 11)]
    return [python for python in found if python.is_file()]


def test_every_old_python_of_this_machine_gets_a_sentence(checkout: Checkout) -> None:
    for python in old_pythons():
        refused = checkout.start(checkout.command(python=python))
        assert refused.status == 2
        assert refused.words.startswith("roofline: Python 3.11 or newer is needed, and this is 3.")
        assert len(refused.words.splitlines()) == 1
