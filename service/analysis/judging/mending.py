"""What an op with faults may have been meant to say: members in the place of those at fault, several of each kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from ...engine.kinds import KINDS
from ...errors import Fault
from ...pointers import steps

SCALED: Final = "fp32"
"""A format of scales that has none of its own."""
GROUP: Final = 32
"""Elements that share a scale."""
REMOVED: Final = frozenset({"unknown-member", "invalid-request"})
"""Faults of members that should not be there."""
SEQUENCES: Final = ("sequences", "sequence_length")
"""What stands together in the place of m. Where both are stated, either may be meant."""
QUANTISED: Final = "a_quantized_from"
"""A format that an op may do without, and that must suit another one."""
FORMATS: Final = frozenset({"dtype", "class"})
"""The forms of members that hold formats."""


class Meant(NamedTuple):
    """What stands for members at fault."""

    number: int
    format: str
    is_so: bool
    """a flag"""


def ways(chips: int) -> tuple[Meant, ...]:
    """Formats of all widths and kinds; numbers that suit what they are at least, and what they are at most and cut by `chips`."""
    large = chips << 20
    return (
        Meant(1, "bf16", is_so=False),
        Meant(large, "fp64", is_so=True),
        Meant(1, "int8", is_so=True),
        Meant(large, "fp4", is_so=False),
    )


def form(kind: str, name: str) -> str | None:
    """What the member `name` of an op holds; None where the op has none of this name."""
    if name == "count":
        return "whole"
    field = KINDS[kind].fields().get(name)
    return None if field is None else field.metadata["form"]


def mended(op: Mapping[str, Any], faults: Sequence[Fault], pointer: str, meant: Meant) -> dict[str, Any]:
    """`op`, which stands at `pointer`, without these faults; as it is where nobody can say what was meant."""
    found = dict(op)
    for fault in faults:
        name, *rest = steps(fault.pointer.removeprefix(pointer)) or ("",)
        match form(op["kind"], name):
            case "scale":
                _mend_scale(found, name, rest)
            case "sizes":
                found[name] = _sizes(found, found.get(name), rest, fault, meant)
            case "whole" if fault.code in REMOVED and name == "m":
                found = _rows(found, meant)
            case known if known is None or fault.code in REMOVED or name == QUANTISED:
                found.pop(name, None)
            case "whole":
                found[name] = _number(found.get(name), rest, meant)
            case "dtype" | "class":
                found[name] = meant.format
            case "name":
                found[name] = KINDS[op["kind"]].fields()[name].metadata["names"][0]
            case "flag":
                found[name] = meant.is_so
    return found


def _rows(op: Mapping[str, Any], meant: Meant) -> dict[str, Any]:
    """A product whose rows are stated in one way, m or sequences."""
    if meant.is_so:
        return {name: value for name, value in op.items() if name not in (*SEQUENCES, "replicas")}
    return {**dict.fromkeys(SEQUENCES, meant.number), **{name: value for name, value in op.items() if name != "m"}}


def _mend_scale(op: dict[str, Any], name: str, rest: Sequence[str]) -> None:
    """A format of scales can be another one; scales that are wrong otherwise may not be meant at all."""
    scale = op.get(name)
    if not isinstance(scale, dict) or not rest or rest[0] == "block":
        op.pop(name, None)
    elif rest[0] == "group_size":
        op[name] = {**scale, "group_size": GROUP}
    elif rest[0] in {"dtype", "zero_point_dtype"}:
        op[name] = {**scale, rest[0]: SCALED}
    else:
        op[name] = {member: value for member, value in scale.items() if member != rest[0]}


def _sizes(op: Mapping[str, Any], held: Any, rest: Sequence[str], fault: Fault, meant: Meant) -> dict[str, Any]:
    """The sizes of an einsum: one of them mended, or all where there is no telling which."""
    if not isinstance(held, dict) or not rest:
        return {index: meant.number for index in str(op.get("equation")) if index.isalpha()}
    if fault.code == "unknown-member":
        return {index: size for index, size in held.items() if index != rest[0]}
    return {**held, rest[0]: _number(held.get(rest[0]), rest[1:], meant)}


def _number(held: Any, rest: Sequence[str], meant: Meant) -> Any:
    """A number, or the list that holds it with that one in it."""
    if not isinstance(held, list) or not rest:
        return meant.number
    at = int(rest[0])
    return [*held[:at], meant.number, *held[at + 1 :]]
