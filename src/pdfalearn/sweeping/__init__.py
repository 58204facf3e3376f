"""Learn with several κ and tolerances from one set of answers, to choose among them."""
