"""The zip that a workbook is: looked through before anything is inflated, and inflated with a count.

The directory of a zip is a claim. What it says of sizes is held against the limits first, then against the bytes as they come out:
a part that is longer than it says is cut there, fails its checksum, and is refused.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import Final

from ...errors import InvalidInput, OverLimit, refuse
from ..limits import check_inflated

MOST_PARTS: Final = 1000
MOST_DIRECTORY: Final = 2**18  # bytes of the directory, which is read whole
_PIECE: Final = 2**16

_LOCKED: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # the compound files of old workbooks, and of encrypted new ones
_END: Final = struct.Struct("<4s4H2LH")  # the record that ends a zip
_WIDE: Final = b"PK\x06\x07"
_WIDE_SIZE: Final = 20
_IS_ENCRYPTED: Final = 0x1

_UNWANTED: Final = (
    ("vbaproject", "The workbook holds macros; save it as a workbook without them."),
    ("xl/macrosheets/", "The workbook holds macro sheets; save it without them."),
    ("xl/externallinks/", "The workbook has links to other workbooks; replace them by values."),
    ("xl/workbook.bin", "The workbook is of the binary kind; save it as XLSX."),
)


def refused(detail: str) -> InvalidInput:
    return refuse("", "malformed-table", detail)


class Archive:
    """The parts of a workbook. Raises InvalidInput and OverLimit for what is no workbook or might be a trap."""

    def __init__(self, body: bytes) -> None:
        _check_end(body)
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(body))
        except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
            raise refused("The workbook is a broken zip.") from error
        self._inflated = 0
        entries = self._zip.infolist()
        if len(entries) > MOST_PARTS:
            raise OverLimit(f"A workbook has at most {MOST_PARTS} parts.", code="body-too-large")
        check_inflated(sum(entry.file_size for entry in entries))
        _check_names([entry.filename.lower() for entry in entries])
        if any(entry.flag_bits & _IS_ENCRYPTED for entry in entries):
            raise refused("The workbook is encrypted; save it without a password.")
        if any(entry.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED} for entry in entries):
            raise refused("The workbook is compressed in an unknown way.")
        self.names: Final = tuple(entry.filename for entry in entries)

    def pieces(self, name: str) -> Iterator[bytes]:
        """A part, inflated piece by piece; nothing where there is none."""
        if name not in self.names:
            return
        try:
            with self._zip.open(name) as part:
                while piece := part.read(_PIECE):
                    self._inflated += len(piece)
                    check_inflated(self._inflated)
                    yield piece
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
            raise refused("A part of the workbook is broken.") from error


def _check_end(body: bytes) -> None:
    """Refuse what does not end as a plain zip with a directory of bounded size."""
    if body.startswith(_LOCKED):
        raise refused("The workbook is encrypted, or of the kind before XLSX; save it as XLSX without a password.")
    if len(body) < _END.size:
        raise refused("The body is not a workbook.")
    signature, _disk, _first, _here, _entries, size, _offset, comment = _END.unpack(body[-_END.size :])
    wide = body[-_END.size - _WIDE_SIZE : -_END.size]
    if not body.startswith(b"PK") or signature != b"PK\x05\x06" or comment or wide.startswith(_WIDE):
        raise refused("The body is not a workbook, or is not whole.")
    if size > MOST_DIRECTORY:
        raise OverLimit(f"The directory of a workbook has at most {MOST_DIRECTORY} bytes.", code="body-too-large")


def _check_names(names: list[str]) -> None:
    for unwanted, detail in _UNWANTED:
        if any(unwanted in name for name in names):
            raise refused(detail)
    if len(set(names)) != len(names):
        raise refused("The workbook has two parts of one name.")
    if "[content_types].xml" not in names:
        raise refused("The body is a zip, and not a workbook.")
