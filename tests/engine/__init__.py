"""Tests of the engine: textbook values, slow twins, and laws over all ops."""
