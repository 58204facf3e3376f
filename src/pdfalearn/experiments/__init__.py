"""The five experiments of the paper (§4), run again and reported."""
