"""Brings the replies and tables of the pages up to date: `.venv/bin/python -m tests.docs.rewrite [PAGE…]`. Read the change as a diff."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from .conversation import conversation, read
from .extended import extended
from .pages import GUIDES, PAGES, ROOT, blocks, exchanges
from .replies import renewed
from .tables import with_tables
from .terminal import written


def rewritten(page: str) -> str:
    """The text of a page with what the service answers now."""
    parts = [(turn.reply.start, turn.reply.end, turn.due) for turn in conversation(page)] + list(_typed(page))
    for start, end, text in sorted(parts, reverse=True):
        page = page[:start] + text + page[end:]
    return with_tables(page)


def _typed(page: str) -> list[tuple[int, int, str]]:
    found = []
    for each in blocks(page):
        if each.command.startswith("roofline "):
            first, _, shown = each.text.partition("\n")
            found.append((each.start + len(first) + 1, each.end, renewed(shown, typed(page, each.command), "console")))
    return found


def typed(page: str, command: str) -> str:
    """What `command` of a page writes where the files that the page speaks of have the bodies of its requests."""
    with tempfile.TemporaryDirectory() as folder:
        for at, (asked, _) in enumerate(exchanges(page)):
            name = asked.words or ("question.json" if at == 0 else "")
            if name:
                (Path(folder) / name).write_text(read(asked).body or "", encoding="utf-8")
        return written(command, Path(folder))


def rewrite(pages: list[Path]) -> None:
    for path in pages:
        path.write_text(rewritten(path.read_text(encoding="utf-8")), encoding="utf-8")


def rewrite_guides() -> None:
    with tempfile.TemporaryDirectory() as folder:
        checkout = extended(Path(folder))
        for path in GUIDES:
            name = str(path.relative_to(ROOT))
            checkout.type(f".venv/bin/python -m tests.docs.rewrite {name}")
            path.write_text(checkout.read(name), encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:]:
        rewrite([Path(name) for name in sys.argv[1:]])
    else:
        rewrite([path for path in PAGES if path not in GUIDES])
        rewrite_guides()
