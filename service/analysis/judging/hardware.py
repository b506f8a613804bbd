"""The target of a question, read as far as it goes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, NamedTuple

from ...catalogue import Catalogue
from ...engine.arrays import column
from ...engine.dtypes import CLASSES
from ...engine.machine import Machine
from ...engine.mesh import Axis, Mesh
from ...errors import Fault, Gathered, InvalidInput
from ...pointers import steps
from ...schemas.mesh import MeshModel, SystemModel
from ...schemas.reading import validate
from ...schemas.target import TargetModel
from ..meshes import Wired, faults_alone
from ..targets import Target, resolve
from .agreeing import beside

AMPLE_RATE: Final = 1e15
AMPLE_BYTES: Final = 2**60
AMPLE: Final[dict[str, Any]] = {
    "peak_flops_per_s": dict.fromkeys(CLASSES, AMPLE_RATE),
    "vector_peak_flops_per_s": dict.fromkeys(CLASSES, AMPLE_RATE),
    "hbm": {"bandwidth_bytes_per_s": AMPLE_RATE, "capacity_bytes": AMPLE_BYTES},
    "on_chip_bytes_per_core": AMPLE_BYTES,
}
"""A chip that can run everything, for one that is not known."""
PLAIN_AXIS: Final = {"name": "unnamed", "size": 1, "topology": "switch", "bandwidth_bytes_per_s": AMPLE_RATE}
ROUNDS: Final = 2
"""How often a chip in place is mended: its shape, then its base."""
RUNS_ALL: Final = Machine(
    matrix_peaks={name: column(AMPLE_RATE) for name in CLASSES},
    vector_peaks={name: column(AMPLE_RATE) for name in CLASSES},
    hbm_bandwidth=column(AMPLE_RATE),
)
"""The numbers of such a chip."""


@dataclass(frozen=True)
class JudgedTarget:
    """What is wrong with a target, and what it is as far as it is known."""

    target: Target
    faults: tuple[Fault, ...] = ()
    has_chip: bool = True
    """whether all numbers of the chip are what was meant"""
    has_stores: bool = True
    """whether those of the stores of its cores are"""
    has_names: bool = True
    """whether the names of the axes are what was meant"""
    has_sizes: bool = True
    """whether the sizes of the axes are"""


def judged(sent: object, catalogue: Catalogue, pointer: str) -> JudgedTarget:
    """The target that was sent at `pointer`."""
    value = sent if isinstance(sent, dict) else {}
    chip = _chip(value, catalogue, pointer)
    if value.get("mesh") is None:
        is_known = isinstance(sent, dict) and value.keys() <= TargetModel.model_fields.keys()  # no member may be meant for it
        return replace(chip, has_names=is_known, has_sizes=is_known)
    mesh = _mesh(value["mesh"], f"{pointer}/mesh")
    return _meshed(replace(chip, faults=(*chip.faults, *mesh.faults)), value, mesh, catalogue, pointer)


def _chip(value: dict[str, Any], catalogue: Catalogue, pointer: str) -> JudgedTarget:
    """The chip alone; where numbers of one in place are wrong, with ample ones for them."""
    if "chip" not in value:
        return JudgedTarget(_resolved(AMPLE, catalogue, pointer), has_chip=False, has_stores=False)
    chip, faults = value["chip"], Gathered()
    found = faults.of(lambda: _resolved(chip, catalogue, pointer))
    wrong: set[str] = set()
    for _ in range(ROUNDS):
        if found is not None or not isinstance(chip, dict):
            break
        wrong = _wrong(chip, faults.faults, f"{pointer}/chip")
        found = faults.of(partial(_resolved, _mended(chip, wrong), catalogue, pointer))
    has_stores = found is not None and not wrong & {"base", "on_chip_bytes_per_core"}
    known = tuple(dict.fromkeys(faults.faults))
    return JudgedTarget(found or _resolved(AMPLE, catalogue, pointer), known, not known, has_stores)


def _resolved(chip: object, catalogue: Catalogue, pointer: str) -> Target:
    return resolve(validate(TargetModel, {"chip": chip}, pointer), catalogue, pointer)


def _wrong(chip: dict[str, Any], faults: list[Fault], pointer: str) -> set[str]:
    """The members of a chip in place that are at fault, or may be meant by one that is."""
    wrong = {step[0] for fault in faults if (step := steps(fault.pointer.removeprefix(pointer)))}
    return wrong | {name for fault in faults if fault.code == "unknown-member" for name in fault.suggestions if name not in chip}


def _mended(chip: dict[str, Any], wrong: set[str]) -> dict[str, Any]:
    """A chip in place with ample numbers for those at fault; one whose base is not known has all of them."""
    sound = {name: value for name, value in chip.items() if name not in wrong}
    return {**AMPLE, **sound} if "base" in wrong else {**sound, **{name: AMPLE[name] for name in wrong if name in AMPLE}}


class _Axes(NamedTuple):
    """A mesh as far as it can be read, and what is wrong with it."""

    asked: MeshModel | None
    faults: Sequence[Fault] = ()
    has_names: bool = True
    has_sizes: bool = True


def _mesh(sent: object, pointer: str) -> _Axes:
    """The axes that were sent at `pointer`; one in which something is wrong is an axis of the same name and size."""
    try:
        return _Axes(_read(sent))
    except InvalidInput as error:
        faults = [replace(fault, pointer=pointer + fault.pointer.removeprefix("/mesh")) for fault in error.faults]
    wrong = [steps(fault.pointer.removeprefix(pointer)) for fault in faults]
    if not isinstance(sent, list) or any(len(path) < 2 for path in wrong):
        return _Axes(None, faults, has_names=False, has_sizes=False)
    torn = {path[0] for path in wrong}
    kept = [{**PLAIN_AXIS, **_sound(axis, at, wrong)} if str(at) in torn else axis for at, axis in enumerate(sent)]
    members = {path[1] for path in wrong}
    return _Axes(_read(kept), faults, has_names="name" not in members, has_sizes="size" not in members)


def _read(mesh: object) -> MeshModel | None:
    return validate(TargetModel, {"chip": "x", "mesh": mesh}).mesh


def _sound(axis: dict[str, Any], at: int, wrong: Sequence[tuple[str, ...]]) -> dict[str, Any]:
    """The name and the size of an axis, as far as nothing is wrong with them."""
    return {name: axis[name] for name in ("name", "size") if name in axis and (str(at), name) not in wrong}


def _meshed(chip: JudgedTarget, value: dict[str, Any], mesh: _Axes, catalogue: Catalogue, pointer: str) -> JudgedTarget:
    """The chip with a mesh; without the links of a chip, what the axes are wrong in by themselves."""
    if mesh.asked is None:
        return replace(chip, has_names=False, has_sizes=False)
    wrong: Sequence[Fault] = ()
    try:
        if chip.has_chip and not mesh.faults:
            asked = {"chip": value["chip"], "mesh": value["mesh"]}
            return replace(chip, target=resolve(validate(TargetModel, asked, pointer), catalogue, pointer))
        wrong = beside(faults_alone(mesh.asked, f"{pointer}/mesh"), mesh.faults)
    except InvalidInput as error:
        wrong = error.faults
    return replace(
        chip,
        target=replace(chip.target, wired=Wired(_as_written(mesh.asked))),
        faults=(*chip.faults, *wrong),
        has_names=mesh.has_names and not any(fault.code != "missing" for fault in wrong),
        has_sizes=mesh.has_sizes and not any(fault.code != "missing" for fault in wrong),
    )


def _as_written(mesh: MeshModel) -> Mesh:
    """The names and the sizes of the axes, on links of any kind."""
    sizes = mesh.sizes if isinstance(mesh, SystemModel) else {axis.name: axis.size for axis in mesh}
    return Mesh(tuple(Axis(name, size, "switch", AMPLE_RATE) for name, size in sizes.items()))
