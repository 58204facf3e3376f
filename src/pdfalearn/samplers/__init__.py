"""Where sampled words come from."""
