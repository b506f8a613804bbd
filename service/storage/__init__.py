"""Analyses kept in a relational database: an SQLite file by default, PostgreSQL by URL, one code path for both."""

from .analyses import Analysis, AnalysisStore, Page
from .database import Database, Transactions, open_database
from .deadline import too_late, until
from .replies import Attempt, Reply, ReplyStore

__all__ = [
    "Analysis",
    "AnalysisStore",
    "Attempt",
    "Database",
    "Page",
    "Reply",
    "ReplyStore",
    "Transactions",
    "open_database",
    "too_late",
    "until",
]
