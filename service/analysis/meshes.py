"""From the mesh of a question to a mesh of the engine: axes as written, links of the chip, or the axes of a system.

What the caller left to the catalogue is filled in and listed; what the catalogue does not know is refused, never guessed. Only a
latency without a source counts 0, so that the least time stays one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

from ..catalogue import Catalogue, Chip
from ..engine.collective import Cost
from ..engine.mesh import Axis, Mesh, Topology
from ..errors import Fault, InvalidInput, refuse
from ..schemas.mesh import AxisModel, MeshModel, SystemModel
from .links import NODE, SCALE_UP, Links, Wanted, of_chip, of_system


class Remark(NamedTuple):
    """What must be said where an axis takes part in a collective, of one kind or of any."""

    axis: str
    text: str
    kind: str | None = None


@dataclass(frozen=True)
class Wired:
    """The mesh of a question as understood."""

    mesh: Mesh = Mesh()
    assumed: tuple[Mapping[str, Any], ...] = ()
    remarks: tuple[Remark, ...] = ()

    @property
    def document(self) -> list[dict[str, Any]]:
        """The axes with every member filled, as a request could have them."""
        return [_members(axis) for axis in self.mesh.axes]

    def said(self, costs: Sequence[Cost]) -> list[str]:
        """What must be said of the axes on which these collectives run."""
        used = {(axis, cost.kind) for cost in costs for axis in cost.axes}
        asked = [(each.text, {kind for axis, kind in used if axis == each.axis}, each.kind) for each in self.remarks]
        return [text for text, kinds, only in asked if kinds and (only is None or only in kinds)]


def resolve(asked: MeshModel | None, chip: Chip | None, catalogue: Catalogue, pointer: str) -> Wired:
    """The mesh as understood, on a target whose links are those of `chip`; `pointer` is where the mesh stands.

    Raises `InvalidInput`: unknown-cluster, unknown-axis, axis-repeated, missing, out-of-range, invalid-request.
    """
    if asked is None:
        return Wired()
    if isinstance(asked, SystemModel):
        return _system(asked, chip, catalogue, pointer)
    return _axes(asked, chip, pointer)


def _axes(asked: Sequence[AxisModel], chip: Chip | None, pointer: str) -> Wired:
    links = Links("the chip in place", {}, None) if chip is None else of_chip(chip)
    wanted = _wanted(asked, pointer)
    _refuse(_once([*_repeated(asked, pointer), *links.faults(wanted), *_misplaced(wanted)]))
    _refuse(links.overfull(wanted))
    sizes = {each.name: each.size for each in wanted}
    _refuse(_unreduced(asked, links, pointer))
    axes = [_in_place(axis) if axis.topology is not None else _linked(axis, links, sizes) for axis in asked]
    filled = [
        {"pointer": f"{pointer}/{at}/{name}", "value": value}
        for at, axis in enumerate(axes)
        for name, value in _members(axis).items()
        if getattr(asked[at], name) is None
    ]
    return Wired(Mesh(tuple(axes)), tuple(filled), tuple(_remarks([axis for axis in axes if axis.name in sizes], links)))


def faults_alone(asked: MeshModel, pointer: str) -> list[Fault]:
    """What is wrong with a mesh on whatever chip."""
    return [] if isinstance(asked, SystemModel) else _once([*_repeated(asked, pointer), *_misplaced(_wanted(asked, pointer))])


def _wanted(asked: Sequence[AxisModel], pointer: str) -> list[Wanted]:
    """The axes that are links of the chip."""
    places = [(axis, f"{pointer}/{at}") for at, axis in enumerate(asked) if axis.topology is None]
    return [Wanted(axis.name, axis.size, f"{place}/name", f"{place}/size", place) for axis, place in places]


def _once(faults: Iterable[Fault]) -> list[Fault]:
    """The first fault of each member: mended, the others may be gone."""
    found: dict[str, Fault] = {}
    for fault in faults:
        found.setdefault(fault.pointer, fault)
    return list(found.values())


def _system(asked: SystemModel, chip: Chip | None, catalogue: Catalogue, pointer: str) -> Wired:
    system = catalogue.cluster(asked.cluster, f"{pointer}/cluster")
    if chip is None or system.chip != chip.id:
        fitting = [each.id for each in catalogue.clusters if chip is not None and each.chip == chip.id]
        raise refuse(f"{pointer}/cluster", "invalid-request", f"This system is made of {system.chip}, which the target is not.", fitting)
    links = of_system(system, chip)
    places = {name: f"{pointer}/sizes/{name}" for name in asked.sizes}
    wanted = [Wanted(name, size, places[name], places[name]) for name, size in asked.sizes.items()]
    _refuse(links.faults(wanted))
    _refuse(links.overfull(wanted))
    axes = [_axis(name, asked.sizes[name], links, asked.sizes) for name in links.by_name if name in asked.sizes]
    filled = [{"pointer": f"{pointer}/{at}", "value": _members(axis)} for at, axis in enumerate(axes)]
    return Wired(Mesh(tuple(axes)), ({"pointer": f"{pointer}/cluster", "value": system.ref}, *filled), tuple(_remarks(axes, links)))


def _refuse(faults: Iterable[Fault]) -> None:
    if found := list(faults):
        raise InvalidInput(found)


def _repeated(asked: Sequence[AxisModel], pointer: str) -> Iterator[Fault]:
    names = [axis.name for axis in asked]
    for at, name in enumerate(names):
        if name in names[:at]:
            yield Fault(f"{pointer}/{at}/name", "axis-repeated", "Another axis of the mesh has this name.")


def _misplaced(wanted: Sequence[Wanted]) -> Iterator[Fault]:
    """The chip's scale-out lies outside its scale-up, and a single ring has two names but is one."""
    names = [each.name for each in wanted]
    inside_out = names.index(NODE) if NODE in names else len(names)
    for each in wanted[inside_out + 1 :]:
        yield Fault(each.name_at, "invalid-request", f"Axes stand innermost first, and {NODE} lies outside this one.")
    if set(SCALE_UP["ring"]) <= set(names):
        yield Fault(wanted[-1].name_at, "axis-repeated", "Another axis of the mesh is the same link by another name.")


