"""Measurements of boxwood by boxwood: what `boxwood bench` runs, and the scripts in `benchmarks/`."""
