"""What limits an op, by how much, and what would change that."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from ..page.quantities import number, quantity, times
from .blocks import heading, paragraph, table

Document = Mapping[str, Any]

TIE = 1e-9
"""Times this close, relative to the longest, are equal."""


def verdict(result: Document) -> Text:
    """The longest path, and how much longer than the next one it takes."""
    lower, upper = result["time"]["lower_s"], result["time"]["upper_s"]
    paths = sorted(_paths(result).items(), key=lambda path: -path[1])
    (_, longest), others = paths[0], paths[1:]
    if result["bound"] is None:
        return Text("Nothing is done and nothing is sent: it takes no time.")
    if result["bound"] == "balanced":
        equal = [name for name, time in paths if time >= longest * (1 - TIE)]
        sentence = ("Balanced", f": {' and '.join(equal)} take {quantity(longest, 's')} each")
    else:
        rest = "".join(f", {times(longest / time)} the {quantity(time, 's')} of {name}" for name, time in others if time)
        sentence = (f"Limited by {result['bound']}", f": it takes {quantity(longest, 's')}{rest}")
    return Text.assemble(
        (sentence[0], "bold"),
        f"{sentence[1]}.\nBetween {quantity(lower, 's')} (all overlaps) and {quantity(upper, 's')} (nothing does), "
        f"at most {quantity(result['attainable_flops_per_s'], 'FLOP/s')}{_utilization(result['utilization'])}.",
    )


def _paths(result: Document) -> dict[str, float]:
    """The time [s] on each path that was computed."""
    return {name: layer["time_s"] for name, layer in result["layers"].items() if layer and layer.get("time_s") is not None}


def _utilization(share: float | None) -> str:
    return "" if share is None else f", {number(100 * share)} % of the peak"


def changes(answer: Document) -> Iterator[RenderableType]:
    """The levers, those that help first, and the sizes at which the verdict turns."""
    result = answer["result"]
    yield heading("What would change it")
    levers = sorted(result["levers"], key=lambda lever: -lever["speedup"])
    helping = [lever for lever in levers if lever["helps"]]
    if helping:
        yield table(["change", "then limited by", "at least", "speed"], [_lever(lever) for lever in helping], left=2)
    if idle := [_change(lever) for lever in levers if not lever["helps"]]:
        yield paragraph(f"No help: {', '.join(idle)}.")
    for threshold in result["thresholds"]:
        yield paragraph(_threshold(threshold, answer))


def _lever(lever: Document) -> tuple[str, ...]:
    return _change(lever), lever["bound_after"], quantity(lever["lower_s_after"], "s"), times(lever["speedup"])


def _change(lever: Document) -> str:
    return "another tile" if lever["factor"] is None else f"{lever['change']} ×{number(lever['factor'])}"


def _threshold(threshold: Document, answer: Document) -> str:
    """Where compute and another path take equally long."""
    path, variable = threshold["path"], threshold["variable"]
    if threshold["exact"] is None:
        return f"No {_called(threshold)} makes compute and {path} take equally long."
    textbook = "" if threshold["approximate"] is None else f" (by the textbook {number(threshold['approximate'])})"
    found = f"Compute and {path} take equally long at {_called(threshold)} = {number(threshold['exact'])}{textbook}"
    return f"{found}; here {variable} = {_asked(threshold, answer):,}."


def _called(threshold: Document) -> str:
    return f"{threshold['variable']} of {threshold['axis']}" if "axis" in threshold else threshold["variable"]


def _asked(threshold: Document, answer: Document) -> int:
    """What the question has for the variable of a threshold."""
    if "axis" in threshold:
        found: int = next(axis["size"] for axis in answer["target"]["mesh"] if axis["name"] == threshold["axis"])
        return found
    op, variable = answer["op"], threshold["variable"]
    asked: int = op[variable] if variable in op else op["dims"][variable]
    return asked
