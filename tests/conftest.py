"""What every test may use: databases, and random examples that are the same in every run."""

from hypothesis import settings

pytest_plugins = ["tests.postgres", "tests.skeleton"]

# Time limits are pytest's: on a busy machine a single example may be slow.
settings.register_profile("repeatable", deadline=None, derandomize=True, print_blob=True)
settings.register_profile("explore", deadline=None, max_examples=1000)
settings.load_profile("repeatable")
