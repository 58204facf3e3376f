"""Many copies of a model that are asked side by side."""
