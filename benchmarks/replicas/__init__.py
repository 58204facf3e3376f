"""Copies of a model: how much faster they are than one, and how much faster they could be."""
