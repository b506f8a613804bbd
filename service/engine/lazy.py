"""Values that are computed when they are first asked for, and kept.

As `functools.cached_property`, which in Python 3.11 takes a lock at each first reading: a question of one row waited for it for a tenth
of the time that its tile took.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

T = TypeVar("T")


class lazy(Generic[T]):  # noqa: N801 - stands where a property does
    """A property that is computed once; two threads that ask at once may both compute it.

    >>> class Square:
    ...     side = 3.0
    ...
    ...     @lazy
    ...     def area(self) -> float:
    ...         return self.side**2
    >>> Square().area
    9.0
    """

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, of: None, owner: type) -> Self: ...

    @overload
    def __get__(self, of: object, owner: type | None = None) -> T: ...

    def __get__(self, of: object, owner: type | None = None) -> Self | T:
        if of is None:
            return self
        value = of.__dict__[self._name] = self._compute(of)
        return value
