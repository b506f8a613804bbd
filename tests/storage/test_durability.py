"""What was acknowledged is kept, whenever the process is killed."""

from __future__ import annotations

import random
import sqlite3
from pathlib import Path

from service.storage import AnalysisStore, migrate, open_database
from service.storage.facets import facets

from .examples import analysis, follow
from .processes import add_until_killed, context

MOMENTS = 100


def test_every_acknowledged_analysis_survives_kill_9(tmp_path: Path) -> None:
    """Killed at 100 random moments; the file is then whole and has every id that was said aloud, with its label, in every list."""
    database = open_database(None, tmp_path)
    migrate.ensure(database)
    store, processes, chance = AnalysisStore(database), context(), random.Random(8)
    acknowledged: dict[str, int] = {}
    for moment in range(MOMENTS):
        receiver, sender = processes.Pipe(duplex=False)
        writer = processes.Process(target=add_until_killed, args=(tmp_path, 100_000 * moment, sender))
        writer.start()
        sender.close()
        assert receiver.poll(60), "the writer did not start"
        writer.join(timeout=chance.uniform(0, 0.03))
        writer.kill()
        writer.join()
        first = len(acknowledged)
        try:
            while True:
                acknowledged[receiver.recv()] = 100_000 * moment + len(acknowledged) - first
        except EOFError:
            receiver.close()
    with sqlite3.connect(tmp_path / "analyses.sqlite3") as other:
        assert other.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert other.execute("PRAGMA foreign_key_check").fetchall() == []
        listed = {(bytes(name), id_) for name, id_ in other.execute("SELECT facet, analysis_id FROM analysis_facets")}
    other.close()
    assert len(acknowledged) >= MOMENTS
    for id_, number in acknowledged.items():
        found = store.get(id_)
        assert found == analysis(number, labels={"number": str(number)}, answer="x" * (number * 997 % 20_000))
        assert {(name, id_) for name in facets(found)} <= listed
    kept = {each.id: each for each in follow(store, 200)}
    assert listed == {(name, id_) for id_, each in kept.items() for name in facets(each)}
    database.close()


def test_a_file_can_be_written_again_after_a_killed_writer(tmp_path: Path) -> None:
    """Nothing of the dead process, neither a lock nor a half transaction, stands in the way."""
    database = open_database(None, tmp_path)
    migrate.ensure(database)
    processes = context()
    receiver, sender = processes.Pipe(duplex=False)
    writer = processes.Process(target=add_until_killed, args=(tmp_path, 0, sender))
    writer.start()
    sender.close()
    assert receiver.poll(60), "the writer did not start"
    writer.kill()
    writer.join()
    receiver.close()
    assert AnalysisStore(database).add(analysis(999_999))[1]
    database.close()


def test_commits_reach_the_disk(tmp_path: Path) -> None:
    """What no test can show by killing a process: the settings that hold when the machine loses power."""
    database = open_database(None, tmp_path)

    def setting(name: str) -> object:
        return database.write(lambda connection: connection.exec_driver_sql(f"PRAGMA {name}").scalar())

    assert (setting("journal_mode"), setting("synchronous"), setting("foreign_keys")) == ("wal", 2, 1)
    database.close()