def _in_place(asked: AxisModel) -> Axis:
    """An axis taken as written; a latency that is not given is 0."""
    assert asked.topology is not None
    assert asked.bandwidth_bytes_per_s is not None
    return Axis(
        asked.name,
        asked.size,
        asked.topology,
        asked.bandwidth_bytes_per_s,
        asked.latency_s or 0.0,
        in_network_reduction=bool(asked.in_network_reduction),
    )


def _unreduced(asked: Sequence[AxisModel], links: Links, pointer: str) -> Iterator[Fault]:
    """Links of the chip that are to add what the chips send and cannot."""
    for at, axis in enumerate(asked):
        if axis.topology is None and axis.in_network_reduction and links.by_name[axis.name].topology != "switch":
            yield Fault(f"{pointer}/{at}/in_network_reduction", "invalid-request", "Only a switch reduces in the network.")


def _linked(asked: AxisModel, links: Links, sizes: Mapping[str, int]) -> Axis:
    """A link of the chip; a latency or a reduction that is given counts."""
    axis = _axis(asked.name, asked.size, links, sizes)
    latency = axis.latency if asked.latency_s is None else asked.latency_s
    return Axis(axis.name, axis.size, axis.topology, axis.bandwidth, latency, in_network_reduction=bool(asked.in_network_reduction))


def _axis(name: str, size: int, links: Links, sizes: Mapping[str, int]) -> Axis:
    """An axis of the catalogue at its size in a slice of `sizes`."""
    link = links.by_name[name]
    assert link.bandwidth is not None
    is_open = link.topology == "ring" and not links.wraps(name, sizes)
    return Axis(name, size, "line" if is_open else cast("Topology", link.topology), link.bandwidth, link.latency or 0.0)


def _remarks(axes: Sequence[Axis], links: Links) -> Iterator[Remark]:
    for axis in axes:
        link = links.by_name[axis.name]
        if axis.topology == "line":
            yield Remark(axis.name, f"Axis {axis.name} of {axis.size} chips has no wraparound and is a line: in {links.of} {links.closes}.")
        if link.latency is None and not axis.latency:
            yield Remark(axis.name, f"No source gives the latency of axis {axis.name}; it counts 0.")
        if link.can_reduce and not axis.in_network_reduction:
            text = f"The switch of axis {axis.name} can add what the chips send; it counts where in_network_reduction is true."
            yield Remark(axis.name, text, "all_reduce")
        if axis.in_network_reduction and not link.can_reduce:
            text = f"No source says that the switch of axis {axis.name} adds what the chips send; in_network_reduction is taken as given."
            yield Remark(axis.name, text, "all_reduce")


def _members(axis: Axis) -> dict[str, Any]:
    reduces = {"in_network_reduction": axis.in_network_reduction} if axis.topology == "switch" else {}
    return {
        "name": axis.name,
        "size": axis.size,
        "topology": axis.topology,
        "bandwidth_bytes_per_s": axis.bandwidth,
        "latency_s": axis.latency,
        **reduces,
    }
