"""A term: what is asked. An op is a frozen dataclass of two kinds of field.

    dims     float64 columns that broadcast against each other (see `arrays`)
    choices  formats, scales, flags, an equation: one value per call; rows are grouped by their choices

Fields that the caller left out are None or their default until `resolved()` fills them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache, partial
from typing import Any, ClassVar, Literal, Self, cast

import numpy as np
from numpy.typing import NDArray

from ..errors import Fault, Gathered
from .arrays import Real, column
from .demand import Demand, Operand
from .dtypes import DTYPES
from .formats import Scale, Storage, resolve, scaled

LARGEST_DIM = 2**53 - 1
"""Whole numbers above this are not exact in float64."""

Form = Literal["whole", "dtype", "class", "scale", "equation", "sizes", "name", "flag", "axes"]
"""What a field holds, from which the request schema of the op is derived."""

REQUIRED: Any = dataclasses.MISSING


def dim(meaning: str, *, default: int | None = REQUIRED, columns: bool = True, least: int = 1) -> Any:
    """A whole-number field of a term, `least` … 2^53−1; `columns` says whether a list may stand in it."""
    metadata = {"form": "whole", "meaning": meaning, "columns": columns, "default": default, "least": least}
    if default is REQUIRED:
        return field(metadata=metadata)
    if default is None:
        return field(default=None, metadata=metadata)
    return field(default_factory=partial(column, default), metadata=metadata)


def choice(meaning: str, form: Form = "dtype", *, default: object = None, names: tuple[str, ...] = ()) -> Any:
    """A field that takes one value per call; of a "name", one of `names`."""
    metadata = {"form": form, "meaning": meaning, "default": default, "names": names}
    return field(metadata=metadata) if default is REQUIRED else field(default=default, metadata=metadata)


@dataclass(frozen=True)
class Formulas:
    """The counts of an op as text, in the symbols of its fields; `explain` puts the numbers in."""

    flops: str
    elements: Mapping[str, str]
    """elements of each operand"""
    source: str


class Term:
    """Base of all ops: fields as columns, formats with their defaults filled."""

    dtype: str | None = None
    out_dtype: str | None = None
    compute_dtype: str | None = None
    """choices that most ops have; None where an op has no such field"""

    kind: ClassVar[str]
    description: ClassVar[str]
    """the docstring of the op's module: what it computes, what is counted, where that is from"""
    example: ClassVar[Mapping[str, object]]
    """fields of a question about this op that works as it stands"""
    fixed: ClassVar[Mapping[str, str]] = {}
    """formats of operands that the caller does not choose"""
    formats: ClassVar[Mapping[str, str]] = {}
    """the field that holds the format of an operand, where it is not `<operand>_dtype`"""
    approximates: ClassVar[str | None] = None
    """the dim to which the approximate intensity is proportional"""

    @classmethod
    def fields(cls) -> Mapping[str, dataclasses.Field[Any]]:
        """The fields of the op by name."""
        return _fields(cast("Hashable", cls))

    @property
    def grows(self) -> tuple[str, ...]:
        """Dims for which a threshold is asked."""
        return ()

    @property
    def factors(self) -> tuple[str, ...]:
        """Operands whose formats decide the arithmetic class, in order."""
        raise NotImplementedError

    def demand(self) -> Demand:
        raise NotImplementedError

    def residents(self) -> tuple[Operand, ...]:
        """The arrays that lie in memory for the op: those that it moves, unless it moves parts of them or writes one over another."""
        return self.demand().operands

    def formulas(self) -> Formulas:
        raise NotImplementedError

    def approximation(self, flops: Real, moved: Mapping[str, Real]) -> Real | None:
        """The textbook's approximate intensity [FLOP/B] from the operations and the bytes of each operand, where it has one."""
        return None

    def faults(self) -> list[Fault]:
        """What its members have against each other, formats apart, with pointers relative to the op."""
        return []

    def resolved(self) -> Self:
        """The same term with every default filled.

        Raises `InvalidInput` with all faults of the op; pointers are relative to it.
        """
        found = Gathered()
        found.add(*self.faults())
        formats = found.of(self._defaulted)
        found.check()
        return self._replaced(formats or {})

    def _defaulted(self) -> Mapping[str, str | None]:
        own = tuple([getattr(self, f"{name}_dtype", None) for name in self.factors])
        kind = cast("Hashable", type(self))
        return _formats(kind, self.factors, own, dtype=self.dtype, out=self.out_dtype, compute=self.compute_dtype)

    @property
    def arithmetic(self) -> str:
        """The arithmetic class of a resolved term."""
        return self.compute_dtype or DTYPES[self._common].arithmetic

    @property
    def _common(self) -> str:
        if self.dtype is None:
            raise ValueError("the formats of a term are known only after resolved()")
        return self.dtype

    def storages(self, demand: Demand) -> Mapping[str, Storage]:
        """How each operand of `demand` lies in memory; asks for a resolved term."""
        formats = [(each.name, self._format(each.name), getattr(self, f"{each.name}_scale", None)) for each in demand.operands]
        return _storages(tuple(formats), tuple([each.cut_dims for each in demand.operands]))

    def _format(self, operand: str) -> str:
        own: str | None = self.fixed.get(operand) or getattr(self, self.formats.get(operand, f"{operand}_dtype"), None)
        return own or self._common

    def columns(self) -> dict[str, Real]:
        """The columns of the term by name."""
        held = self.__dict__
        return {name: held[name] for name in _whole(cast("Hashable", type(self))) if held[name] is not None}

    def asks(self, variable: str) -> str:
        """The name under which the threshold in `variable` is given."""
        return variable

    def answer(self, variable: str, value: Real) -> Real:
        """The threshold `value` of a dim in terms of what the caller gave."""
        return value

    @property
    def batch_dim(self) -> str | None:
        """The dim in which more of the same is asked for (rows, tokens, samples): the first, unless an op says otherwise."""
        return next(iter(self.columns()), None)

    def batch_of(self, sizes: Real) -> Self:
        """The same op with other sizes of its `batch_dim`."""
        return self.with_columns({} if self.batch_dim is None else {self.batch_dim: sizes})

    def batch_step(self, parts: Mapping[str, int]) -> int:
        """Of what the size of `batch_dim` is to be a multiple where dims are to be multiples of `parts`."""
        return 1 if self.batch_dim is None else parts.get(self.batch_dim, 1)

    @property
    def derived(self) -> frozenset[str]:
        """Fields that `resolved` computed from others, and that the caller may therefore not give beside them."""
        return frozenset()

    def pointer_to_row(self, index: int) -> str:
        """Where row `index` stands in the question: in the first of its lists."""
        lists = [name for name, column in self.columns().items() if column.size > 1]
        return f"/{lists[0]}/{index}" if lists else ""

    def pointer_to_first(self, bad: NDArray[np.bool_], *names: str) -> str:
        """Where the first bad row stands in the question: in the first of the fields `names` that is a list, else at the first of them."""
        columns = self.columns()
        lists = [name for name in names if columns[name].size > 1]
        return f"/{lists[0]}/{int(bad.argmax())}" if lists else f"/{names[0]}"

    def with_columns(self, columns: Mapping[str, Real]) -> Self:
        """The same term with some columns replaced."""
        return self._replaced(columns)

    def _replaced(self, members: Mapping[str, object]) -> Self:
        """A copy with other members; `dataclasses.replace` does the same in five times the time, which shows in a single answer."""
        copy = object.__new__(type(self))
        copy.__dict__.update(self.__dict__)
        copy.__dict__.update(members)
        return copy


