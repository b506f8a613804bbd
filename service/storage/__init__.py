"""Analyses and users' own hardware in a relational database: an SQLite file by default, PostgreSQL by URL, one code path for both."""

from .analyses import Analysis, AnalysisStore, Page
from .database import Database, open_database
from .deadline import too_late, until
from .entries import Entry, EntryStore

__all__ = ["Analysis", "AnalysisStore", "Database", "Entry", "EntryStore", "Page", "open_database", "too_late", "until"]
