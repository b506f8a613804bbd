"""The web around the use cases: routes of a dozen lines, one form for every refusal, one place that wires (`app.py`)."""
