"""The ops that exist. An op registers itself by its decorator and is found by importing its folder.

Adding one is adding one file: the API, the command line, `openapi.yaml` and the shared tests follow from the registry.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import TypeVar

from .term import Term

T = TypeVar("T", bound=type[Term])

_OPS: dict[str, type[Term]] = {}


def op(kind: str) -> Callable[[T], T]:
    """Register a term class as the op called `kind`; a second op of that name is a fault of ours."""

    def register(cls: T) -> T:
        if kind in _OPS:
            raise ValueError(f"two ops are called {kind!r}: {_OPS[kind].__module__} and {cls.__module__}")
        cls.kind = kind
        cls.description = sys.modules[cls.__module__].__doc__ or ""
        _OPS[kind] = cls
        return cls

    return register


def discover(package: str, path: Iterable[str]) -> Mapping[str, type[Term]]:
    """Import every module of `package`, so that its ops register themselves, and return all ops by kind, sorted."""
    for module in pkgutil.iter_modules(path):
        importlib.import_module(f"{package}.{module.name}")
    return MappingProxyType(dict(sorted(_OPS.items())))
