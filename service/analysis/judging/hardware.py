"""The target of a question, read as far as it goes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

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

AMPLE_RATE: Final = 1e15
AMPLE_BYTES: Final = 2**60
AMPLE: Final[dict[str, Any]] = {
    "peak_flops_per_s": dict.fromkeys(CLASSES, AMPLE_RATE),
    "vector_peak_flops_per_s": dict.fromkeys(CLASSES, AMPLE_RATE),
    "hbm": {"bandwidth_bytes_per_s": AMPLE_RATE, "capacity_bytes": AMPLE_BYTES},
    "on_chip_bytes_per_core": AMPLE_BYTES,
}
"""A chip that can run everything, for one that is not known."""
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
    has_mesh: bool = True
    """whether the axes of the mesh are"""


def judged(sent: object, catalogue: Catalogue, pointer: str) -> JudgedTarget:
    """The target that was sent at `pointer`."""
    value = sent if isinstance(sent, dict) else {}
    chip = _chip(value, catalogue, pointer)
    if value.get("mesh") is None:
        return replace(chip, has_mesh=isinstance(sent, dict))
    faults = Gathered()
    asked = faults.of(lambda: validate(TargetModel, {"chip": "x", "mesh": value["mesh"]}, pointer))
    if asked is None or asked.mesh is None:
        return replace(chip, faults=(*chip.faults, *faults.faults), has_mesh=False)
    return _meshed(chip, value, asked.mesh, catalogue, pointer)


def _chip(value: dict[str, Any], catalogue: Catalogue, pointer: str) -> JudgedTarget:
    """The chip alone; where numbers of one in place are wrong, with ample ones for them."""
    alone = {"chip": value.get("chip")}
    faults = Gathered()
    found = faults.of(lambda: resolve(validate(TargetModel, alone, pointer), catalogue, pointer))
    if found is None and isinstance(alone["chip"], dict):
        mended = _mended(alone["chip"], faults.faults, pointer)
        found = Gathered().of(lambda: resolve(validate(TargetModel, {"chip": mended}, pointer), catalogue, pointer))
    known = tuple(each for each in faults.faults if "chip" in value)
    if found is not None:
        return JudgedTarget(found, known, not known)
    return JudgedTarget(resolve(validate(TargetModel, {"chip": AMPLE}), catalogue), known, has_chip=False)


def _mended(chip: dict[str, Any], faults: list[Fault], pointer: str) -> dict[str, Any]:
    """A chip in place with ample numbers for those at fault; one whose base is not known has all of them."""
    wrong = {step[0] for fault in faults if (step := steps(fault.pointer.removeprefix(f"{pointer}/chip")))}
    wrong |= {name for fault in faults if fault.code == "unknown-member" for name in fault.suggestions if name not in chip}
    sound = {name: value for name, value in chip.items() if name not in wrong}
    return {**AMPLE, **sound} if "base" in wrong else {**sound, **{name: AMPLE[name] for name in wrong if name in AMPLE}}


def _meshed(chip: JudgedTarget, value: dict[str, Any], mesh: MeshModel, catalogue: Catalogue, pointer: str) -> JudgedTarget:
    """The chip with a mesh; without the links of a chip, what the axes are wrong in by themselves."""
    try:
        if chip.has_chip:
            asked = {"chip": value["chip"], "mesh": value["mesh"]}
            return replace(chip, target=resolve(validate(TargetModel, asked, pointer), catalogue, pointer))
        wrong = faults_alone(mesh, f"{pointer}/mesh")
    except InvalidInput as error:
        wrong = list(error.faults)
    stands = replace(chip.target, wired=Wired(_as_written(mesh)))
    return replace(chip, target=stands, faults=(*chip.faults, *wrong), has_mesh=not wrong)


def _as_written(mesh: MeshModel) -> Mesh:
    """The names and the sizes of the axes, on links of any kind."""
    sizes = mesh.sizes if isinstance(mesh, SystemModel) else {axis.name: axis.size for axis in mesh}
    return Mesh(tuple(Axis(name, size, "switch", AMPLE_RATE) for name, size in sizes.items()))
