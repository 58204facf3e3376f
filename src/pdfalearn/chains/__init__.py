"""Markov chains: walks through them, and what is solved for on them."""
