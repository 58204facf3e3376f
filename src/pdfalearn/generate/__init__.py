"""Automata to learn: random targets and named examples."""
