"""Tests of the ops, one file each."""
