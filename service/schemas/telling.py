"""How a refusal is told: its faults in the order of what was sent, each once, no more of them than anybody reads."""

from __future__ import annotations

from typing import Final

from ..errors import Fault, InvalidInput
from ..pointers import steps

MOST_FAULTS: Final = 100  # listed in one refusal


def told(refusal: InvalidInput, sent: object) -> InvalidInput:
    """`refusal` for the one who sent `sent`; a member that is missing stands at the end of its object."""
    order = _Order(sent)
    once: dict[tuple[str, str], Fault] = {}
    for fault in refusal.faults:
        once.setdefault((fault.pointer, fault.code), fault)
    found = sorted(once.values(), key=lambda fault: order.of(fault.pointer))
    return InvalidInput(found[:MOST_FAULTS], refusal.count - len(refusal.faults) + len(found))


class _Order:
    """Sorts pointers as the document has what they point at."""

    def __init__(self, value: object) -> None:
        self._value = value
        self._places: dict[int, dict[str, int]] = {}

    def of(self, pointer: str) -> tuple[int, ...]:
        places: list[int] = []
        here = self._value
        for step in steps(pointer):
            if isinstance(here, dict):
                if id(here) not in self._places:
                    self._places[id(here)] = {name: place for place, name in enumerate(here)}
                places.append(self._places[id(here)].get(step, len(here)))
                here = here.get(step)
            elif isinstance(here, list) and step.isdigit():
                places.append(int(step))
                here = here[int(step)] if int(step) < len(here) else None
            else:
                break
        return tuple(places)
