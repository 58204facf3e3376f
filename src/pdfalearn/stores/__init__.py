"""Durable stores of answers: what a model has said survives the process that asked it."""
