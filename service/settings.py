"""Settings: the environment and the command line, read once into one frozen object.

Every field is a variable `ROOFLINE_<FIELD>` (the folder `data_dir` is `ROOFLINE_DATA`) and may be an option of the command line;
an option wins. An empty variable counts as unset, as compose files write it. What is not acceptable is refused in one line that
names the variable or option and what is allowed; the address of the database is never part of it.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from pathlib import Path
from typing import Any

from .errors import ServiceError, near

PREFIX = "ROOFLINE_"
OF_THE_TESTS = "ROOFLINE_TEST_"  # the test suite's own variables, which the service passes over


class InvalidSettings(ServiceError):
    """The service is told something that it cannot do. The detail is one line."""

    code = "invalid-settings"


@dataclass(frozen=True)
class Reader:
    """How text becomes a value. `read` raises ValueError for what is not `allowed`."""

    allowed: str
    read: Callable[[str], Any]


def whole(least: int, most: int) -> Reader:
    def read(text: str) -> int:
        if not re.fullmatch("[0-9]{1,9}", text) or not least <= int(text) <= most:
            raise ValueError(text)
        return int(text)

    return Reader(f"a whole number from {least} to {most}", read)


def matching(pattern: str, allowed: str) -> Reader:
    def read(text: str) -> str:
        if not re.fullmatch(pattern, text):
            raise ValueError(text)
        return text

    return Reader(allowed, read)


def several(pattern: str, allowed: str) -> Reader:
    item = matching(pattern, allowed)

    def read(text: str) -> tuple[str, ...]:
        return tuple(item.read(part.strip().lower()) for part in text.split(","))

    return Reader(f"{allowed}, separated by commas", read)


def truth(text: str) -> bool:
    words = {"true": True, "1": True, "false": False, "0": False}
    if text.lower() not in words:
        raise ValueError(text)
    return words[text.lower()]


def folder(text: str) -> Path:
    if not text:
        raise ValueError(text)
    return Path(text).expanduser().absolute()


HOST_NAME = r"(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])"
HOST = matching(r"[A-Za-z0-9.:%_-]{1,255}", "a host name or an IP address")
HOSTS = several(HOST_NAME, "host names without a port")
ORIGINS = several(rf"https?://{HOST_NAME}(?::[0-9]{{1,5}})?", "origins of the form https://host")
DATABASE = matching(r"postgres(?:ql(?:\+psycopg)?)?://\S+", "an address of the form postgresql://user:password@host:port/name")
LEVEL = matching("debug|info|warning|error", "debug, info, warning or error")
FOLDER = Reader("a folder", folder)
TRUTH = Reader("true or false", truth)


def setting(reader: Reader, default: Any = MISSING, *, is_secret: bool = False) -> Any:
    """A field that is read from text; a secret one is in no message and no repr."""
    return field(default=default, repr=not is_secret, metadata={"reader": reader, "is_secret": is_secret})


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What the service is told from outside. The defaults serve one person on one machine.

    host, port            where `serve` listens; port 0 takes any free one
    data_dir              the folder of the embedded database, used unless there is a `database_url`
    allowed_hosts         names under which callers may address the service, besides the loopback's
    allowed_origins       web pages whose scripts may call it
    key_requests_per_minute  of each key, by each process
    connections           how many callers may keep open; then the one that has waited longest for its caller gives way
    receive_s             how long [s] a caller may take to send a header, and a body unless that comes fast enough (`api/patience.py`)
    keep_alive_s          how long [s] a connection stays open between requests
    inline_rows           questions of up to so many rows are answered without leaving the event loop
    compute_threads       threads for larger ones, with room for `compute_queue` that wait; more are refused
    database_connections  how many the service opens, one thread each, with room for `database_queue` that wait
    database_deadline_s   how long [s] one request may wait for the database before it is refused
    workers               processes that answer; pools and connections are those of each
    stop_delay_s          how long [s] after SIGTERM callers are still let in, while `/readyz` already refuses
    drain_s               how long [s] requests under way may then take; container runtimes kill 10 s after SIGTERM
    """

    host: str = setting(HOST, "127.0.0.1")
    port: int = setting(whole(0, 65_535), 8000)
    data_dir: Path = setting(FOLDER)
    database_url: str | None = setting(DATABASE, None, is_secret=True)
    allow_unauthenticated: bool = setting(TRUTH, default=False)
    allowed_hosts: tuple[str, ...] = setting(HOSTS, ())
    allowed_origins: tuple[str, ...] = setting(ORIGINS, ())
    key_requests_per_minute: int = setting(whole(1, 100_000_000), 30_000)
    log_level: str = setting(LEVEL, "info")
    connections: int = setting(whole(1, 100_000), 800)
    receive_s: int = setting(whole(1, 600), 15)
    keep_alive_s: int = setting(whole(1, 3_600), 30)
    inline_rows: int = setting(whole(0, 100_000), 5_000)
    compute_threads: int = setting(whole(1, 256), 2)
    compute_queue: int = setting(whole(0, 100_000), 64)
    database_connections: int = setting(whole(2, 200), 8)
    database_queue: int = setting(whole(0, 100_000), 256)
    database_deadline_s: int = setting(whole(1, 600), 10)
    workers: int = setting(whole(1, 64), 1)
    stop_delay_s: int = setting(whole(0, 600), 0)
    drain_s: int = setting(whole(1, 600), 8)

    @classmethod
    def from_environment(cls, environ: Mapping[str, str], **arguments: object) -> Settings:
        """The settings of `environ`, overridden by those `arguments` (named as the fields) that are not None.

        Raises: InvalidSettings.

        >>> Settings.from_environment({"ROOFLINE_PORT": "9000", "ROOFLINE_DATA": "/srv"}, host="::1").port
        9000
        """
        by_variable = {variable(item.name): item for item in fields(cls)}
        for name in environ:
            if name.startswith(PREFIX) and not name.startswith(OF_THE_TESTS) and name not in by_variable:
                alike = near(name.removeprefix(PREFIX), [known.removeprefix(PREFIX).lower() for known in by_variable], count=1)
                perhaps = "".join(f"; perhaps {PREFIX}{like.upper()} is meant" for like in alike)
                raise InvalidSettings(f"{name} is not a setting{perhaps}.")
        values = {item.name: _read(item, name, environ[name]) for name, item in by_variable.items() if environ.get(name)}
        for item in fields(cls):
            if arguments.get(item.name) is not None:
                values[item.name] = _read(item, option(item.name), str(arguments[item.name]))
        return cls(**{"data_dir": _data_home(environ) / "roofline", **values})

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach the address to listen on."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host.lower() == "localhost"

    @property
    def needs_key(self) -> bool:
        """Whether callers must send a key: wherever other machines can reach the service, unless they are to be let in without."""
        return not self.is_loopback and not self.allow_unauthenticated

    def refuse_locked_door(self, *, has_keys: bool) -> None:
        """Nobody could come in where a key is needed and there is none. Raises: InvalidSettings."""
        if self.needs_key and not has_keys:
            raise InvalidSettings(
                f"{self.host} can be reached from other machines, so callers need a key, and there is none: "
                f"make one with `roofline keys create`, serve on 127.0.0.1, "
                f"or add {option('allow_unauthenticated')} if everyone who reaches it may use it."
            )

    def refuse_workers_on_a_file(self) -> None:
        """One process alone writes the embedded database. Raises: InvalidSettings."""
        if self.workers > 1 and self.database_url is None:
            raise InvalidSettings(
                f"{self.workers} workers need a PostgreSQL database: give its address in {variable('database_url')}, or serve with one."
            )


def variable(name: str) -> str:
    """The variable of a field."""
    return PREFIX + name.removesuffix("_dir").upper()


def option(name: str) -> str:
    """The command line's option for a field."""
    return "--" + name.removesuffix("_dir").replace("_", "-")


def _read(item: Field[Any], source: str, text: str) -> Any:
    reader: Reader = item.metadata["reader"]
    try:
        return reader.read(text)
    except (ValueError, RuntimeError):  # RuntimeError: ~ without a home
        got = "is not acceptable" if item.metadata["is_secret"] else f"is {text[:100]!r}"
        raise InvalidSettings(f"{source} {got}: allowed is {reader.allowed}.") from None


def _data_home(environ: Mapping[str, str]) -> Path:
    """The folder for a person's data, by the XDG base directory specification; a relative one is to be passed over."""
    given = environ.get("XDG_DATA_HOME", "")
    return Path(given) if given.startswith("/") else Path(environ.get("HOME") or "/") / ".local" / "share"
