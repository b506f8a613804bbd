"""Sharding, against the textbook and against a mesh that moves real blocks."""
