"""What shows how far long work has come: in a terminal, in a notebook, or line by line."""
