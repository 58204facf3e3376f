// A state's distribution as bars: the terminal, and the likeliest symbols.

const MOST_BARS = 12;

function barLine(text, step, isTerminal, more, choose) {
  const cells = [
    make("bdi", { class: "name", title: text }, elided(text, 13)),
    make("span", { class: "bar-cell" }, (step.both ?? [step.probability]).map((value, i) => {
      const bar = make("span", { class: `bar${isTerminal ? " ending" : ""}${step.both ? ` side-${"ab"[i]}` : ""}` });
      bar.style.setProperty("--part", `${Math.min(1, value) * 100}%`);
      return bar;
    })),
    make("span", { class: "value" }, (step.both ?? [step.probability]).map((value) => make("span", {}, chanceText(value)))),
    make("span", { class: "more" }, more),
  ];
  return make(
    "li",
    { class: step.sign ? "changed" : null },
    choose
      ? make("button", { type: "button", class: "line", click: choose }, cells)
      : make("div", { class: "line" }, cells),
  );
}

// `choose`, if given, is called with the transition whose bar was clicked.
function makeBars(automaton, state, choose, most = MOST_BARS) {
  const row = automaton.row(state);
  const list = make("ul", { class: automaton.beside ? "bars beside" : "bars" });
  list.append(barLine(`${automaton.data.terminalText} end`, automaton.endAt(state), true, ""));
  for (const step of row.slice(0, most)) {
    const target = step.target < 0 ? "→ left out" : `→ ${automaton.numbers[step.target]}`;
    list.append(
      barLine(
        automaton.text(step.symbol),
        step,
        false,
        target,
        choose && (() => choose(step)),
      ),
    );
  }
  const names = automaton.beside?.names;
  return make(
    "div",
    {},
    names ? make("p", { class: "quiet small keys" }, names.map((name, i) => make("span", { class: `key side-${"ab"[i]}` }, name))) : null,
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
