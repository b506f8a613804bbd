"""The tables, as SQLAlchemy sees them; `migrations/` creates them and a test holds the two together.

An analysis is a pair of canonical JSON texts, question and answer, kept byte for byte, and beside them the few columns
that lists are filtered and ordered by. Times are whole microseconds since 1970-01-01 UTC.

Text compares by its bytes in UTF-8 (collation "C" on PostgreSQL, which is what SQLite does anyway), so both databases
sort alike. Every index of a list ends in (order, id): a page is read from it in order, at any depth, without sorting.
Labels repeat the space and the order columns of their analysis for the same reason; those columns never change.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, Double, ForeignKey, Index, Integer, MetaData, Table, Text, text
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
    Column("space", _text(), nullable=False),
    Column("created_us", BigInteger, nullable=False),
    Column("lower_s", Double, nullable=False),
)

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

for _order in ("created_us", "lower_s"):
    for _name, _filters in {
        "all": (),
        "kind": ("kind",),
        "chip": ("chip_id",),
        "revision": ("chip_id", "chip_revision"),
        "bound": ("bound",),
    }.items():
        Index(f"ix_analyses_{_name}_{_order}", *(ANALYSES.c[name] for name in ("space", *_filters, _order, "id")))
    Index(f"ix_analysis_labels_{_order}", *(LABELS.c[name] for name in ("space", "key", "value", _order, "analysis_id")))
