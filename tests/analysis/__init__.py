"""Tests of the use cases, on whole documents."""
