"""What `/metrics` says, read as Prometheus reads it."""

from __future__ import annotations

from prometheus_client.parser import text_string_to_metric_families

Counts = dict[str, dict[frozenset[tuple[str, str]], float]]


def counts(text: str) -> Counts:
    """Every series by its name and labels."""
    found: Counts = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            series = found.setdefault(sample.name, {})
            labels = frozenset(sample.labels.items())
            assert labels not in series, sample
            series[labels] = sample.value
    return found


def value(text: str, name: str, **labels: str) -> float:
    return counts(text)[name].get(frozenset(labels.items()), 0.0)
