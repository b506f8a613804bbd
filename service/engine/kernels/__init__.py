"""How long a good kernel takes: tiles on the cores of a chip, the bytes they really move, the rates they really reach.

The roofline says what cannot be beaten; this package says what to expect. Each kernel is a few lines of physics (tiles, waves,
padding, re-reads, overlap) with a handful of parameters that were fitted to measurements and stand in the catalogue.
Columns are [rows]; a leading axis holds the candidates among which a kernel chooses.
"""
