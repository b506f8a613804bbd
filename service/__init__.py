"""Rooflines over HTTP: where an operation on an accelerator is bound, by what, and by how much.

Nothing is imported here, so that `python3 -m service` can say what is missing before anything is installed.
"""

__version__ = "0.1.0"
