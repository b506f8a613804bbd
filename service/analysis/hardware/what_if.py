"""A what-if as it is asked in place, `{"base": …, "hbm": {"bandwidth_bytes_per_s": …}}`, written as a file states it.

Nobody has published such numbers: each cites the request itself, has low confidence, and the reason of the revision as its note.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ...errors import Fault, InvalidInput
from ...pointers import pointer
from ...schemas.reading import validate
from ...schemas.target import ChipModel

SOURCE: Final = "what-if"
WORK: Final = {"title": "What-if: a number that was assumed", "publisher": "whoever added the entry"}

Table = Mapping[str, Any]

PEAKS: Final = {"peak_flops_per_s": "compute", "vector_peak_flops_per_s": "vector"}
MEMORY: Final = {"bandwidth_bytes_per_s": ("bandwidth", "B/s"), "capacity_bytes": ("capacity", "B")}


def in_si(members: Table) -> dict[str, Any]:
    """Those of `members` that stand as in a chip in place. The memory is one of them where it holds nothing but such numbers."""
    names = (*PEAKS, "on_chip_bytes_per_core", "l2")
    found = {name: members[name] for name in names if name in members}
    memory, cores = members.get("hbm"), members.get("cores")
    if isinstance(memory, Mapping) and memory and memory.keys() <= MEMORY.keys():
        found["hbm"] = memory
    if cores is not None and not isinstance(cores, Mapping):
        found["cores"] = cores
    return found


def changes(numbers: Table, stores: list[dict[str, Any]], rest: Table, note: str) -> dict[str, Any]:
    """`numbers` as changes of a file whose base has the on-chip `stores`; `rest` is what else the request states.

    Raises InvalidInput with pointers into the request.
    """
    asked = validate(ChipModel, dict(numbers)).model_dump(exclude_none=True)
    if wrong := [*_nulls(numbers), *_twice(numbers, rest)]:
        raise InvalidInput(wrong)
    changed: dict[str, Any] = {}
    for name, section in PEAKS.items():
        if name in asked:
            changed[section] = {kind: _value(peak, "FLOP/s", note) for kind, peak in asked[name].items()}
    if "hbm" in asked:
        changed["hbm"] = _rates(asked["hbm"], note)
    if "cores" in asked:
        changed["cores"] = {"count": _value(asked["cores"], "count", note)}
    if "on_chip_bytes_per_core" in asked:
        room = {"usable": _value(asked["on_chip_bytes_per_core"], "B", note)}
        stores = _with(stores, "tile", {"name": "on-chip store", "scope": "core", "role": "tile"}, room)
    if "l2" in asked:
        stores = _with(stores, "l2", {"name": "L2", "scope": "chip", "role": "l2"}, _rates(asked["l2"], note))
    return {**changed, "on_chip": stores} if {"on_chip_bytes_per_core", "l2"} & asked.keys() else changed


def _nulls(numbers: Table, above: tuple[str, ...] = ()) -> Iterator[Fault]:
    """Where a number is null, which a question reads as not given, and a file as taken away."""
    for name, each in numbers.items():
        if each is None:
            yield Fault(pointer((*above, name)), "wrong-type", "A number is needed, not null; leave out what stays as it is.")
        elif isinstance(each, Mapping):
            yield from _nulls(each, (*above, name))


def _twice(numbers: Table, rest: Table) -> Iterator[Fault]:
    """Numbers that `rest` states as well, so that one of the two would be lost."""
    stores = [((name,), "on_chip") for name in ("on_chip_bytes_per_core", "l2") if name in numbers and "on_chip" in rest]
    peaks = [
        ((name, kind), section)
        for name, section in PEAKS.items()
        for kind in numbers.get(name) or ()
        if section in rest and (rest[section] is None or kind in rest[section])
    ]
    for steps, section in (*peaks, *stores):
        yield Fault(pointer(steps), "invalid-request", f"`{section}` states this too; state it once.")


def _value(number: float, unit: str, note: str) -> dict[str, Any]:
    return {"value": number, "unit": unit, "source": SOURCE, "confidence": "low", "note": note}


def _rates(numbers: Mapping[str, float], note: str) -> dict[str, Any]:
    return {MEMORY[name][0]: _value(number, MEMORY[name][1], note) for name, number in numbers.items()}


def _with(stores: list[dict[str, Any]], role: str, absent: dict[str, Any], numbers: dict[str, Any]) -> list[dict[str, Any]]:
    """`stores` with `numbers` in the one that has the `role`, which is added where it is `absent`."""
    if not any(store.get("role") == role for store in stores):
        return [*stores, {**absent, **numbers}]
    return [_changed(store, numbers) if store.get("role") == role else store for store in stores]


def _changed(store: dict[str, Any], numbers: dict[str, Any]) -> dict[str, Any]:
    """A store is known by its capacity and by what of it is usable; who assumes one of them knows no more of the other."""
    changed = {**store, **numbers}
    if "usable" in numbers:
        changed.pop("capacity", None)
    elif "capacity" in numbers:
        changed.pop("usable", None)
    return changed
