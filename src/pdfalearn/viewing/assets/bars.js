// A state's distribution as bars: the terminal, and the likeliest symbols.

const MOST_BARS = 12;

function barLine(text, probability, isTerminal, more, choose) {
  const bar = make("span", { class: isTerminal ? "bar ending" : "bar" });
  bar.style.setProperty("--part", `${Math.min(1, probability) * 100}%`);
  const cells = [
    make("bdi", { class: "name", title: text }, shortened(text, 30)),
    bar,
    make("span", { class: "value" }, chanceText(probability)),
    make("span", { class: "more" }, more),
  ];
  return make(
    "li",
    {},
    choose
      ? make("button", { type: "button", class: "line", click: choose }, cells)
      : make("div", { class: "line" }, cells),
  );
}

// `choose`, if given, is called with the transition whose bar was clicked.
function makeBars(automaton, state, choose, most = MOST_BARS) {
  const row = automaton.row(state);
  const list = make("ul", { class: "bars" });
  list.append(barLine(`${automaton.data.terminalText} end`, automaton.terminal[state], true, ""));
  for (const step of row.slice(0, most)) {
    const target = step.target < 0 ? "→ left out" : `→ ${automaton.numbers[step.target]}`;
    list.append(
      barLine(
        automaton.text(step.symbol),
        step.probability,
        false,
        target,
        choose && (() => choose(step)),
      ),
    );
  }
  return make(
    "div",
    {},
    list,
    make("p", { class: "quiet small" }, restText(automaton, state, row, most)),
  );
}

function restText(automaton, state, row, most) {
  const parts = [];
  const rest = row.slice(most);
  if (rest.length) {
    const mass = rest.reduce((sum, step) => sum + step.probability, 0);
    parts.push(`${countText(rest.length, "more symbol")} with ${chanceText(mass)} together`);
  }
  if (automaton.leftOut[state])
    parts.push(
      `${countText(automaton.leftOut[state], "less likely symbol")} left out of this page`,
    );
  if (automaton.undefinedCount(state))
    parts.push(`${countText(automaton.undefinedCount(state), "symbol")} undefined`);
  return parts.length ? `${parts.join("; ")}.` : "";
}
