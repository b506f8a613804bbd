"""Who may call: loopback names, allowed hosts, the service's own pages and allowed ones; nobody else's."""

from __future__ import annotations

import pytest

from service.api.doors import Door
from service.errors import Forbidden
from service.settings import Settings


def refusal(host: str | None, origin: str | None = None, **environ: str) -> str | None:
    """The code with which a call is refused."""
    door = Door(Settings.from_environment({f"ROOFLINE_{name}": value for name, value in environ.items()}))
    headers = [(name, text.encode()) for name, text in ((b"host", host), (b"origin", origin)) if text is not None]
    try:
        door.check(headers)
    except Forbidden as error:
        return error.code
    return None


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:8000", "localhost:8000", "LOCALHOST", "[::1]:8000", "127.8.9.10:1"])
def test_loopback_names_may_be_used(host: str) -> None:
    assert refusal(host) is None


@pytest.mark.parametrize(
    "host",
    [
        None, "", ":8000", "example.org", "localhost.example.org", "127.0.0.1.example.org", "10.0.0.1", "0.0.0.0", "::1", "[::1", "[::2]",
        "localhost:8000@example.org", "localhost:port", "localhost, example.org", "2130706433",
    ],
)  # fmt: skip
def test_other_names_are_refused(host: str | None) -> None:
    assert refusal(host) == "host-not-allowed"


def test_two_host_headers_are_refused() -> None:
    with pytest.raises(Forbidden):
        Door(Settings.from_environment({})).check([(b"host", b"localhost"), (b"host", b"example.org")])


def test_hosts_that_the_settings_allow_may_be_used() -> None:
    assert refusal("tools.example.org:8000", ALLOWED_HOSTS="tools.example.org") is None
    assert refusal("other.example.org", ALLOWED_HOSTS="tools.example.org") == "host-not-allowed"


@pytest.mark.parametrize("origin", [None, "http://localhost:8000", "http://127.0.0.1:8000", "https://localhost:8000", "http://[::1]:8000"])
def test_the_services_own_pages_may_call(origin: str | None) -> None:
    assert refusal("localhost:8000", origin) is None


@pytest.mark.parametrize(
    "origin",
    ["null", "", "http://example.org", "http://localhost", "http://localhost:3000", "http://localhost.example.org:8000", "file://", "x://localhost:8000"],
)  # fmt: skip
def test_foreign_pages_may_not_call(origin: str) -> None:
    assert refusal("localhost:8000", origin) == "origin-not-allowed"


def test_pages_that_the_settings_allow_may_call() -> None:
    assert refusal("localhost:8000", "https://ui.example.org", ALLOWED_ORIGINS="https://ui.example.org") is None
    assert refusal("localhost:8000", "https://ui.example.org:444", ALLOWED_ORIGINS="https://ui.example.org") == "origin-not-allowed"


def test_beyond_the_loopback_interface_any_name_may_be_used_and_foreign_pages_stay_out() -> None:
    assert refusal("tools.example.org", HOST="0.0.0.0") is None
    assert refusal("tools.example.org", "https://tools.example.org", HOST="0.0.0.0") is None
    assert refusal("tools.example.org:443", "https://tools.example.org", HOST="0.0.0.0") is None
    assert refusal("tools.example.org:80", "https://tools.example.org", HOST="0.0.0.0") == "origin-not-allowed"
    assert refusal("tools.example.org", "https://evil.example.org", HOST="0.0.0.0") == "origin-not-allowed"
