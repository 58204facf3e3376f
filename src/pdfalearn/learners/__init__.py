"""Learners: start, refine, hypothesis."""
