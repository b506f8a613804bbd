"""Analyses kept in a relational database: an SQLite file by default, PostgreSQL by URL, one code path for both."""

from .analyses import AnalysisStore, Page
from .analysis import Analysis, Headline
from .database import Database, open_database
from .deadline import too_late, until
from .keys import Key, KeyPage, KeyStore

__all__ = [
    "Analysis",
    "AnalysisStore",
    "Database",
    "Headline",
    "Key",
    "KeyPage",
    "KeyStore",
    "Page",
    "open_database",
    "too_late",
    "until",
]
