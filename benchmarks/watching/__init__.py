"""Watching logs: what is found, what thresholds promise, how fast it is, and what a fault costs."""
