"""How well one language model predicts another."""
