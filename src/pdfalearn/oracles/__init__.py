"""Equivalence oracles: who tries to break a hypothesis."""
