"""The tests of `service.storage`, on real SQLite files and a real PostgreSQL server."""
