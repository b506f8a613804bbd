"""Words in lines of a width."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

SEAMS: Final = re.compile(r"[^·/_.,:()\-]*[·/_.,:()\-]*")
"""Parts at which a formula, an address or an id may go on in the next line."""


@dataclass(frozen=True)
class Words:
    """Words that wrap within the terminal, with their styles, `indent` columns from its edge."""

    text: Text
    indent: int

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in self._lines(options.max_width - self.indent):
            line.pad_left(self.indent)
            line.rstrip()
            line.no_wrap = True
            yield line

    def _lines(self, width: int) -> Iterator[Text]:
        begin = 0
        for line in wrapped(self.text.plain, width):
            words = line.lstrip()
            begin = self.text.plain.index(words, begin)
            yield Text.assemble(" " * (len(line) - len(words)), self.text[begin : begin + len(words)])
            begin += len(words)


def wrapped(text: str, width: int) -> list[str]:
    """The lines of `text`, each of at most `width` characters; a word that is longer is broken at its seams.

    >>> wrapped("2·batch·positions·out_channels on the matrix unit", 20)
    ['2·batch·positions·', 'out_channels on the', 'matrix unit']
    """
    return [line for paragraph in text.split("\n") for line in _filled(paragraph, width)]


def _filled(paragraph: str, width: int) -> list[str]:
    """The lines of one paragraph, all as far indented as it is."""
    if len(paragraph) <= width:
        return [paragraph]
    words = paragraph.lstrip()
    indent = min(len(paragraph) - len(words), width // 2)
    return [" " * indent + line for line in _lines(words, width - indent)]


def _lines(words: str, width: int) -> list[str]:
    lines = [""]
    for word in words.split(" "):
        if len(lines[-1]) + 1 + len(word) <= width and lines[-1]:
            lines[-1] += f" {word}"
        elif len(word) <= width:
            lines[-1:] = [*filter(None, lines[-1:]), word]
        else:
            lines[-1:] = [*filter(None, lines[-1:]), *_broken(word, width)]
    return lines


def _broken(word: str, width: int) -> list[str]:
    """A word that is too long, in parts."""
    lines = [""]
    for part in SEAMS.findall(word):
        for piece in (part[at : at + width] for at in range(0, len(part), width)):
            if len(lines[-1]) + len(piece) <= width:
                lines[-1] += piece
            else:
                lines.append(piece)
    return lines
