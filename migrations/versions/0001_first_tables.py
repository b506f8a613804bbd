"""The first tables: analyses, their labels, entries of the catalogue.

Text has the collation "C" on PostgreSQL, so that it sorts by its bytes as it does on SQLite. A list of analyses is
read from one of the indexes in order: each ends in (order, id), once for each filter and each of the two orders.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

ORDERS = ("created_us", "lower_s")
ANALYSIS_FILTERS: dict[str, tuple[str, ...]] = {
    "all": (),
    "kind": ("kind",),
    "chip": ("chip_id",),
    "revision": ("chip_id", "chip_revision"),
    "bound": ("bound",),
}


def bytewise() -> sa.types.TypeEngine[str]:
    return sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "analyses",
        sa.Column("id", bytewise(), nullable=False),
        sa.Column("space", bytewise(), nullable=False, server_default=sa.text("'default'")),
        sa.Column("created_us", sa.BigInteger(), nullable=False),
        sa.Column("kind", bytewise(), nullable=False),
        sa.Column("chip_id", bytewise()),
        sa.Column("chip_revision", sa.Integer()),
        sa.Column("dtype", bytewise()),
        sa.Column("bound", bytewise()),
        sa.Column("lower_s", sa.Double(), nullable=False),
        sa.Column("estimate_s", sa.Double()),
        sa.Column("engine_version", bytewise(), nullable=False),
        sa.Column("question_digest", bytewise(), nullable=False),
        sa.Column("target_digest", bytewise(), nullable=False),
        sa.Column("document_version", sa.Integer(), nullable=False),
        sa.Column("note", bytewise()),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("question", bytewise(), nullable=False),
        sa.Column("answer", bytewise(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_analyses"),
    )
    op.create_table(
        "analysis_labels",
        sa.Column("analysis_id", bytewise(), nullable=False),
        sa.Column("key", bytewise(), nullable=False),
        sa.Column("value", bytewise(), nullable=False),
        sa.Column("space", bytewise(), nullable=False),
        sa.Column("created_us", sa.BigInteger(), nullable=False),
        sa.Column("lower_s", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("analysis_id", "key", name="pk_analysis_labels"),
        sa.ForeignKeyConstraint(["analysis_id"], ["analyses.id"], name="fk_analysis_labels_analysis_id", ondelete="CASCADE"),
    )
    op.create_table(
        "catalogue_entries",
        sa.Column("kind", bytewise(), nullable=False),
        sa.Column("id", bytewise(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("created_us", sa.BigInteger(), nullable=False),
        sa.Column("reason", bytewise(), nullable=False),
        sa.Column("document", bytewise(), nullable=False),
        sa.Column("digest", bytewise(), nullable=False),
        sa.Column("deleted", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("kind", "id", "revision", name="pk_catalogue_entries"),
    )
    for order in ORDERS:
        for name, columns in ANALYSIS_FILTERS.items():
            op.create_index(f"ix_analyses_{name}_{order}", "analyses", ["space", *columns, order, "id"])
        op.create_index(f"ix_analysis_labels_{order}", "analysis_labels", ["space", "key", "value", order, "analysis_id"])


def downgrade() -> None:
    op.drop_table("catalogue_entries")
    op.drop_table("analysis_labels")
    op.drop_table("analyses")
