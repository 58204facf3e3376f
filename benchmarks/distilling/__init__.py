"""Distilled automata beside k-grams, ALERGIA, WL* and `learn`, with as many symbols asked."""
