"""Fitting the kernels of the engine to measured times, and judging them."""
