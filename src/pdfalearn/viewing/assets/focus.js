"use strict";
// Show a state in the panel of an automaton, by its own number; an undefined one is -1.

function focusState(panel, number) {
  if (number >= 0) panel?.focus?.(number);
}
