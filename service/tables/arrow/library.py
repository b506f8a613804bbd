"""The library behind the extra `arrow`, imported when a table first needs it."""

from __future__ import annotations

import importlib
from typing import Any

from ...errors import ServiceError


def pyarrow(refusal: type[ServiceError]) -> Any:
    """The library, or the `refusal` of a service that was installed without it."""
    try:
        for part in ("pyarrow.compute", "pyarrow.ipc"):  # neither is loaded by the library itself
            importlib.import_module(part)
        return importlib.import_module("pyarrow")
    except ImportError:
        raise refusal("This service was installed without the extra `arrow`; use another format.") from None
