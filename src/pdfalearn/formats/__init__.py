"""Files: JSON, NumPy archives, drawings, the formats of other programs, and lists of words."""
