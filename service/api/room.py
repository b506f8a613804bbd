"""How many connections one process keeps, and who gives way when they are all taken."""

from __future__ import annotations

from typing import Protocol

from ..settings import Settings
from .watch import Watch


class Guest(Protocol):
    """A connection, as far as the room knows it."""

    def give_way(self) -> None:
        """Ends it at once."""


class Room:
    """Places for connections, of which those that wait for their callers are known in the order in which they began to.

    A caller that says nothing, or never comes to the end of its request, costs nothing but its place. So a newcomer takes the place
    of the one that has waited longest, and is refused only where a whole request is under way on every connection.
    """

    def __init__(self, settings: Settings, watch: Watch) -> None:
        self.receive_s = float(settings.receive_s)
        self.watch = watch
        self._most = settings.connections
        self._guests: set[Guest] = set()
        self._waiting: dict[Guest, None] = {}

    def enter(self, guest: Guest) -> bool:
        """Whether there is a place for `guest`, which then waits for its caller."""
        if len(self._guests) >= self._most:
            longest = next(iter(self._waiting), None)
            if longest is None:
                return False
            self.leave(longest)
            longest.give_way()
        self._guests.add(guest)
        self._waiting[guest] = None
        return True

    def works(self, guest: Guest) -> None:
        """A whole request of it is here."""
        self._waiting.pop(guest, None)

    def waits(self, guest: Guest) -> None:
        """It has been answered."""
        if guest in self._guests:
            self._waiting[guest] = None

    def leave(self, guest: Guest) -> None:
        """It is gone."""
        self._guests.discard(guest)
        self._waiting.pop(guest, None)
