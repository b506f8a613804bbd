"""`python3 -m service <command>`: the whole command line; no command means `serve`."""

import sys

from . import bootstrap

if __name__ == "__main__":
    bootstrap.enter("service", bootstrap.RUNTIME, sys.argv[1:])
    from .cli import main

    main()
