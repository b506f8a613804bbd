"""Alembic's entry. The service passes a connection, in a transaction that it commits itself.

A developer's `alembic revision --autogenerate` passes none: the database is then the one that the service would use,
named by ROOFLINE_DATABASE_URL or ROOFLINE_DATA.
"""

from __future__ import annotations

import os

from alembic import context
from sqlalchemy import Connection

from service.settings import Settings
from service.storage.database import open_database
from service.storage.schema import VERSION_TABLE
from service.storage.tables import METADATA


def migrate(connection: Connection) -> None:
    context.configure(
        connection=connection,
        target_metadata=METADATA,
        version_table=VERSION_TABLE,
        transactional_ddl=True,
        compare_server_default=True,
    )
    with context.begin_transaction():
        context.run_migrations()


given = context.config.attributes.get("connection")
if given is not None:
    migrate(given)
else:
    settings = Settings.from_environment(os.environ)
    database = open_database(settings.database_url, settings.data_dir)
    database.write(migrate)
    database.close()
