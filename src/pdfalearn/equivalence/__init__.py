"""When do two distributions, states or automata count as the same?"""
