"""Distil automata of every size from a model, and make automata smaller."""
