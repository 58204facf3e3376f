"""Smaller automata that stay near: by the divergence of futures, and by moving transitions."""
