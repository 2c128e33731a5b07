"""Known problems: distributions, arms, instances, and where they come from."""
