"""Arrow's own bytes between processes, as data frames read and write them: a stream, or the same in a file.

It needs the extra `arrow`; without it the service says so, and all other formats work.
"""

from .reading import read
from .writing import write

__all__ = ["read", "write"]
