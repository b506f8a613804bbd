"""Questions of one row that arrive while the event loop is busy, answered together.

What is there is answered as soon as a turn of the loop brings no more; a lone question is answered by itself, one turn later.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from ..analysis.together import answers
from ..catalogue import Catalogue
from ..schemas.evaluate import Question

MOST: Final = 64
"""Questions answered before the event loop sees to others; more of them would save little."""

Place = tuple[Question, "asyncio.Future[bytes]"]


class Waiting:
    """The questions that wait, of each event loop; `catalogue` says what is known when they are answered."""

    def __init__(self, catalogue: Callable[[], Catalogue]) -> None:
        self._catalogue = catalogue
        self._places: dict[asyncio.AbstractEventLoop, list[Place]] = {}

    async def answer(self, question: Question) -> bytes:
        """The text of what `evaluate.answer` returns, or what it raises."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[bytes] = loop.create_future()
        places = self._places.setdefault(loop, [])
        if not places:
            loop.call_soon(self._gather, loop, 0)
        places.append((question, future))
        return await future

    def _gather(self, loop: asyncio.AbstractEventLoop, seen: int) -> None:
        """Answers once the loop, in a turn, has brought no more questions."""
        there = len(self._places[loop])
        if seen < there < MOST:
            loop.call_soon(self._gather, loop, there)
        else:
            self._answer(loop)

    def _answer(self, loop: asyncio.AbstractEventLoop) -> None:
        places = self._places.pop(loop)
        now, later = places[:MOST], places[MOST:]
        if later:
            self._places[loop] = later
            loop.call_soon(self._answer, loop)
        now = [(question, future) for question, future in now if not future.done()]
        found = answers([question for question, _ in now], self._catalogue())
        for (_, future), outcome in zip(now, found, strict=True):
            if isinstance(outcome, Exception):
                future.set_exception(outcome)
            else:
                future.set_result(outcome)
