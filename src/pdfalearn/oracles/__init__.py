"""Equivalence oracles, which try to break a hypothesis."""
