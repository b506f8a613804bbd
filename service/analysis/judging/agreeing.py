"""Which faults can be told beside others: those that stand however the others are mended."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...errors import Fault, InvalidInput


def common(found: Sequence[Iterable[Fault]]) -> list[Fault]:
    """The faults that are found every time."""
    first, *others = found or [()]
    rest = [{(each.pointer, each.code) for each in faults} for faults in others]
    return [fault for fault in first if all((fault.pointer, fault.code) in each for each in rest)]


def beside(found: Iterable[Fault], known: Sequence[Fault]) -> list[Fault]:
    """Those of `found` that are at other members than the faults that are known, and no member that one of those may be meant for."""
    at = {fault.pointer for fault in known}
    meant = {
        f"{fault.pointer.rpartition('/')[0]}/{name}" for fault in known if fault.code == "unknown-member" for name in fault.suggestions
    }
    return [
        fault
        for fault in found
        if not (fault.code == "missing" and fault.pointer in meant) and not any(_touch(fault.pointer, pointer) for pointer in at)
    ]


def joined(refusal: InvalidInput, found: Iterable[Fault]) -> InvalidInput:
    """A refusal that also tells what was found beside it."""
    more = beside(found, refusal.faults)
    return InvalidInput([*refusal.faults, *more], refusal.count + len(more)) if more else refusal


def _touch(one: str, other: str) -> bool:
    """Whether one of two pointers leads to what the other leads into."""
    return one == other or one.startswith(f"{other}/") or other.startswith(f"{one}/")
