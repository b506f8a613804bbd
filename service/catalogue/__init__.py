"""The catalogue: chips and systems with the source of every number, read from TOML files beside this module."""

from .catalogue import Catalogue
from .chip import Chip
from .cluster import Cluster
from .errors import CatalogueError
from .loader import load

__all__ = ["Catalogue", "CatalogueError", "Chip", "Cluster", "load"]
