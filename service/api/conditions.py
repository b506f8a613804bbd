"""Conditions on what a caller has seen: the strong tag of a resource, `If-None-Match` to read it, `If-Match` to change it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ..errors import Conflict, refuse

if TYPE_CHECKING:  # the command line writes the same resources without the web around them
    from .call import Call

_TAGS: Final = re.compile(r'((?:W/)?"[^"]*")')

_TAG_HEADER: Final = {
    "ETag": {"description": "Strong tag of this content: another one as soon as the content differs.", "schema": {"type": "string"}}
}
TAGGED: Final[dict[int | str, dict[str, Any]]] = {
    200: {"headers": _TAG_HEADER},
    304: {"description": "The caller has this very content.", "headers": _TAG_HEADER},
}
"""What a route that gives a single resource adds to its answers in the contract."""


def _header(name: str, meaning: str, *, is_required: bool = False) -> dict[str, Any]:
    header = {"name": name, "in": "header", "required": is_required, "schema": {"type": "string"}, "description": meaning}
    return {"parameters": [header]}


IF_NONE_MATCH: Final = _header("If-None-Match", "Tags of what the caller has, or `*`: the same content is not sent again.")
IF_MATCH: Final = _header("If-Match", "Tags of what the caller means, or `*` for whatever there is.")
WRITING: Final = {
    "parameters": [
        *_header("If-None-Match", "`*`: there is none of this name yet, or none any more.")["parameters"],
        *_header("If-Match", "The tag of the revision that the caller has read, or `*` for whatever there is.")["parameters"],
    ]
}
"""One of the two must be sent."""
IF_MATCH_REQUIRED: Final = _header("If-Match", "Tags of what the caller means, or `*` for whatever there is.", is_required=True)


def tag(body: bytes) -> str:
    """The strong tag of a content."""
    return f'"{hashlib.sha256(body).hexdigest()[:32]}"'


def is_known(headers: Mapping[str, str], current: str) -> bool:
    """Whether the caller has the content of the tag `current`. A weak tag serves as well (RFC 9110, 13.1.2)."""
    asked = headers.get("if-none-match")
    if asked is None:
        return False
    return asked.strip() == "*" or current in {each.removeprefix("W/") for each in _TAGS.findall(asked)}


@dataclass(frozen=True)
class IfMatch:
    """The contents that a caller is willing to have changed: of these tags, or any; weak tags name none (RFC 9110, 13.1.1)."""

    tags: frozenset[str]
    is_any: bool

    def check(self, body: bytes) -> None:
        """Nothing, if `body` is one of them. Raises Conflict (precondition-failed)."""
        if not self.is_any and tag(body) not in self.tags:
            raise Conflict("The resource is no longer the one that `If-Match` names; read it again.", code="precondition-failed")


@dataclass(frozen=True)
class Writing:
    """On what a caller puts a resource at an address: that there is none yet, that it is still the one that was seen, or both."""

    must_be_new: bool
    seen: IfMatch | None

    def check(self, body: bytes | None) -> None:
        """Nothing, if `body`, or None for no resource, is as the caller expects. Raises Conflict (precondition-failed)."""
        if self.must_be_new and body is not None:
            raise Conflict(
                "There is one of this name; read it, and send its `ETag` as `If-Match` to revise it.", code="precondition-failed"
            )
        if self.seen is not None and body is None:
            raise Conflict("There is none of this name; send `If-None-Match: *` to make it.", code="precondition-failed")
        if self.seen is not None and body is not None:
            self.seen.check(body)


def writing(call: Call) -> Writing:
    """The condition of a call that puts. Raises Conflict (precondition-required) for one that states none, InvalidInput."""
    absent = ",".join(call.headers.getlist("if-none-match")).strip()
    if absent not in ("", "*"):
        raise refuse("/header/If-None-Match", "out-of-range", "Only `*` has a meaning here: that there must be none of this name yet.")
    if not absent and "if-match" not in call.headers:
        raise Conflict(
            "Send `If-None-Match: *` to make what does not exist yet, or the `ETag` of what you have read as `If-Match` to revise it.",
            code="precondition-required",
        )
    return Writing(must_be_new=absent == "*", seen=if_match(call) if "if-match" in call.headers else None)


def if_match(call: Call) -> IfMatch:
    """The condition of a call; one that states none may change anything."""
    lines = call.headers.getlist("if-match")
    text = ",".join(lines)
    return IfMatch(frozenset(_TAGS.findall(text)), is_any=not lines or text.strip() == "*")


def required_if_match(call: Call) -> IfMatch:
    """The condition of a call. Raises Conflict (precondition-required) for one that states none."""
    if "if-match" not in call.headers:
        raise Conflict(
            "Send the `ETag` of the resource as `If-Match`, or `*` to change it whatever it has become.", code="precondition-required"
        )
    return if_match(call)
