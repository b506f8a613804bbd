"""The tests of the service. `python3 -m tests` runs them all, or what its arguments (pytest's) name."""
