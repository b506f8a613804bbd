"""The family of errors. Nothing here knows HTTP: `api/problems.py` maps the branches to statuses, the CLI to exit status 2.

    ServiceError
    ├── InvalidInput           the request is understood and not acceptable; carries what is wrong with it
    ├── MalformedText          the bytes are not what we read (malformed-http, malformed-json, too-deep, not-utf8)
    ├── UnsupportedType        the body has a media type that we do not read
    ├── NotFound               a name in a path does not exist
    ├── MethodNotAllowed       the resource exists and does not know the method
    ├── NotAcceptable          no representation that the caller accepts
    ├── Unauthenticated        no key, or none that is known
    ├── Forbidden              host-not-allowed, origin-not-allowed, read-only
    │   └── ScopeMissing       the key lacks a scope
    ├── Conflict               conflict, precondition-failed, precondition-required
    ├── OverLimit              body-too-large, header-too-large, too-many-rows
    ├── RateLimited            the key has used up its share for now
    ├── Unavailable            overloaded, database-unavailable, deadline-exceeded
    └── Internal               a fault of ours that we noticed (a number that is not finite)

A leaf carries a stable `code`, which is part of the contract, and a sentence for a person.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong: where (`pointer`, RFC 6901), which kind (`code`), a sentence, what may have been meant."""

    pointer: str
    code: str
    detail: str
    suggestions: tuple[str, ...] = ()


class ServiceError(Exception):
    """Root of the family. `code` is part of the contract, `detail` is a sentence for a person."""

    code = "internal"

    def __init__(self, detail: str, *, code: str | None = None) -> None:
        super().__init__(detail)
        self.detail = detail
        self.code = code or type(self).code


class InvalidInput(ServiceError):
    """The question is not acceptable. `faults` holds what is wrong: all `count` faults, or those of them that are looked at."""

    code = "invalid-request"

    def __init__(self, faults: Sequence[Fault], count: int | None = None) -> None:
        codes = {fault.code for fault in faults}
        self.faults = tuple(faults)
        self.count = len(faults) if count is None else count
        listed = f", of which {len(faults)} are listed" if self.count > len(faults) else ""
        super().__init__(
            f"{self.count} problem{'s' if self.count != 1 else ''}{listed}.",
            code=codes.pop() if len(codes) == 1 else None,
        )


class Gathered:
    """The faults of steps that do not need each other, so that one refusal tells them all.

    >>> found = Gathered()
    >>> m = found.of(lambda: 512)
    >>> found.add(Fault("/n", "missing", "This member is required."))
    >>> found.check()
    Traceback (most recent call last):
        ...
    service.errors.InvalidInput: 1 problem.
    """

    def __init__(self) -> None:
        self.faults: list[Fault] = []
        self.count = 0

    def of(self, step: Callable[[], T]) -> T | None:
        """What `step` returns; None where it refuses, the reasons of which are kept."""
        try:
            return step()
        except InvalidInput as error:
            self.faults += error.faults
            self.count += error.count
            return None

    def add(self, *faults: Fault) -> None:
        """Keep faults that a step has found."""
        self.faults += faults
        self.count += len(faults)

    def check(self) -> None:
        """Nothing, if no step found a fault. Raises `InvalidInput` with all of them."""
        if self.count:
            raise InvalidInput(self.faults, self.count)


class MalformedText(ServiceError):
    code = "malformed-json"


class UnsupportedType(ServiceError):
    code = "unsupported-media-type"


class NotFound(ServiceError):
    code = "not-found"

    def __init__(self, detail: str, *, suggestions: Sequence[str] = ()) -> None:
        super().__init__(detail)
        self.suggestions = tuple(suggestions)


class MethodNotAllowed(ServiceError):
    code = "method-not-allowed"

    def __init__(self, detail: str, *, allowed: Sequence[str]) -> None:
        super().__init__(detail)
        self.allowed = tuple(allowed)


class NotAcceptable(ServiceError):
    code = "not-acceptable"


class Unauthenticated(ServiceError):
    """`has_key` tells a key that is not good from none at all."""

    code = "unauthenticated"

    def __init__(self, detail: str, *, has_key: bool) -> None:
        super().__init__(detail)
        self.has_key = has_key


class Forbidden(ServiceError):
    code = "read-only"


class ScopeMissing(Forbidden):
    code = "scope-missing"

    def __init__(self, detail: str, *, scope: str) -> None:
        super().__init__(detail)
        self.scope = scope


class Conflict(ServiceError):
    code = "conflict"


class OverLimit(ServiceError):
    code = "too-many-rows"


class RateLimited(ServiceError):
    code = "rate-limited"

    def __init__(self, detail: str, *, retry_after_s: int) -> None:
        super().__init__(detail)
        self.retry_after_s = retry_after_s


class Unavailable(ServiceError):
    code = "overloaded"

    def __init__(self, detail: str, *, code: str | None = None, retry_after_s: int = 1) -> None:
        super().__init__(detail, code=code)
        self.retry_after_s = retry_after_s


class Internal(ServiceError):
    code = "internal"


def refuse(pointer: str, code: str, detail: str, suggestions: Iterable[str] = ()) -> InvalidInput:
    """An `InvalidInput` of one fault, for the common case: `raise refuse("/op/m", "out-of-range", "…")`."""
    return InvalidInput([Fault(pointer, code, detail, tuple(suggestions))])


def near(name: str, known: Iterable[str], count: int = 5) -> tuple[str, ...]:
    """Up to `count` known names that may have been meant: those that `name` begins, then those that resemble it.

    >>> near("nvidia-h100", ["amd-mi300x", "nvidia-h20", "nvidia-h100-pcie", "nvidia-h100-sxm"])
    ('nvidia-h100-pcie', 'nvidia-h100-sxm', 'nvidia-h20')
    """
    short, names = name[:200].lower(), list(known)
    begun = [each for each in names if short and each.startswith(short)]
    alike = difflib.get_close_matches(short, names, n=count, cutoff=0.6)
    return tuple(dict.fromkeys((*begun, *alike)))[:count]
