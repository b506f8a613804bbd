"""Number formats: how many bits an element takes, which scales a format carries, at which peak it computes.

Widths are element bits without scales. The scales of the block formats are those of the OCP Microscaling specification 1.0
(mxfp8, mxfp6, mxfp4: one 8-bit exponent per 32 elements) and of NVIDIA's nvfp4 (one 8-bit fp8 scale per 16 elements).
"""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import InvalidInput, near, refuse


@dataclass(frozen=True)
class DType:
    """A storage format."""

    name: str
    bits: int
    """bits of one element, scales left out"""
    arithmetic: str
    """arithmetic class, the key of a chip's peaks"""
    integer: bool = False
    group: int = 0
    """elements that share one built-in scale; 0 where the format has none"""
    scale_bits: int = 0
    """bits of that scale"""


DTYPES: dict[str, DType] = {
    dtype.name: dtype
    for dtype in (
        DType("fp64", 64, "fp64"),
        DType("fp32", 32, "fp32"),
        DType("tf32", 32, "tf32"),
        DType("bf16", 16, "bf16"),
        DType("fp16", 16, "fp16"),
        DType("fp8_e4m3", 8, "fp8"),
        DType("fp8_e5m2", 8, "fp8"),
        DType("mxfp8", 8, "fp8", group=32, scale_bits=8),
        DType("fp6", 6, "fp6"),
        DType("mxfp6", 6, "fp6", group=32, scale_bits=8),
        DType("fp4", 4, "fp4"),
        DType("mxfp4", 4, "fp4", group=32, scale_bits=8),
        DType("nvfp4", 4, "fp4", group=16, scale_bits=8),
        DType("int32", 32, "int32", integer=True),
        DType("int8", 8, "int8", integer=True),
        DType("int4", 4, "int4", integer=True),
    )
}

ALIASES: dict[str, str] = {
    "fp8": "fp8_e4m3",
    "float8_e4m3fn": "fp8_e4m3",
    "bfloat16": "bf16",
    "float16": "fp16",
    "float32": "fp32",
}

CLASSES: tuple[str, ...] = tuple(dict.fromkeys(dtype.arithmetic for dtype in DTYPES.values()))
"""The arithmetic classes, widest first."""

VECTOR_ONLY = "int32"
"""A class that no matrix unit multiplies; it may be stored by a product, not multiplied in one."""


def storage(name: str, pointer: str) -> DType:
    """The storage format called `name`, aliases included.

    Raises `InvalidInput` (unknown-dtype) with the names that resemble it.
    """
    dtype = DTYPES.get(ALIASES.get(name, name))
    if dtype is None:
        raise unknown(pointer, name, (*DTYPES, *ALIASES))
    return dtype


def arithmetic(name: str, pointer: str) -> str:
    """The arithmetic class called `name`, or the class of the storage format of that name.

    >>> arithmetic("fp8_e5m2", "/compute_dtype"), arithmetic("fp8", "/compute_dtype")
    ('fp8', 'fp8')
    """
    return name if name in CLASSES else storage(name, pointer).arithmetic


def unknown(pointer: str, name: str, known: tuple[str, ...]) -> InvalidInput:
    return refuse(pointer, "unknown-dtype", "There is no number format of this name.", near(name, known))


def promote(x: DType, y: DType, pointer: str) -> str:
    """The class in which a product of `x` and `y` computes.

    Equal classes stay. An integer, or a narrower float, with a wider float takes the wider float: int8 weights beside bf16
    activations run at the bf16 peak. Of two integers the wider. Every other pair has no agreed answer and is refused.

    >>> promote(DTYPES["int8"], DTYPES["bf16"], "")
    'bf16'
    """
    if x.arithmetic == y.arithmetic:
        return x.arithmetic
    wide, narrow = (x, y) if x.bits > y.bits else (y, x)
    if wide.bits == narrow.bits or (wide.integer and not narrow.integer):
        raise refuse(
            pointer,
            "ambiguous-compute-dtype",
            f"A product of {x.name} and {y.name} has no agreed arithmetic; state compute_dtype.",
            (x.arithmetic, y.arithmetic),
        )
    return wide.arithmetic
