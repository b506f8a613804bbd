"""`python3 -m tests [what pytest takes]`: every test, in an environment that has what they need."""

import sys

from service import bootstrap

if __name__ == "__main__":
    bootstrap.enter("tests", bootstrap.DEVELOPMENT, sys.argv[1:])
    import pytest

    sys.exit(pytest.main(sys.argv[1:]))
