"""Query strings, as strict as bodies: no unknown parameter, none given twice, numbers in one spelling only."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final, get_args
from urllib.parse import parse_qsl

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from ..errors import Fault, Gathered, InvalidInput, MalformedText, near
from ..pointers import pointer
from ..schemas.reading import validate

PREFIX: Final = "/query"
_WHOLE: Final = re.compile(r"-?(0|[1-9][0-9]{0,18})")
_CONTROL: Final = re.compile("[\x00-\x1f\x7f-\x9f]")
_MOST: Final = 100  # parameters


def read_query(model: type[BaseModel] | None, query: bytes) -> BaseModel | None:
    """The parameters in `query` as `model`, or nothing where a route has none.

    Raises InvalidInput with pointers such as `/query/limit`, MalformedText where the text is not UTF-8.
    """
    if not query:
        return None if model is None else validate(model, {}, PREFIX)
    fields = {} if model is None else model.model_fields
    pairs = _pairs(query)
    others = model is not None and model.model_config.get("extra") == "allow"
    faults = Gathered()
    faults.add(*_misnamed(pairs, fields, others=others))
    values = {name: _value(fields.get(name), text) for name, text in pairs if name in fields or others}
    found = None if model is None else faults.of(lambda: validate(model, values, PREFIX))
    faults.check()
    return found


def spelled(query: bytes) -> dict[str, str]:
    """The parameters as far as they can be read, in their order."""
    return dict(parse_qsl(query.decode("latin-1"), keep_blank_values=True))


def _pairs(query: bytes) -> list[tuple[str, str]]:
    try:
        return parse_qsl(query.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=_MOST)
    except UnicodeError:
        raise MalformedText("The query is not percent-encoded UTF-8.", code="not-utf8") from None
    except ValueError:
        raise InvalidInput([Fault(PREFIX, "out-of-range", f"There may be at most {_MOST} parameters.")]) from None


def _misnamed(pairs: Sequence[tuple[str, str]], known: Iterable[str], *, others: bool) -> Iterable[Fault]:
    seen: set[str] = set()
    for name, text in pairs:
        where = PREFIX + pointer([_CONTROL.sub("", name)])
        if name not in known and not others:
            yield Fault(where, "unknown-parameter", "There is no such query parameter here.", near(name, known))
        elif name in seen:
            yield Fault(where, "invalid-request", "The parameter is given more than once.")
        elif _CONTROL.search(text):
            yield Fault(where, "out-of-range", "The value holds a control character.")
        seen.add(name)


def _value(field: FieldInfo | None, text: str) -> str | int:
    """`text` as a whole number where the parameter is one and `text` spells it as JSON would; as it is elsewhere."""
    is_whole = field is not None and (field.annotation is int or int in get_args(field.annotation))
    return int(text) if is_whole and _WHOLE.fullmatch(text) else text
