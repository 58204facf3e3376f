"""What can be learnt from: anything that says how a word may go on."""
