"""Measurements of speed and memory, as ratios of one run, and the fits behind the calibrations."""
