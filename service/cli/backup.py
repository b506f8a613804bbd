"""`roofline backup` and `roofline restore`: all that is kept in a file, and back."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from ..bootstrap import say
from ..settings import Settings
from ..storage.backup import backup as write
from ..storage.backup_file import BackupError, Contents
from ..storage.restore import restore as bring_back
from ..storage.sqlite import FILE_NAME
from .kinds import kind
from .parts import opened


def backup(settings: Settings, path: Path) -> None:
    """Writes a backup and says what it holds. Raises BackupError, Unavailable."""
    if settings.database_url is None and not (settings.data_dir / FILE_NAME).exists():
        raise BackupError(f"The data folder {settings.data_dir} holds no database.")
    with closing(opened(settings)) as database:
        say(f"{path} holds {_told(write(database, path))} from {kind(database)}")


def restore(settings: Settings, path: Path) -> None:
    """Brings a backup back and says what it held. Raises BackupError, Unavailable."""
    with closing(opened(settings)) as database:
        found = bring_back(database, path)
        say(f"{kind(database)} now holds {_told(found)}")


def _told(contents: Contents) -> str:
    rows = ", ".join(f"{count:,} of {table}" for table, count in contents.rows.items() if count)
    return f"{rows or 'no rows'} (schema {contents.schema})"
