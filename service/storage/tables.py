"""The tables, as SQLAlchemy sees them; `migrations/` creates them and a test holds the two together.

An analysis is a pair of canonical JSON texts, question and answer, kept byte for byte, and beside them the few columns
that lists are filtered and ordered by. Times are whole microseconds since 1970-01-01 UTC.

Text compares by its bytes in UTF-8 (collation "C" on PostgreSQL, which is what SQLite does anyway), so both databases
sort alike. Lists are read from `analysis_facets` (`facets.py`), which has an index for each order, ending in the id: a page is
read from it in order, at any depth, without sorting. Its rows repeat the order columns of their analysis, which never change.
They are found by what the analysis is, so they need no index by its id, and no foreign key, which would be searched without one.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, Double, ForeignKey, Index, Integer, LargeBinary, MetaData, Table, Text, text
from sqlalchemy.types import TypeEngine

METADATA = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
    },
)


def _text() -> TypeEngine[str]:
    return Text().with_variant(Text(collation="C"), "postgresql")


ANALYSES = Table(
    "analyses",
    METADATA,
    Column("id", _text(), primary_key=True),
    Column("space", _text(), nullable=False, server_default=text("'default'")),
    Column("created_us", BigInteger, nullable=False),
    Column("kind", _text(), nullable=False),
    Column("chip_id", _text()),
    Column("chip_revision", Integer),
    Column("dtype", _text()),
    Column("bound", _text()),
    Column("lower_s", Double, nullable=False),
    Column("estimate_s", Double),
    Column("engine_version", _text(), nullable=False),
    Column("question_digest", _text(), nullable=False),
    Column("target_digest", _text(), nullable=False),
    Column("document_version", Integer, nullable=False),
    Column("note", _text()),
    Column("version", Integer, nullable=False),
    Column("question", _text(), nullable=False),
    Column("answer", _text(), nullable=False),
)

LABELS = Table(
    "analysis_labels",
    METADATA,
    Column("analysis_id", _text(), ForeignKey("analyses.id", ondelete="CASCADE"), primary_key=True),
    Column("key", _text(), primary_key=True),
    Column("value", _text(), nullable=False),
)

FACETS = Table(
    "analysis_facets",
    METADATA,
    Column("facet", LargeBinary, primary_key=True),
    Column("created_us", BigInteger, primary_key=True, autoincrement=False),
    Column("analysis_id", _text(), primary_key=True),
    Column("lower_s", Double, nullable=False),
    sqlite_with_rowid=False,
)
Index("ix_analysis_facets_lower_s", FACETS.c.facet, FACETS.c.lower_s, FACETS.c.analysis_id)

IDEMPOTENCY_KEYS = Table(
    "idempotency_keys",
    METADATA,
    Column("caller", _text(), primary_key=True),
    Column("key_digest", _text(), primary_key=True),
    Column("request_digest", _text(), nullable=False),
    Column("created_us", BigInteger, nullable=False),
    Column("status", Integer, nullable=False),
    Column("headers", _text(), nullable=False),
    Column("body", _text(), nullable=False),
)
Index("ix_idempotency_keys_created_us", IDEMPOTENCY_KEYS.c.created_us)

CATALOGUE_ENTRIES = Table(
    "catalogue_entries",
    METADATA,
    Column("kind", _text(), primary_key=True),
    Column("id", _text(), primary_key=True),
    Column("revision", Integer, primary_key=True, autoincrement=False),
    Column("created_us", BigInteger, nullable=False),
    Column("reason", _text(), nullable=False),
    Column("document", _text(), nullable=False),
    Column("digest", _text(), nullable=False),
    Column("deleted", Boolean, nullable=False),
)

KEYS = Table(
    "keys",
    METADATA,
    Column("id", _text(), primary_key=True),
    Column("name", _text(), nullable=False),
    Column("scopes", _text(), nullable=False),
    Column("digest", _text(), nullable=False),
    Column("created_us", BigInteger, nullable=False),
    Column("issued_us", BigInteger, nullable=False),
    Column("expires_us", BigInteger, nullable=False),
    Column("revoked_us", BigInteger),
    Column("last_used_us", BigInteger),
)
Index("ix_keys_created_us", KEYS.c.created_us, KEYS.c.id)
