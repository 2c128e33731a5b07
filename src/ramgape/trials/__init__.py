"""Real trials: calling a function until the goal is reached, here, in threads, or on a cluster."""
