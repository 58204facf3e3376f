"""Regular languages: regular expressions, DFA, and whatever else a user calls a language."""
