"""The loop that joins model, learner and oracle, what comes out of it, and stability."""