@cache
def _fields(kind: Hashable) -> Mapping[str, dataclasses.Field[Any]]:
    """The fields of an op by name."""
    return {each.name: each for each in dataclasses.fields(cast("Any", kind))}


@cache
def _whole(kind: Hashable) -> tuple[str, ...]:
    """Names of the whole-number fields of an op."""
    return tuple(name for name, each in _fields(kind).items() if each.metadata["form"] == "whole")


@lru_cache(maxsize=4096)
def _formats(
    kind: Hashable, factors: tuple[str, ...], own: tuple[str | None, ...], *, dtype: str | None, out: str | None, compute: str | None
) -> Mapping[str, str | None]:
    """The format fields of an op with every default filled; `own` are those that the caller gave to its factors."""
    fields = _fields(kind)
    is_common = not fields.keys() >= {f"{name}_dtype" for name in factors}
    found = resolve(dtype=dtype, inputs=tuple(zip(factors, own, strict=True)), out=out, compute=compute, is_common=is_common)
    return {name: value for name, value in found.members.items() if name in fields}


@lru_cache(maxsize=4096)
def _storages(operands: tuple[tuple[str, str, Scale | None], ...], dims: tuple[int, ...]) -> Mapping[str, Storage]:
    """The storage of each operand of (name, format, scales); `dims` is how many dims of each a block of scales cuts."""
    found = Gathered()
    storages = {
        name: found.of(partial(scaled, name, DTYPES[dtype], scale, cut)) for (name, dtype, scale), cut in zip(operands, dims, strict=True)
    }
    found.check()
    return {name: storage for name, storage in storages.items() if storage is not None}
