"""The family of errors. Nothing here knows HTTP: `api/problems.py` maps the branches to statuses, the CLI to exit status 2.

    ServiceError
    ├── InvalidInput           the request is understood and not acceptable; carries every fault, in document order
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
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


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
    """The question is not acceptable. `faults` holds all that is wrong, in document order."""

    code = "invalid-request"

    def __init__(self, faults: Sequence[Fault]) -> None:
        codes = {fault.code for fault in faults}
        count = len(faults)
        super().__init__(
            f"{count} problem{'s' if count != 1 else ''}.",
            code=codes.pop() if len(codes) == 1 else None,
        )
        self.faults = tuple(faults)


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
