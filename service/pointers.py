"""RFC 6901 pointers: where in a document something stands."""

from __future__ import annotations

from collections.abc import Iterable

_LONGEST_NAME = 200  # a longer member name is not repeated: the pointer ends at the object that holds it


def pointer(steps: Iterable[str | int]) -> str:
    """The pointer that follows `steps` from the root.

    >>> pointer(["op", "m", 17])
    '/op/m/17'
    >>> pointer(["a/b", "~"])
    '/a~1b/~0'
    """
    path = ""
    for step in steps:
        name = str(step)
        if len(name) > _LONGEST_NAME:
            break
        path += "/" + name.replace("~", "~0").replace("/", "~1")
    return path


def steps(pointer: str) -> tuple[str, ...]:
    """The steps of a pointer; one into a list is its digits.

    >>> steps("/a~1b/~0/17")
    ('a/b', '~', '17')
    """
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:])
