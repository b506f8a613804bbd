"""XLSX: a zip of XML parts, read piece by piece within bounds, and written in a stream.

The reader is our own. One that builds the sheet before it can be asked about it is brought down by a workbook of two cells that lie
far apart, or of one long text that many cells share, and a check beforehand would have to read every cell in any case.
"""

from .reading import read
from .writing import write

__all__ = ["read", "write"]
