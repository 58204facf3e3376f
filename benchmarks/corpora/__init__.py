"""What learners make of recorded words."""
