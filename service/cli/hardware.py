"""The catalogue as the commands see it: the shipped one and what the database of the settings has of users' own hardware.

Loading what speaks to databases takes longer than an answer, so it is left out where there is nothing to read.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ..bootstrap import say
from ..catalogue import Catalogue, load
from ..errors import Unavailable
from ..settings import Settings

if TYPE_CHECKING:
    from ..analysis.hardware.live import LiveCatalogue
    from ..storage import Database

FILE_NAME: Final = "analyses.sqlite3"


def catalogue() -> Catalogue:
    """What can be named. Where the database does not answer, the shipped catalogue alone, and a word that it is. Raises InvalidSettings."""
    settings, shipped = Settings.from_environment(os.environ), load()
    if settings.database_url is None and not has_entries(settings.data_dir / FILE_NAME):
        return shipped
    from .parts import opened

    try:
        with closing(opened(settings)) as database:
            return catalogue_of(database).current
    except Unavailable as error:
        say(f"own chips and systems are left out: {error.detail}")
        return shipped


def catalogue_of(database: Database) -> LiveCatalogue:
    """The shipped catalogue with the entries of a database as they are now. Raises Unavailable."""
    from ..analysis.hardware.live import LiveCatalogue
    from ..storage import EntryStore

    hardware = LiveCatalogue(load(), EntryStore(database))
    hardware.refresh()
    return hardware


def has_entries(file: Path) -> bool:
    """Whether an embedded database holds any entry; one that is missing, or of another kind, holds none."""
    try:
        with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as connection:
            return bool(connection.execute("SELECT EXISTS (SELECT 1 FROM catalogue_entries)").fetchone()[0])
    except sqlite3.Error:
        return False
