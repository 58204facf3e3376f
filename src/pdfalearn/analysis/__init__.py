"""Questions to an automaton: exact answers over all of its words at once."""
