"use strict";
// The panel of an automaton.

panels["automaton"] = (element, data) => {
  element.append(make("p", {}, countText(data.states, "state")));
};
