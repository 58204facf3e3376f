"""What comes out of long work, as values: they import nothing of what makes them."""
