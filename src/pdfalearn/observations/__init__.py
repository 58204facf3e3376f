"""The memory of every answer of a model."""
