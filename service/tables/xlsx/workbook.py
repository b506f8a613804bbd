"""What a workbook says of itself: its sheets, where their parts lie, and that nothing in it leads elsewhere."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ...errors import near, refuse
from .archive import Archive, refused
from .markup import follow_all

PROVENANCE: Final = "provenance"
"""The sheet beside the table in which our own workbooks say where the numbers come from."""


@dataclass(frozen=True)
class Relation:
    """A part that another one refers to."""

    kind: str
    target: str


@dataclass(frozen=True)
class Place:
    """A sheet by its name, and the part that holds it."""

    name: str
    part: str
    is_visible: bool
    has_cells: bool
    """Whether it is a sheet of cells, not of a chart or a dialog."""


@dataclass(frozen=True)
class Workbook:
    sheets: tuple[Place, ...]
    strings: str
    styles: str
    from_1904: bool


def opened(archive: Archive) -> Workbook:
    """The workbook of an archive. Raises InvalidInput where it is none, or one that leads elsewhere."""
    _check_relations(archive)
    main = _only(_relations(archive, ""), "officeDocument")
    relations = _relations(archive, main)
    sheets: list[Place] = []
    from_1904 = False

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal from_1904
        if name == "sheet":
            sheets.append(_place(attributes, relations))
        elif name == "workbookPr":
            from_1904 = attributes.get("date1904", "0") in {"1", "true"}

    follow_all(archive.pieces(main), start)
    return Workbook(tuple(sheets), _only(relations, "sharedStrings"), _only(relations, "styles"), from_1904)


def chosen(sheets: Sequence[Place], name: str | None) -> Place:
    """The sheet of that name, or the only one that can be meant: visible, of cells, and not about where numbers come from."""
    tables = [sheet for sheet in sheets if sheet.has_cells]
    if name is not None:
        for sheet in tables:
            if sheet.name == name:
                return sheet
        raise refuse("/query/sheet", "out-of-range", "The workbook has no sheet of this name.", near(name, [each.name for each in tables]))
    meant = [sheet for sheet in tables if sheet.is_visible and sheet.name != PROVENANCE]
    if len(meant) > 1:
        raise refuse(
            "/query/sheet", "missing", "The workbook has several sheets; say which one is the table.", [each.name for each in meant][:5]
        )
    if not meant:
        raise refused("The workbook has no sheet of cells that can be seen; a hidden one is read by its name.")
    return meant[0]


def _place(attributes: dict[str, str], relations: dict[str, Relation]) -> Place:
    key = next((value for name, value in attributes.items() if name.endswith(":id")), "")
    if key not in relations:
        raise refused("The workbook names a sheet that it does not hold.")
    relation = relations[key]
    return Place(attributes.get("name", ""), relation.target, attributes.get("state", "visible") == "visible", relation.kind == "worksheet")


def _only(relations: dict[str, Relation], kind: str) -> str:
    """The part of a kind, of which there is one at most."""
    return next((relation.target for relation in relations.values() if relation.kind == kind), "")


def _relations(archive: Archive, part: str) -> dict[str, Relation]:
    """What a part refers to, by key; the parts of an empty name are those of the whole archive."""
    folder, name = posixpath.split(part)
    found: dict[str, Relation] = {}

    def start(element: str, attributes: dict[str, str]) -> None:
        if element == "Relationship" and attributes.get("TargetMode") != "External":
            target = posixpath.normpath(posixpath.join("/" + folder, attributes.get("Target", ""))).lstrip("/")
            found[attributes.get("Id", "")] = Relation(attributes.get("Type", "").rpartition("/")[2], target)

    path = posixpath.join(folder, "_rels", name + ".rels")
    if path in archive.names:
        follow_all(archive.pieces(path), start)
    return found


def _check_relations(archive: Archive) -> None:
    """Refuse parts that refer to what is outside, but for addresses that a reader of the sheet may click on."""

    def start(_element: str, attributes: dict[str, str]) -> None:
        if attributes.get("TargetMode") == "External" and not attributes.get("Type", "").endswith("/hyperlink"):
            raise refused("The workbook refers to other files; replace what comes from them by values.")

    for name in archive.names:
        if name.lower().endswith(".rels"):
            follow_all(archive.pieces(name), start)
