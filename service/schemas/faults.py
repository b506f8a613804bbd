"""What pydantic found wrong in a value becomes our faults: code, sentence, pointer, suggestions.

A pointer follows the value as it was sent. pydantic also names the branch of each union that it took; the schema that the model
was built from tells which steps of a location those are, and they are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from ..errors import Fault, near
from ..pointers import pointer

Steps = tuple[str | int, ...]
Schema = Mapping[str, Any]
Finding = tuple[Steps, str, str, tuple[str, ...]]  # path, code, sentence, suggestions

_MOST_LOOKED_AT: Final = 1000
_MISSING: Final = "This member is required."
_GOT: Final[dict[type, str]] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number with a point or an exponent",
    str: "a string",
    list: "a list",
    dict: "an object",
    type(None): "null",
}
_WANTED: Final[dict[str, str]] = {  # by the first word of pydantic's error type
    "int": "A whole number",
    "float": "A number",
    "string": "A string",
    "bool": "True or false",
    "list": "A list",
    "tuple": "A list",
    "dict": "An object",
    "mapping": "An object",
    "model": "An object",
    "none": "Null",
}
_RANGES: Final[dict[str, str]] = {
    "greater_than": "The number must be above {gt}.",
    "greater_than_equal": "The number must be at least {ge}.",
    "less_than": "The number must be below {lt}.",
    "less_than_equal": "The number must be at most {le}.",
    "too_short": "At least {min_length} of these must be given.",
    "too_long": "At most {max_length} of these may be given.",
    "string_too_short": "The string must have at least {min_length} characters.",
    "string_too_long": "The string may have at most {max_length} characters.",
    "string_pattern_mismatch": "The string must match {pattern}.",
}


def faults(model: type[BaseModel], error: ValidationError) -> list[Fault]:
    """The faults that `error` reports. Of a hopeless value only the first thousand are looked at."""
    reported = error.errors(include_url=False)[:_MOST_LOOKED_AT]
    found = [_finding(model.__pydantic_core_schema__, details) for details in reported]
    return [Fault(pointer(path), code, sentence, suggestions) for path, code, sentence, suggestions in found]


def _finding(root: Schema, details: ErrorDetails) -> Finding:
    kind, got, context = details["type"], details["input"], details.get("ctx", {})
    path, schema = _follow(root, details["loc"])
    if "-" in kind or (kind == "missing" and details["msg"] != "Field required"):  # raised by a validator of ours
        return (*path, *_steps(context.get("at", ()))), kind, details["msg"], tuple(context.get("suggestions", ()))
    if kind in {"union_tag_invalid", "union_tag_not_found"}:
        return _unknown_branch(path, schema, got)
    return path, *_said(kind, context, got, schema, str(path[-1]) if path else "")


def _said(kind: str, context: Mapping[str, Any], got: object, schema: Schema, name: str) -> tuple[str, str, tuple[str, ...]]:
    """Code, sentence and suggestions for an error of pydantic's own, about the member `name` of what `schema` describes."""
    if kind == "missing":
        said = "missing", _MISSING, ()
    elif kind == "extra_forbidden":
        return "unknown-member", "There is no such member here.", near(name, schema.get("fields", ()))
    elif kind in {"literal_error", "enum"} and isinstance(got, str):
        allowed = str(context["expected"])
        return "out-of-range", f"The value must be {allowed}.", near(got, re.findall(r"'([^']*)'", allowed))
    elif kind == "finite_number":
        said = "not-finite", "The number must be finite.", ()
    elif kind == "value_error":
        sentence = str(context["error"])
        said = "out-of-range", sentence[:1].upper() + sentence[1:], ()
    elif kind in _RANGES:
        said = "out-of-range", _RANGES[kind].format_map(context), ()
    else:
        said = "wrong-type", _wrong_type(_WANTED.get(kind.split("_", 1)[0], "Another value"), got), ()
    return said


def _unknown_branch(path: Steps, union: Schema, got: object) -> Finding:
    """No branch of `union` fits `got`: the member that picks the branch is missing, is no string, or names none."""
    member = union.get("discriminator")
    if not isinstance(member, str) or not isinstance(got, dict):
        return path, "wrong-type", _wrong_type("Another value", got), ()
    path = (*path, member)
    if member not in got:
        return path, "missing", _MISSING, ()
    name = got[member]
    if not isinstance(name, str):
        return path, "wrong-type", _wrong_type("A string", name), ()
    code = "unknown-op" if member == "kind" else "out-of-range"
    return path, code, "There is none of this name.", near(name, union["choices"])


def _wrong_type(wanted: str, got: object) -> str:
    return f"{wanted} is needed, not {_GOT.get(type(got), 'this')}."


def _steps(at: object) -> Steps:
    return tuple(at) if isinstance(at, (tuple, list)) else (at,) if isinstance(at, (str, int)) else ()


def _follow(root: Schema, location: Iterable[str | int]) -> tuple[Steps, Schema]:
    """The steps of `location` that the value has too, and the schema of what holds the last of them (or is at the end itself)."""
    definitions = {entry["ref"]: entry for entry in root.get("definitions", ())}
    path: list[str | int] = []
    holder, here = root, _bare(root, definitions)
    for step in location:
        inside: Any = {}
        if here.get("type") == "tagged-union":
            here = _bare(here["choices"].get(step, {}), definitions)
            continue
        if here.get("type") == "union" or (step == "[key]" and holder.get("type") == "dict"):
            here = {}
            continue
        if "fields" in here:
            inside = here["fields"].get(step, here.get("extras_schema", {}))
        elif isinstance(step, int):
            inside = here.get("items_schema", {})
        else:
            inside = here.get("values_schema", {})
        path.append(step)
        holder, here = here, _bare(inside if isinstance(inside, Mapping) else {}, definitions)
    return tuple(path), here if here.get("type") == "tagged-union" else holder


def _bare(schema: Schema, definitions: Mapping[str, Schema]) -> Schema:
    """`schema` without what is wrapped around it: references, defaults, nullability, validators, the class of a model."""
    while True:
        if schema.get("type") == "definition-ref":
            schema = definitions[schema["schema_ref"]]
        elif isinstance(schema.get("schema"), Mapping):
            schema = schema["schema"]
        else:
            return schema
