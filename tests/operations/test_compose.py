"""The compose file, as far as it can be tried without containers: its form, who can reach what, its secrets, its health checks."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from service.settings import PREFIX, Settings

from ..cli.program import ROOT
from .running import running, until

TEXT = (ROOT / "compose.yaml").read_text()
COMPOSE: dict[str, Any] = yaml.safe_load(TEXT)
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
ASKED_FOR = re.compile(r"\$\{POSTGRES_PASSWORD:\?[^}]+\}")  # compose stops with the words behind the mark where it is not given

DURATION = {"type": "string", "pattern": "^[0-9]+(s|m)$"}
WORDS = {"type": "array", "items": {"type": "string"}, "minItems": 1}
SERVICE = {
    "type": "object",
    "additionalProperties": False,
    "required": ["image", "environment", "healthcheck", "networks", "restart", "stop_grace_period"],
    "properties": {
        "build": {"const": "."},
        "image": {"type": "string"},
        "environment": {"type": "object", "additionalProperties": {"type": "string"}},
        "ports": WORDS,
        "volumes": WORDS,
        "networks": WORDS,
        "depends_on": {
            "type": "object",
            "additionalProperties": {
                "type": "object",
                "required": ["condition"],
                "properties": {"condition": {"const": "service_healthy"}},
            },
        },
        "healthcheck": {
            "type": "object",
            "additionalProperties": False,
            "required": ["test", "interval", "timeout", "start_period", "retries"],
            "properties": {
                "test": {**WORDS, "prefixItems": [{"const": "CMD"}]},
                "interval": DURATION,
                "timeout": DURATION,
                "start_period": DURATION,
                "retries": {"type": "integer", "minimum": 1},
            },
        },
        "restart": {"const": "unless-stopped"},
        "stop_grace_period": DURATION,
        "read_only": {"type": "boolean"},
        "tmpfs": WORDS,
        "cap_drop": WORDS,
        "security_opt": WORDS,
        "shm_size": {"type": "string"},
    },
}


@pytest.mark.parametrize("name", SERVICES)
def test_each_service_has_the_form_that_compose_reads(name: str) -> None:
    Draft202012Validator(SERVICE).validate(SERVICES[name])


def test_the_service_starts_when_the_database_is_healthy_and_nothing_else_runs() -> None:
    assert set(COMPOSE) == {"name", "services", "networks", "volumes"}
    assert set(SERVICES) == {"service", "database"}
    assert SERVICES["service"]["depends_on"] == {"database": {"condition": "service_healthy"}}


def test_what_the_database_keeps_is_on_a_volume_of_its_own() -> None:
    assert SERVICES["database"]["volumes"] == ["database:/var/lib/postgresql/data"]
    assert set(COMPOSE["volumes"]) == {"database"}


def test_the_service_is_published_to_this_machine_alone_and_the_database_to_nobody() -> None:
    assert SERVICES["service"]["ports"] == ["127.0.0.1:8000:8000"]
    assert "ports" not in SERVICES["database"]
    assert SERVICES["database"]["networks"] == ["inside"]
    assert COMPOSE["networks"]["inside"] == {"internal": True}


def test_the_password_is_given_from_outside_and_has_no_default() -> None:
    secret = {
        f"{name}.{variable}": value
        for name, service in SERVICES.items()
        for variable, value in service["environment"].items()
        if "PASSWORD" in variable
    }
    assert set(secret) == {"service.PGPASSWORD", "database.POSTGRES_PASSWORD"}
    assert all(ASKED_FOR.fullmatch(value) for value in secret.values())
    assert not re.search(r"://[^/\s]*:[^/\s]*@", TEXT)
    assert re.search(r"^/\.env$", (ROOT / ".gitignore").read_text(), re.MULTILINE)
    assert ".env" not in (ROOT / ".dockerignore").read_text()  # which names what is taken into the image


def test_the_settings_are_ones_with_which_the_service_starts() -> None:
    environ = {name: value for name, value in SERVICES["service"]["environment"].items() if name.startswith(PREFIX)}
    command = re.search(r"^CMD \[(.+)\]$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    assert command is not None
    assert command[1] == '"serve", "--host", "0.0.0.0"'
    settings = Settings.from_environment(environ, host="0.0.0.0")
    settings.refuse_locked_door(has_keys=False)
    settings.refuse_workers_on_a_file()
    longest_s = settings.stop_delay_s + settings.drain_s
    assert longest_s < int(SERVICES["service"]["stop_grace_period"].removesuffix("s"))


def test_the_health_check_follows_readiness(tmp_path: Path) -> None:
    kind, program, *arguments = SERVICES["service"]["healthcheck"]["test"]
    assert (kind, program) == ("CMD", "python")
    with running(tmp_path, ROOFLINE_STOP_DELAY_S="600") as service:
        port = str(service.address[1])
        check = [sys.executable, *(argument.replace("8000", port) for argument in arguments)]

        def status() -> int:
            return subprocess.run(check, capture_output=True, timeout=60, check=False).returncode

        assert status() == 0
        service.process.send_signal(signal.SIGTERM)
        until(lambda: service.events("stopping"), "that it has heard the signal")
        assert status() == 1
