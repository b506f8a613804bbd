"""Facets: a row for every combination of filters that finds an analysis, so that any page of any list is one range of one index.

They take the place of the indexes by single filters. What is kept already gets its facets here; the names of facets are made by the
same rule as in the service, which a test holds together.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

BATCH = 50
MOST_WORDS = 32
WORD = re.compile(r"[^\W_](?:\S*[^\W_])?")
PART = re.compile(r"[^\W_]+")
ORDERS = ("created_us", "lower_s")
ANALYSIS_FILTERS: dict[str, tuple[str, ...]] = {
    "all": (),
    "kind": ("kind",),
    "chip": ("chip_id",),
    "revision": ("chip_id", "chip_revision"),
    "bound": ("bound",),
}
REPEATED = {"space": "''", "created_us": "0", "lower_s": "0"}
ROWS = sa.text(
    "SELECT id, space, kind, chip_id, chip_revision, bound, note, created_us, lower_s FROM analyses"
    " WHERE id > :last ORDER BY id LIMIT :most"
)
LABELS = sa.text('SELECT analysis_id, "key", value FROM analysis_labels WHERE analysis_id > :first AND analysis_id <= :last')


def bytewise() -> sa.types.TypeEngine[str]:
    return sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    facets = op.create_table(
        "analysis_facets",
        sa.Column("facet", sa.LargeBinary(), nullable=False),
        sa.Column("created_us", sa.BigInteger(), nullable=False, autoincrement=False),
        sa.Column("analysis_id", bytewise(), nullable=False),
        sa.Column("lower_s", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("facet", "created_us", "analysis_id", name="pk_analysis_facets"),
        sqlite_with_rowid=False,
    )
    assert facets is not None
    fill(facets)
    op.create_index("ix_analysis_facets_lower_s", "analysis_facets", ["facet", "lower_s", "analysis_id"])
    for order in ORDERS:
        for name in ANALYSIS_FILTERS:
            op.drop_index(f"ix_analyses_{name}_{order}", "analyses")
        op.drop_index(f"ix_analysis_labels_{order}", "analysis_labels")
    for name in REPEATED:
        op.drop_column("analysis_labels", name)


def downgrade() -> None:
    types: Mapping[str, Any] = {"space": bytewise(), "created_us": sa.BigInteger(), "lower_s": sa.Double()}
    for name, empty in REPEATED.items():
        op.add_column("analysis_labels", sa.Column(name, types[name], nullable=False, server_default=sa.text(empty)))
        of_analysis = f"SELECT {name} FROM analyses WHERE analyses.id = analysis_labels.analysis_id"  # noqa: S608 - a name from above
        op.execute(f"UPDATE analysis_labels SET {name} = ({of_analysis})")  # noqa: S608 - as above
        if op.get_bind().dialect.name == "postgresql":  # SQLite keeps the default, which nothing uses
            op.alter_column("analysis_labels", name, server_default=None)
    for order in ORDERS:
        for name, columns in ANALYSIS_FILTERS.items():
            op.create_index(f"ix_analyses_{name}_{order}", "analyses", ["space", *columns, order, "id"])
        op.create_index(f"ix_analysis_labels_{order}", "analysis_labels", ["space", "key", "value", order, "analysis_id"])
    op.drop_table("analysis_facets")


def fill(facets: sa.Table) -> None:
    """The facets of all analyses, some analyses at a time."""
    connection, last = op.get_bind(), ""
    while rows := connection.execute(ROWS, {"last": last, "most": BATCH}).all():
        labels: dict[str, list[tuple[str, str]]] = {}
        for analysis_id, key, value in connection.execute(LABELS, {"first": last, "last": rows[-1].id}):
            labels.setdefault(analysis_id, []).append((key, value))
        connection.execute(
            sa.insert(facets),
            [
                {"facet": name, "created_us": row.created_us, "analysis_id": row.id, "lower_s": row.lower_s}
                for row in rows
                for name in sorted(set(names(row, labels.get(row.id, []))))
            ],
        )
        last = rows[-1].id


def names(row: Any, labels: list[tuple[str, str]]) -> Iterator[bytes]:
    """The names of the facets of an analysis with these labels."""
    kinds, bounds = {None, row.kind}, {None, row.bound}
    chips = {(None, None), (row.chip_id, None), (row.chip_id, row.chip_revision)}
    found = words(row.note or "")[:MOST_WORDS]
    free = [(None, None), *((label, None) for label in labels), *((None, word) for word in found)]
    for kind, chip, bound, (label, word) in itertools.product(kinds, chips, bounds, free):
        text = json.dumps([row.space, kind, *chip, bound, label, word])
        yield hashlib.sha256(text.encode()).digest()[:16]


def words(text: str) -> list[str]:
    whole = (match[0] for match in WORD.finditer(unicodedata.normalize("NFKC", text).casefold()))
    return list(dict.fromkeys(word for each in whole for word in (each, *PART.findall(each))))
