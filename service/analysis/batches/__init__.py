"""Tables of questions: a row asks, its answer stands beside it.

A header names members of a question (`fields.py`), which `heading.py` tells from the caller's own columns. Rows that share all
that an engine call must share are gathered (`questions.py`) and evaluated as columns (`evaluation.py`); what is asked of their
answers is read from them by name (`leaves.py`). Whole sheets (`answering.py`), templates and cells are made of that.
"""
