"""The pages of documentation, as their parts: fenced blocks, headings, links.

A request is a block `http`, or a block `sh` whose command is curl; the block behind it is its reply, in any language, with the
status in its first line where that is not 200:

    ```http                      ```json 404
    GET /v1/chips/nothing        {"code": "not-found", "…": "…"}
    ```                          ```

A block `console` whose command is `roofline …` shows what that writes on a terminal; `question.json` is then the body of the page's
first request, and the body of a request that bears the name of a file behind its language is that file. A block `csv` that bears the
name of a file is that file. What a reply shows is told in `replies.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
API = ROOT / "docs" / "api.md"
ADDING_AN_OP = ROOT / "docs" / "adding-an-op.md"
ADDING_A_CHIP = ROOT / "docs" / "adding-a-chip.md"
SPREADSHEETS = ROOT / "docs" / "spreadsheets.md"
OPERATIONS = ROOT / "docs" / "operations.md"
PAGES = [README, ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]
GUIDES = [ADDING_AN_OP, ADDING_A_CHIP]
"""Pages whose requests are answered once the reader has done what they say."""

_FENCE = re.compile(r"^```(?P<language>[a-z]*)(?P<words>[^\n]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#{1,6} +(.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced block: the language, the words behind it, the text, and where in the page the text stands."""

    language: str
    words: str
    text: str
    start: int
    end: int

    @property
    def command(self) -> str:
        """What is typed in a block of a terminal."""
        return self.text.partition("\n")[0].removeprefix("$ ") if self.language == "console" else ""

    @property
    def is_request(self) -> bool:
        return self.language == "http" or (self.language == "sh" and self.text.startswith("curl "))


def blocks(page: str) -> list[Block]:
    """The fenced blocks of the text of a page, in order."""
    return [
        Block(found["language"], found["words"].strip(), found["text"], found.start("text"), found.end("text"))
        for found in _FENCE.finditer(page)
    ]


def block(page: Path, words: str) -> str:
    """The text of the one block of `page` that bears `words` behind its language."""
    (found,) = (each.text for each in blocks(page.read_text(encoding="utf-8")) if each.words == words)
    return found


def exchanges(page: str) -> Iterator[tuple[Block, Block]]:
    """Every request of a page with its reply."""
    found = blocks(page)
    for at, each in enumerate(found):
        if each.is_request:
            yield each, found[at + 1]


def files(page: str) -> dict[str, str]:
    """The sheets that a page shows under the name of a file."""
    return {each.words: each.text for each in blocks(page) if each.language == "csv" and each.words.endswith(".csv")}


def links(page: str) -> list[str]:
    """What the links of a page lead to."""
    return _LINK.findall(_FENCE.sub("", page))


def anchors(page: str) -> set[str]:
    """What a link may name behind `#`: the headings, spelt as the forges spell them."""
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in _HEADING.findall(_FENCE.sub("", page))}
