"""Keys: who may call, for what, until when. Of their secrets only digests are kept.

A new table, which a version that does not know it leaves alone.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def bytewise() -> sa.types.TypeEngine[str]:
    return sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "keys",
        sa.Column("id", bytewise(), nullable=False),
        sa.Column("name", bytewise(), nullable=False),
        sa.Column("scopes", bytewise(), nullable=False),
        sa.Column("digest", bytewise(), nullable=False),
        sa.Column("created_us", sa.BigInteger(), nullable=False),
        sa.Column("issued_us", sa.BigInteger(), nullable=False),
        sa.Column("expires_us", sa.BigInteger(), nullable=False),
        sa.Column("revoked_us", sa.BigInteger()),
        sa.Column("last_used_us", sa.BigInteger()),
        sa.PrimaryKeyConstraint("id", name="pk_keys"),
    )
    op.create_index("ix_keys_created_us", "keys", ["created_us", "id"])


def downgrade() -> None:
    op.drop_table("keys")
