"""From bytes to a request: strict JSON, then the model. HTTP and the command line both read through these two functions."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, TypeVar

from pydantic import BaseModel, ValidationError

from .. import strict_json
from ..errors import InvalidInput
from .faults import faults

Model = TypeVar("Model", bound=BaseModel)

MAX_BODY_BYTES: Final = 8 * 2**20
HOPELESS: Final = 10_000
"""Faults of one body of which nobody looks at all."""
LOOKED_INTO: Final = 1_000
"""Members at the beginning of a list that are looked at then."""


def parse(text: bytes) -> object:
    """The value that the JSON `text` denotes.

    Raises MalformedText where the text is not strict JSON, InvalidInput where a number in it cannot be held.
    """
    return strict_json.read(text)


def validate(model: type[Model], value: object, prefix: str = "") -> Model:
    """`value` as `model`, without any conversion: a string is never a number, 512.0 never a whole number.

    Raises InvalidInput; `prefix` is the pointer to `value` in the request.
    """
    try:
        return model.model_validate(value, strict=True)
    except ValidationError as error:
        found = [replace(fault, pointer=prefix + fault.pointer) for fault in faults(model, _few(model, error, value))]
        raise InvalidInput(found, error.error_count()) from None


def _few(model: type[BaseModel], error: ValidationError, value: object) -> ValidationError:
    """An error of fewer faults, where `error` has so many that writing them out takes longer than an answer: those in long lists."""
    if error.error_count() <= HOPELESS:
        return error
    try:
        model.model_validate(_begun(value), strict=True)
    except ValidationError as few:
        return few
    return error


def _begun(value: object) -> object:
    """`value` with the beginnings of its lists."""
    if isinstance(value, dict):
        return {name: _begun(each) for name, each in value.items()}
    return [_begun(each) for each in value[:LOOKED_INTO]] if isinstance(value, list) else value
