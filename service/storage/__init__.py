"""Analyses kept in a relational database: an SQLite file by default, PostgreSQL by URL, one code path for both."""

from .analyses import AnalysisStore, Page
from .analysis import Analysis, Headline
from .database import Database, open_database
from .deadline import too_late, until

__all__ = ["Analysis", "AnalysisStore", "Database", "Headline", "Page", "open_database", "too_late", "until"]
