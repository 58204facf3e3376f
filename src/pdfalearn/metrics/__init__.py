"""How well one language model stands in for another."""
