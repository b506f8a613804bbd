"""The roofline engine: NumPy and the standard library, no web, no files, no clock."""

from __future__ import annotations

ENGINE_VERSION = "0.1.0"
"""Rises with every change that alters a published number."""
