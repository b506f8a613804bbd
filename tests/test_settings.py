"""Settings: from variables and options, or one line that says what is allowed."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from service.settings import InvalidSettings, Settings, option, variable

HOME = {"HOME": "/home/ada"}


def test_the_defaults_serve_one_person_on_this_machine() -> None:
    settings = Settings.from_environment(HOME)
    assert (settings.host, settings.port, settings.database_url) == ("127.0.0.1", 8000, None)
    assert settings.data_dir == Path("/home/ada/.local/share/roofline")
    assert settings.is_loopback
    assert not settings.needs_key


def test_every_field_is_read_from_its_variable() -> None:
    given = {
        "ROOFLINE_HOST": "0.0.0.0",
        "ROOFLINE_PORT": "0",
        "ROOFLINE_DATA": "/srv/roofline",
        "ROOFLINE_DATABASE_URL": "postgresql://ada:secret@db/roofline",
        "ROOFLINE_ALLOW_UNAUTHENTICATED": "true",
        "ROOFLINE_ALLOWED_HOSTS": "Roofline.example.org, [::1]",
        "ROOFLINE_ALLOWED_ORIGINS": "https://tools.example.org,http://localhost:3000",
        "ROOFLINE_KEY_REQUESTS_PER_MINUTE": "15",
        "ROOFLINE_LOG_LEVEL": "debug",
        "ROOFLINE_CONNECTIONS": "12",
        "ROOFLINE_RECEIVE_S": "13",
        "ROOFLINE_KEEP_ALIVE_S": "14",
        "ROOFLINE_INLINE_ROWS": "100",
        "ROOFLINE_COMPUTE_THREADS": "3",
        "ROOFLINE_COMPUTE_QUEUE": "5",
        "ROOFLINE_DATABASE_CONNECTIONS": "4",
        "ROOFLINE_DATABASE_QUEUE": "6",
        "ROOFLINE_DATABASE_DEADLINE_S": "11",
        "ROOFLINE_WORKERS": "7",
        "ROOFLINE_STOP_DELAY_S": "8",
        "ROOFLINE_DRAIN_S": "9",
    }
    assert set(given) == {variable(item.name) for item in dataclasses.fields(Settings)}
    assert dataclasses.asdict(Settings.from_environment(given)) == {
        "host": "0.0.0.0",
        "port": 0,
        "data_dir": Path("/srv/roofline"),
        "database_url": "postgresql://ada:secret@db/roofline",
        "allow_unauthenticated": True,
        "allowed_hosts": ("roofline.example.org", "[::1]"),
        "allowed_origins": ("https://tools.example.org", "http://localhost:3000"),
        "key_requests_per_minute": 15,
        "log_level": "debug",
        "connections": 12,
        "receive_s": 13,
        "keep_alive_s": 14,
        "inline_rows": 100,
        "compute_threads": 3,
        "compute_queue": 5,
        "database_connections": 4,
        "database_queue": 6,
        "database_deadline_s": 11,
        "workers": 7,
        "stop_delay_s": 8,
        "drain_s": 9,
    }


def test_an_option_wins_over_its_variable_and_an_absent_one_does_not() -> None:
    settings = Settings.from_environment({**HOME, "ROOFLINE_PORT": "9000", "ROOFLINE_HOST": "::1"}, port=9001, host=None)
    assert (settings.port, settings.host) == (9001, "::1")


def test_an_empty_variable_is_unset() -> None:
    assert Settings.from_environment({**HOME, "ROOFLINE_PORT": "", "ROOFLINE_DATABASE_URL": ""}) == Settings.from_environment(HOME)


@pytest.mark.parametrize(
    ("environ", "folder"),
    [
        ({**HOME, "XDG_DATA_HOME": "/data"}, "/data/roofline"),
        ({**HOME, "XDG_DATA_HOME": "relative"}, "/home/ada/.local/share/roofline"),
        ({**HOME, "ROOFLINE_DATA": "/a"}, "/a"),
    ],
)
def test_the_data_folder_follows_the_xdg_specification(environ: dict[str, str], folder: str) -> None:
    assert Settings.from_environment(environ).data_dir == Path(folder)


@pytest.mark.parametrize(
    ("environ", "sentence"),
    [
        ({"ROOFLINE_PORT": "80x"}, "ROOFLINE_PORT is '80x': allowed is a whole number from 0 to 65535."),
        ({"ROOFLINE_PORT": "65536"}, "ROOFLINE_PORT is '65536': allowed is a whole number from 0 to 65535."),
        ({"ROOFLINE_PORT": "-1"}, "ROOFLINE_PORT is '-1': allowed is a whole number from 0 to 65535."),
        ({"ROOFLINE_PORT": "٣"}, "ROOFLINE_PORT is '٣': allowed is a whole number from 0 to 65535."),
        ({"ROOFLINE_HOST": "a b"}, "ROOFLINE_HOST is 'a b': allowed is a host name or an IP address."),
        ({"ROOFLINE_ALLOW_UNAUTHENTICATED": "maybe"}, "ROOFLINE_ALLOW_UNAUTHENTICATED is 'maybe': allowed is true or false."),
        (
            {"ROOFLINE_ALLOWED_HOSTS": "a.example:80"},
            "ROOFLINE_ALLOWED_HOSTS is 'a.example:80': allowed is host names without a port, separated by commas.",
        ),
        (
            {"ROOFLINE_ALLOWED_ORIGINS": "*"},
            "ROOFLINE_ALLOWED_ORIGINS is '*': allowed is origins of the form https://host, separated by commas.",
        ),
        ({"ROOFLINE_LOG_LEVEL": "loud"}, "ROOFLINE_LOG_LEVEL is 'loud': allowed is debug, info, warning or error."),
        ({"ROOFLINE_PROT": "80"}, "ROOFLINE_PROT is not a setting; perhaps ROOFLINE_PORT is meant."),
        ({"ROOFLINE_X": ""}, "ROOFLINE_X is not a setting."),
    ],
)
def test_what_is_not_acceptable_is_one_line_that_says_what_is(environ: dict[str, str], sentence: str) -> None:
    with pytest.raises(InvalidSettings) as refused:
        Settings.from_environment({**HOME, **environ})
    assert refused.value.detail == sentence


def test_an_option_is_named_as_it_was_typed() -> None:
    with pytest.raises(InvalidSettings, match=r"^--database-url is not acceptable: "):
        Settings.from_environment(HOME, database_url="mysql://ada:secret@db/roofline")
    assert option("data_dir") == "--data"


def test_an_empty_option_is_not_the_folder_that_one_happens_to_be_in() -> None:
    with pytest.raises(InvalidSettings) as refused:
        Settings.from_environment(HOME, data_dir="")
    assert refused.value.detail == "--data is '': allowed is a folder."


def test_the_address_of_the_database_is_shown_nowhere() -> None:
    settings = Settings.from_environment(HOME, database_url="postgresql://ada:secret@db/roofline")
    assert "secret" not in repr(settings)
    with pytest.raises(InvalidSettings) as refused:
        Settings.from_environment({**HOME, "ROOFLINE_DATABASE_URL": "mysql://ada:secret@db/roofline"})
    assert "secret" not in str(refused.value)
    assert refused.value.__cause__ is None


def test_the_variables_of_the_test_suite_are_passed_over() -> None:
    Settings.from_environment({**HOME, "ROOFLINE_TEST_DATABASE_URL": "postgresql://ada@db/postgres"})


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
def test_this_machine_is_served_without_a_key(host: str) -> None:
    settings = Settings.from_environment(HOME, host=host)
    assert not settings.needs_key
    settings.refuse_locked_door(has_keys=False)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.0.7", "roofline.example.org"])
def test_other_machines_are_served_only_with_keys_or_on_request(host: str) -> None:
    settings = Settings.from_environment(HOME, host=host)
    assert settings.needs_key
    with pytest.raises(InvalidSettings, match=r"`roofline keys create`.*--allow-unauthenticated"):
        settings.refuse_locked_door(has_keys=False)
    settings.refuse_locked_door(has_keys=True)
    allowing = Settings.from_environment(HOME, host=host, allow_unauthenticated=True)
    assert not allowing.needs_key
    allowing.refuse_locked_door(has_keys=False)


def test_several_workers_need_a_database_server() -> None:
    with pytest.raises(InvalidSettings, match=r"^2 workers need a PostgreSQL database: .* ROOFLINE_DATABASE_URL"):
        Settings.from_environment(HOME, workers=2).refuse_workers_on_a_file()
    Settings.from_environment(HOME, workers=2, database_url="postgresql://ada@db/roofline").refuse_workers_on_a_file()
    Settings.from_environment(HOME).refuse_workers_on_a_file()
