"""What a page shows of a reply, and what it should show.

A reply is shown whole, or shortened in one way, which leaves it JSON:

    "…": "…"     at the end of an object: it has further members
    "…"          at the end of a list: it has further items; in place of a string: it differs from run to run
    "abc…"       the string goes on

Text of another kind is shown from its beginning; a last line `…` says that it goes on.
"""

from __future__ import annotations

import json
from typing import Any

MORE = "…"
WIDTH = 156


def renewed(shown: str, reply: str, language: str) -> str:
    """The block that shows of `reply` what `shown` shows."""
    if language == "json":
        return laid_out(_renewed(json.loads(shown), json.loads(reply))) + "\n"
    lines = shown.splitlines()
    if lines[-1:] == [MORE]:
        return "\n".join([*reply.splitlines()[: len(lines) - 1], MORE]) + "\n"
    return "\n".join(reply.rstrip("\n").splitlines()) + "\n" if reply else ""


def _renewed(shown: Any, real: Any) -> Any:
    if isinstance(shown, dict) and isinstance(real, dict):
        names = [name for name in real if name in shown] if MORE in shown else list(real)
        members = {name: _renewed(shown.get(name, real[name]), real[name]) for name in names}
        return members | {MORE: MORE} if len(names) < len(real) else members
    if isinstance(shown, list) and isinstance(real, list):
        count = len(shown) - 1 if shown[-1:] == [MORE] else len(real)
        items = [_renewed(shown[at] if at < len(shown) else each, each) for at, each in enumerate(real[:count])]
        return [*items, MORE] if count < len(real) else items
    if isinstance(shown, str) and isinstance(real, str) and shown.endswith(MORE):
        return real[: len(shown) - 1] + MORE if len(shown) > 1 else MORE
    return real


def laid_out(value: Any, indent: int = 0, before: int = 0) -> str:
    """JSON for reading: what fits a line stands on one, everything else has a line for each part."""
    line = json.dumps(value, ensure_ascii=False)
    if indent + before + len(line) < WIDTH or not isinstance(value, dict | list):
        return line
    inner = " " * (indent + 2)
    if isinstance(value, dict):
        names = [f"{json.dumps(name, ensure_ascii=False)}: " for name in value]
        parts = [name + laid_out(each, indent + 2, len(name)) for name, each in zip(names, value.values(), strict=True)]
    else:
        parts = [laid_out(each, indent + 2) for each in value]
    opening, closing = ("{", "}") if isinstance(value, dict) else ("[", "]")
    return f"{opening}\n{inner}" + f",\n{inner}".join(parts) + f"\n{' ' * indent}{closing}"
