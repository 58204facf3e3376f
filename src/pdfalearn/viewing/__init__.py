"""Pages to look at: one self-contained file of HTML for an automaton."""
