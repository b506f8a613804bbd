"""The memory in which columns stand."""

from __future__ import annotations

import platform
import subprocess
import sys

FAULTS = """
import resource
import numpy as np
from service.api.heap import keep_freed_memory

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(50):
        held = [np.ones(2**18) for _ in range(6)]
        del held
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

without = faults()
keep_freed_memory()
faults()
print(without, faults())
"""
"""Fifty times six columns of 2 MiB: pages that the process had to be given for them, before and after."""


def test_memory_that_was_freed_is_used_again() -> None:
    done = subprocess.run([sys.executable, "-c", FAULTS], capture_output=True, text=True, timeout=60, check=True)
    without, kept = map(int, done.stdout.split())
    most = without // 100 if platform.libc_ver()[0] == "glibc" else without  # others have no bound that could be raised
    assert kept <= most
