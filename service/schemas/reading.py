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
MOST_FAULTS: Final = 100  # listed in one refusal


def parse(text: bytes) -> object:
    """The value that the JSON `text` denotes.

    Raises MalformedText where the text is not strict JSON, InvalidInput where a number in it cannot be held.
    """
    return strict_json.read(text)


def validate(model: type[Model], value: object, prefix: str = "") -> Model:
    """`value` as `model`, without any conversion: a string is never a number, 512.0 never a whole number.

    Raises InvalidInput with the faults in document order; `prefix` is the pointer to `value` in the request.
    """
    try:
        return model.model_validate(value, strict=True)
    except ValidationError as error:
        found = faults(model, error, value)[:MOST_FAULTS]
        refusal = InvalidInput([replace(fault, pointer=prefix + fault.pointer) for fault in found])
        if error.error_count() > MOST_FAULTS:
            refusal.detail = f"{error.error_count()} problems, of which {MOST_FAULTS} are listed."
        raise refusal from None
