"""Speed, measured as ratios within one run, because machines are shared and noisy: `python -m benchmarks`."""
