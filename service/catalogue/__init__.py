"""The catalogue: chips, systems and calibrations with the source of every number, read from TOML files beside this module."""

from .calibration import Calibration, Calibrations
from .catalogue import Catalogue
from .chip import Chip
from .cluster import Cluster
from .errors import CatalogueError
from .loader import load

__all__ = ["Calibration", "Calibrations", "Catalogue", "CatalogueError", "Chip", "Cluster", "load"]
