"""Active learning of probabilistic deterministic finite automata (PDFA)."""

__version__ = "0.1.0.dev0"
