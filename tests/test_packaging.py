"""The wheel, installed into a new environment from the locked list, does the whole job far from any checkout."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
import sysconfig
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from .skeleton import BARE_PYTHON, ROOT

QUESTION = {
    "op": {"kind": "matmul", "m": 512, "k": 8192, "n": 28672, "dtype": "bf16"},
    "target": {"chip": "nvidia-h100-sxm"},
    "labels": {"from": "the wheel"},
}
PATIENCE_S = 30


def run(*command: object, cwd: Path = ROOT) -> str:
    done = subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", folder)
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The environment's folder of programs."""
    uv = Path(sysconfig.get_path("scripts")) / "uv"
    environment = tmp_path_factory.mktemp("installed") / "environment"
    run(uv, "venv", "--quiet", "--no-project", "--python", BARE_PYTHON, environment)
    install = (uv, "pip", "install", "--quiet", "--python", environment / "bin/python")
    run(*install, "--require-hashes", "--requirements", ROOT / "requirements.lock")
    run(*install, "--no-deps", "--no-index", wheel)
    run(uv, "pip", "check", "--quiet", "--python", environment / "bin/python")
    return environment / "bin"


@contextmanager
def serving(programs: Path, folder: Path, data: Path) -> Iterator[httpx.Client]:
    """The installed service, started in `folder`, until it is asked to end and does: by itself, or by the signal passed on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [programs / "roofline", "serve", "--port", str(port), "--data", data],
        cwd=folder,
        env={"PATH": "/usr/bin:/bin"},
        stdin=subprocess.DEVNULL,
    )
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=10) as client:
            wait_until_ready(client, process)
            yield client
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=PATIENCE_S) in {0, -signal.SIGTERM}
    finally:
        process.kill()
        process.wait()


def wait_until_ready(client: httpx.Client, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while True:
        assert process.poll() is None, "the service ended"
        try:
            if client.get("/readyz").status_code == 200:
                return
        except httpx.TransportError:
            pass
        assert time.monotonic() < deadline, "the service is not ready"
        time.sleep(0.05)


def test_the_wheel_holds_what_the_service_reads_and_no_tests(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    sources = [path.relative_to(ROOT) for top in ("service", "migrations") for path in (ROOT / top).rglob("*") if path.is_file()]
    expected = {path for path in sources if "__pycache__" not in path.parts}
    assert {str("service" / path if path.parts[0] == "migrations" else path) for path in expected} <= names
    assert all(name.startswith(("service/", "roofline_service-")) for name in names)


def test_the_image_is_built_from_what_the_build_is_sent() -> None:
    """`.dockerignore` sends nothing but what it names; what the Dockerfile copies is named there, exists, and is all of it."""
    copies = re.findall(r"^COPY (?!--from)(.+) \S+$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    copied = {source for sources in copies for source in sources.split()}
    first, *others = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if not line.startswith("#")]
    assert first == "*"
    assert {line.removeprefix("!") for line in others if line.startswith("!")} == copied
    assert all((ROOT / name).exists() for name in copied)
    assert copied >= {"requirements.lock", "requirements-build.lock", "pyproject.toml", "service", "migrations"}


def test_an_analysis_is_saved_and_read_back_from_an_empty_folder(installed: Path, tmp_path: Path) -> None:
    folder, data = tmp_path / "empty", tmp_path / "data"
    folder.mkdir(mode=0o555)
    with serving(installed, folder, data) as client:
        saved = client.post("/v1/analyses", json=QUESTION)
        assert saved.status_code == 201, saved.text
        first = client.get(saved.headers["location"])
        assert first.status_code == 200
    with serving(installed, folder, data) as client:
        again = client.get(saved.headers["location"])
        assert again.content == first.content
        assert client.post("/v1/analyses", json=QUESTION).status_code == 200
    assert list(folder.iterdir()) == []
    assert again.json()["labels"] == QUESTION["labels"]


def test_the_installed_command_line_is_the_installed_package(installed: Path, tmp_path: Path) -> None:
    where = run(installed / "python", "-P", "-c", "import service; print(service.__file__)", cwd=tmp_path)
    assert Path(where.strip()).is_relative_to(installed.parent)
    assert "serve" in run(installed / "roofline", "--help", cwd=tmp_path)
