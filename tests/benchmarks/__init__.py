"""Programs of `benchmarks/` that have more to them than a clock."""
