"""The text of the committed `openapi.yaml`."""

from __future__ import annotations

from .contract import Contract
from .routes.all import all_routes


def render() -> str:
    """The OpenAPI document of the service as YAML."""
    return Contract(all_routes()).yaml.decode()
