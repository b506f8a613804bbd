"""Analyses and users' own hardware in a relational database: an SQLite file by default, PostgreSQL by URL, one code path for both."""

from .analyses import AnalysisStore, Page
from .analysis import Analysis, Headline
from .database import Database, Transactions, open_database
from .deadline import too_late, until
from .entries import Entry, EntryStore
from .keys import Key, KeyPage, KeyStore
from .replies import Attempt, Reply, ReplyStore

__all__ = [
    "Analysis",
    "AnalysisStore",
    "Attempt",
    "Database",
    "Entry",
    "EntryStore",
    "Headline",
    "Key",
    "KeyPage",
    "KeyStore",
    "Page",
    "Reply",
    "ReplyStore",
    "Transactions",
    "open_database",
    "too_late",
    "until",
]
