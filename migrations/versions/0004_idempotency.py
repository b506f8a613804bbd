"""Keys under which callers send a creating request again, each with the answer that the first one got.

A new table, which a version that does not know it leaves alone. The index finds those whose time is over.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def bytewise() -> sa.types.TypeEngine[str]:
    return sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "idempotency_keys",
        sa.Column("caller", bytewise(), nullable=False),
        sa.Column("key_digest", bytewise(), nullable=False),
        sa.Column("request_digest", bytewise(), nullable=False),
        sa.Column("created_us", sa.BigInteger(), nullable=False),
        sa.Column("status", sa.Integer(), nullable=False),
        sa.Column("headers", bytewise(), nullable=False),
        sa.Column("body", bytewise(), nullable=False),
        sa.PrimaryKeyConstraint("caller", "key_digest", name="pk_idempotency_keys"),
    )
    op.create_index("ix_idempotency_keys_created_us", "idempotency_keys", ["created_us"])


def downgrade() -> None:
    op.drop_table("idempotency_keys")
