"""Uploads that mean harm, each made in a moment when it is asked for."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from typing import Final

import pyarrow as pa

from service.tables.limits import MOST_BYTES

from .workbooks import BOOK, BOOK_RELATIONS, MAIN, RELATIONS, SHEET, STRINGS, STYLES, packed, parts, texts, workbook

Bomb = Callable[[], bytes]

HEAD: Final = texts(1, "op", "m")
ENTITIES: Final = "".join(f'<!ENTITY e{at} "{f"&e{at - 1};" * 10 if at else "x" * 10}">' for at in range(10))


def filled(unit: bytes, before: bytes = b"", after: bytes = b"") -> bytes:
    """As much of `unit`, again and again, as an upload may have."""
    return before + unit * ((MOST_BYTES - len(before) - len(after)) // len(unit)) + after


def inflating(size: int, name: str = SHEET, said: int | None = None) -> bytes:
    """A workbook with a part of so many blanks, and what its directory says of their number.

    A block that is packed once, up to where the packer has forgotten it, stands there again and again.
    """
    blank = b" " * 2**20
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = packer.compress(blank) + packer.flush(zlib.Z_FULL_FLUSH)
    count, checksum = size // len(blank), 0
    for _ in range(count):
        checksum = zlib.crc32(blank, checksum)
    body = io.BytesIO(packed({each: content for each, content in parts(HEAD).items() if each != name}))
    with zipfile.ZipFile(body, "a") as archive:
        entry = zipfile.ZipInfo(name)
        archive.writestr(entry, block * count + packer.flush())
        entry.compress_type, entry.file_size, entry.CRC = zipfile.ZIP_DEFLATED, said or size, checksum  # for the directory, written last
    return body.getvalue()


def with_entities(name: str, root: str) -> Bomb:
    """A workbook in which one part declares entities that would become ten thousand million characters."""
    content = f'<?xml version="1.0"?><!DOCTYPE {root} [{ENTITIES}]><{root} xmlns="{MAIN}">&e9;</{root}>'
    return lambda: workbook(HEAD, {name: content})


def rows(count: int) -> str:
    return "".join(f'<row r="{row}"><c r="A{row}"><v>1</v></c></row>' for row in range(2, count + 2))


def one_text_for_all() -> bytes:
    """A text of 32,000 characters to which 20,000 cells refer: 640 million characters of a workbook of some 50,000 bytes."""
    shared = f'<sst xmlns="{MAIN}"><si><t>{"x" * 32_000}</t></si></sst>'
    cells = "".join(f'<row r="{row}"><c r="A{row}" t="s"><v>0</v></c><c r="B{row}" t="s"><v>0</v></c></row>' for row in range(2, 10_002))
    return workbook(HEAD + cells, {STRINGS: shared})


def many_parts() -> bytes:
    return packed({**parts(HEAD), **{f"xl/media/{at}": "" for at in range(5000)}}, level=0)


def many_styles() -> bytes:
    styles = "".join(f'<xf numFmtId="{at % 50}"/>' for at in range(100_000))
    return workbook(HEAD, {STYLES: f'<styleSheet xmlns="{MAIN}"><cellXfs>{styles}</cellXfs></styleSheet>'})


def linked(kind: str) -> Bomb:
    outward = f'<Relationship Id="x" Type="http://x/{kind}" Target="file:///etc/passwd" TargetMode="External"/>'
    return lambda: workbook(HEAD, {"xl/worksheets/_rels/sheet1.xml.rels": f'<Relationships xmlns="{RELATIONS}">{outward}</Relationships>'})


def arrow(batches: Iterator[pa.RecordBatch], compression: str | None = None) -> bytes:
    out = io.BytesIO()
    first = next(batches)
    with pa.ipc.new_stream(out, first.schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as stream:
        stream.write_batch(first)
        for batch in batches:
            stream.write_batch(batch)
    return out.getvalue()


def batch(array: pa.Array) -> Iterator[pa.RecordBatch]:
    yield pa.record_batch([array], names=["m"])


def shared_entry() -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array([0] * 90_000, pa.int32()), pa.array(["x" * 32_000]))


def shared_view() -> pa.Array:
    """90,000 cells that each show the same 32,000 bytes."""
    view = struct.pack("<i4sii", 32_000, b"xxxx", 0, 0)
    return pa.Array.from_buffers(pa.string_view(), 90_000, [None, pa.py_buffer(view * 90_000), pa.py_buffer(b"x" * 32_000)])


XLSX: Final[Mapping[str, Bomb]] = {
    "half a megabyte that inflates to 512 MiB": lambda: inflating(2**29),
    "a part beside the sheet that inflates to 256 MiB": lambda: inflating(2**28, "xl/media/image1.png"),
    "sizes that lie": lambda: inflating(2**28, said=1000),
    "sizes that lie upwards": lambda: inflating(2**20, said=2**26),
    "a far cell": lambda: workbook(HEAD + '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'),
    "a far column": lambda: workbook(HEAD + '<row r="2"><c r="XFD2"><v>1</v></c></row>'),
    "a far row": lambda: workbook(HEAD + '<row r="1048576"><c r="A1048576"><v>1</v></c></row>'),
    "a far name": lambda: workbook('<row r="1"><c r="A1"><v>1</v></c><c r="XFD1"><v>2</v></c></row>'),
    "a million rows": lambda: workbook(HEAD + rows(1_000_000)),
    "10^5 styles": many_styles,
    "5,000 parts": many_parts,
    "one text for all cells": one_text_for_all,
    "four million texts": lambda: workbook(HEAD, {STRINGS: f'<sst xmlns="{MAIN}">{"<si><t>ab</t></si>" * 4_000_000}</sst>'}),
    "a text of 64 MiB": lambda: workbook(texts(1, "x" * 2**26)),
    "a value of 64 MiB": lambda: workbook(f'<row r="1"><c r="A1" t="str"><v>{"x" * 2**26}</v></c></row>'),
    "a tag of 64 MiB": lambda: workbook(f'<row r="1" x="{"x" * 2**26}"/>'),
    "elements a million deep": lambda: workbook("<row>" * 1_000_000),
    "a million kinds of elements": lambda: workbook("".join(f"<x{at}/>" for at in range(1_000_000))),
    "entities in the sheet": with_entities(SHEET, "worksheet"),
    "entities in the texts": with_entities(STRINGS, "sst"),
    "entities in the styles": with_entities(STYLES, "styleSheet"),
    "entities in the workbook": with_entities(BOOK, "workbook"),
    "entities in the relations": with_entities(BOOK_RELATIONS, "Relationships"),
    "an entity from a file": lambda: workbook(
        HEAD, {STRINGS: f'<!DOCTYPE sst [<!ENTITY e SYSTEM "file:///etc/passwd">]><sst xmlns="{MAIN}"><si><t>&e;</t></si></sst>'}
    ),
    "a link to another workbook": lambda: workbook(HEAD, {"xl/externalLinks/externalLink1.xml": "<externalLink/>"}),
    "an outward relation": linked("oleObject"),
    "macros": lambda: workbook(HEAD, {"xl/vbaProject.bin": "x"}),
    "a locked workbook": lambda: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(4096),
    "no zip": lambda: b"x" * 4096,
    "a zip that is no workbook": lambda: packed({"a.txt": "x"}),
    "half a workbook": lambda: workbook(HEAD)[:700],
}

CSV: Final[Mapping[str, Bomb]] = {
    "only commas": lambda: filled(b","),
    "only ends of lines": lambda: filled(b"\n"),
    "only quotes": lambda: filled(b'"'),
    "only NUL": lambda: filled(b"\0"),
    "a quote that does not end": lambda: filled(b"x", b'a,b\n1,"'),
    "a record of a million lines": lambda: filled(b'"\n",', b"a\n"),
    "a million rows": lambda: filled(b"1\n", b"a\n"),
    "a wide table": lambda: b",".join(b"c%d" % at for at in range(512)) + b"\n" + filled(b"," * 511 + b"1\n")[: 15 * 2**20],
    "wide characters": lambda: filled("😀".encode(), b"a\n"),
    "a ragged row": lambda: filled(b"1,2\n", b"a,b\n", b"1\n")[: 99_000 * 4] + b"1\n",
    "UTF-16": lambda: filled(b"x").decode().encode("utf-16")[:MOST_BYTES],
    "a byte too many": lambda: b"a\n" + b"x" * (MOST_BYTES - 1),
}

JSON: Final[Mapping[str, Bomb]] = {
    "only brackets": lambda: filled(b"["),
    "only braces": lambda: filled(b"{"),
    "lists in a list": lambda: filled(b"[],", b"[", b"[]]"),
    "objects in a list": lambda: filled(b"{},", b"[", b"{}]"),
    "lists in a row": lambda: filled(b"[],", b'[{"a":[', b"[]]}]"),
    "objects in a row": lambda: filled(b"{},", b'[{"a":[', b"{}]}]"),
    "members of a row": lambda: filled(b'"a":1,', b"[{", b'"a":1}]'),
    "a text that does not end": lambda: filled(b"x", b'[{"a":"'),
    "backslashes": lambda: filled(b"\\", b'[{"a":"'),
    "blanks": lambda: filled(b" ", b"[", b"]x"),
    "lists in a column": lambda: filled(b"[],", b'{"a":[', b"[]]}"),
    "numbers in a column": lambda: filled(b"1,", b'{"a":[', b"1]}"),
    "texts in a column": lambda: filled(b'"ab",', b'{"a":[', b'"ab"]}'),
    "columns without rows": lambda: filled(b'"a":[],', b"{", b'"a":[]}'),
    "half of a pair": lambda: b'[{"a":"\\ud800"}]',
    "NUL": lambda: b'[{"a":"\\u0000"}]',
}

NDJSON: Final[Mapping[str, Bomb]] = {
    "a million rows": lambda: filled(b"{}\n"),
    "a row without end": lambda: filled(b"[],", b'{"a":['),
    "new names in each row": lambda: b"".join(b'{"c%d":1}\n' % at for at in range(90_000)),
    "blank lines": lambda: filled(b"\n"),
}

ARROW: Final[Mapping[str, Bomb]] = {
    "2^31 rows of nothing": lambda: arrow(batch(pa.Array.from_buffers(pa.null(), 2**31 - 1, [None]))),
    "ten million zeros": lambda: arrow(batch(pa.repeat(0, 10_000_000)), "zstd"),
    "a text of 256 MiB": lambda: arrow(batch(pa.array(["x" * 2**28])), "zstd"),
    "texts of 100 MiB": lambda: arrow(batch(pa.array(["x" * 25_000] * 4000)), "zstd"),
    "one entry for all cells": lambda: arrow(batch(shared_entry())),
    "one view for all cells": lambda: arrow(batch(shared_view())),
    "ten thousand batches": lambda: arrow(each for _ in range(10_000) for each in batch(pa.array([], pa.int64()))),
    "no stream": lambda: filled(b"\xff"),
    "half a stream": lambda: arrow(batch(pa.array([1, 2, 3])))[:200],
}

BOMBS: Final[Mapping[str, Mapping[str, Bomb]]] = {"xlsx": XLSX, "csv": CSV, "json": JSON, "ndjson": NDJSON, "arrow": ARROW}
