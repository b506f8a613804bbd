"""The ops and the collectives that exist. Each registers itself by its decorator and is found by importing its folder.

Adding one is adding one file: the API, the command line, `openapi.yaml` and the shared tests follow from the registry.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Generic, TypeVar

from .term import Term

T = TypeVar("T", bound=Term)
C = TypeVar("C", bound=type[Term])


class Registry(Generic[T]):
    """Term classes by kind; called with a kind it is the decorator that registers a class."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._found: dict[str, type[T]] = {}

    def __call__(self, kind: str) -> Callable[[C], C]:
        """Register a term class under `kind`; a second one of that name is a fault of ours."""

        def register(cls: C) -> C:
            if kind in self._found:
                raise ValueError(f"two {self._what}s are called {kind!r}: {self._found[kind].__module__} and {cls.__module__}")
            cls.kind = kind
            cls.description = sys.modules[cls.__module__].__doc__ or ""
            self._found[kind] = cls  # type: ignore[assignment]  # a decorator cannot say that C is a T
            return cls

        return register

    def discover(self, package: str, path: Iterable[str]) -> Mapping[str, type[T]]:
        """Import every module of `package`, so that its terms register themselves, and return all by kind, sorted."""
        for module in pkgutil.iter_modules(path):
            importlib.import_module(f"{package}.{module.name}")
        return MappingProxyType(dict(sorted(self._found.items())))


op: Registry[Term] = Registry("op")
