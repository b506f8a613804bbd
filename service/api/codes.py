"""Every code that a refusal can have, as data: its status, the title of that status, and what the code means.

The list is closed: a code that is not in it cannot leave the service (it would be a 500 and a failing test). Each branch of
`service/errors.py` has its codes under one status, but for the conflicts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Code:
    """A kind of refusal. `title` belongs to the status, `meaning` to the code."""

    code: str
    status: int
    title: str
    meaning: str

    @property
    def type(self) -> str:
        """What identifies the kind of problem (RFC 9457): an address of this service that explains it."""
        return f"/problems/{self.code}"


_FAMILIES: Final[tuple[tuple[int, str, Mapping[str, str]], ...]] = (
    (
        400,
        "The request cannot be read",
        {
            "malformed-http": "What came over the connection is not a request of HTTP/1.1; the connection closes.",
            "malformed-json": (
                "The body is not strict JSON: a syntax error, NaN or Infinity, a member written twice, "
                "a control character or half of a surrogate pair in a string."
            ),
            "too-deep": "Objects and lists lie more than 32 deep within each other.",
            "not-utf8": "Text is not UTF-8, or begins with a byte order mark.",
        },
    ),
    (401, "A key is needed", {"unauthenticated": "The request carries no key, or none that is known."}),
    (
        403,
        "This is not allowed",
        {
            "read-only": "The entry ships with the service and cannot be changed; copy it under an id of your own.",
            "scope-missing": "The key is known, and lacks the scope that this needs.",
            "host-not-allowed": (
                "The service is bound to the loopback interface and answers only to loopback names "
                "and to the hosts that it was told to allow."
            ),
            "origin-not-allowed": "A browser sent this request for a page of another origin, which the service was not told to allow.",
        },
    ),
    (404, "There is nothing here", {"not-found": "No resource has this address, or a name in the path does not exist."}),
    (
        405,
        "The method is not allowed",
        {"method-not-allowed": "The resource exists and does not know this method; `Allow` lists those that it knows."},
    ),
    (406, "No acceptable form", {"not-acceptable": "The resource has no representation of a type that `Accept` allows."}),
    (
        408,
        "The request did not come in time",
        {"request-timeout": "The header or the body did not come to its end in the time that a caller has; the connection closes."},
    ),
    (
        409,
        "The request conflicts with what is stored",
        {"conflict": "The stored resource is in a state that this request cannot be applied to."},
    ),
    (412, "A condition does not hold", {"precondition-failed": "`If-Match` names a version that is no longer the current one."}),
    (
        413,
        "The request is too large",
        {
            "body-too-large": "The body has more bytes than the service reads.",
            "too-many-rows": "The request asks for more rows, ops or points than one answer may have; split it.",
        },
    ),
    (
        415,
        "The body has an unknown type",
        {"unsupported-media-type": "The body's media type, charset or content coding is not one that this resource reads."},
    ),
    (
        422,
        "The request is not acceptable",
        {
            "invalid-request": "Several things of different kinds are wrong; `errors` lists them.",
            "unknown-chip": "No chip of the catalogue has this id.",
            "unknown-revision": "The entry exists and has no such revision.",
            "unknown-cluster": "No system of the catalogue has this id.",
            "unknown-model": "No model preset has this id.",
            "unknown-analysis": "No analysis has this id.",
            "unknown-op": "There is no op of this kind.",
            "unknown-dtype": "There is no number format of this name.",
            "unknown-axis": "The mesh has no axis of this name.",
            "unknown-member": "The object has no member of this name.",
            "unknown-parameter": "The resource has no query parameter of this name.",
            "unsupported-dtype": "The chip has no unit that computes in this format.",
            "ambiguous-compute-dtype": "The operands' formats do not say in which one to compute; state `compute_dtype`.",
            "malformed-table": (
                "The body is not a table of the type that it claims to be: a row longer or shorter than the header, a name twice, "
                "text that cannot be shown, a workbook that is broken, locked or holds what a table may not."
            ),
            "missing": "A required member or parameter is absent.",
            "wrong-type": "The value has another type than the member needs; nothing is converted.",
            "out-of-range": "The value lies outside what the member allows.",
            "not-finite": "The number is infinite, or too large for a 64-bit float.",
            "too-large": "A count that follows from the request is above 1e300.",
            "not-divisible": "A dimension is not divisible by the axes that it is spread over.",
            "axis-repeated": "An axis stands twice in a mesh, in a collective, or in the layout of an array.",
            "bad-sharding": "The sharding does not fit the op.",
            "column-length": "The lists of a request have different lengths.",
            "use-batches": "Columns cannot be combined with this; send rows to the batches instead.",
            "tile-does-not-fit": "The tile needs more on-chip memory than a core has.",
            "implausible-value": "The value cannot describe real hardware, and is most likely in another unit.",
            "not-supported-yet": "The contract has this member and this version does not compute it; nothing is accepted and ignored.",
            "idempotency-key-reused": "The same idempotency key came with another request.",
        },
    ),
    (428, "A condition is needed", {"precondition-required": "Changing this resource needs `If-Match`."}),
    (429, "Too many requests", {"rate-limited": "The key has used up its share for now; `Retry-After` says when to try again."}),
    (
        431,
        "The header is too large",
        {"header-too-large": "The line and the header of the request have more bytes than the service reads; the connection closes."},
    ),
    (500, "The service has failed", {"internal": "A fault of the service, not of the request. The log has it under the request id."}),
    (
        503,
        "Not now",
        {
            "overloaded": "The service has as much work as it can queue; `Retry-After` says when to try again.",
            "database-unavailable": "The database does not answer, or its schema is not the one of this version.",
            "stopping": "The service has been told to end; it answers what it has begun and takes no new callers.",
            "deadline-exceeded": "The answer would have taken longer than the service allows.",
        },
    ),
)

CODES: Final[Mapping[str, Code]] = {
    code: Code(code, status, title, meaning) for status, title, meanings in _FAMILIES for code, meaning in meanings.items()
}
