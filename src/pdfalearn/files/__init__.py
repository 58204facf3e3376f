"""Files whatever they hold: names, reading within bounds, writing whole or not at all."""
