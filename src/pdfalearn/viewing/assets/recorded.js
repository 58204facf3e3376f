// Recorded words beside an automaton: odd ones to click through, and what has changed between two corpora.

// A table of which a row may be chosen: by a click anywhere in it, or by its button; `choose` gets its number.
const figureTable = (headings, rows, texts, choose) =>
  make("table", { class: `figures texts-${texts}` },
    make("thead", {}, make("tr", {}, headings.map((text) => make("th", { scope: "col" }, text)))),
    make("tbody", {}, rows.map((cells, number) => make("tr", { class: choose && "to-choose", click: choose && (() => choose(number)) },
      cells.map((cell, i) => make("td", { "data-heading": headings[i] }, cell))))));

const scrolled = (name, table) =>
  make("div", { class: "wide", tabindex: 0, role: "region", "aria-label": name }, table);

const rowButton = (text, title) => make("button", { type: "button", class: "pair-word", title }, apart(text));

panels["odd"] = (element, data, page) => {
  const follow = (entry) => {
    const panel = page.shown.automaton;
    followStates(panel, entry.states, entry.texts);
    panel.following.tell(`${data.kind === "word" ? "Word" : "Session"} ${entry.name}: here ${entry.symbol} is ${oddText(entry)}, after ${countText(entry.position, "symbol")}.`);
    bringIntoView(panel.diagram.canvas);
  };
  const rows = data.entries.map((entry) => [
    rowButton(elided(entry.name, 24), "Follow it to where it is odd"),
    make("b", {}, apart(elided(entry.symbol, 40))),
    entry.surprisal === null ? "∞" : numberText(entry.surprisal),
    `${(entry.position + 1).toLocaleString("en")} of ${entry.length.toLocaleString("en")}`,
    make("span", { class: "quiet before" }, apart(entry.before || "(the beginning)")),
  ]);
  const cut = data.cut ? `, of which ${data.cut.toLocaleString("en")} are marked as cut` : "";
  element.append(make("div", { class: "card" },
    make("p", { class: "quiet" }, `${countText(data.words, data.kind)}${cut}. Those with the most surprising step come first; its surprisal is −ln of its probability in the automaton. Choose one to follow it to that step.`),
    scrolled("Odd words", figureTable([data.kind, "odd event", "surprisal", "place", "after"], rows, 2, (number) => follow(data.entries[number])))));
};

const oddText = ({ surprisal }) =>
  surprisal === null ? "impossible" : `odd (surprisal ${numberText(surprisal)}, probability ${chanceText(Math.exp(-surprisal))})`;

const errorText = (p) => (p < 1e-6 ? "< 1e-6" : numberText(p, 2));

panels["changes"] = (element, data, page) => {
  const card = make("div", { class: "card" }, data.statement.split("\n").map((line) => make("p", {}, line)));
  const more = (count, name) => (count ? make("p", { class: "quiet" }, `${count.toLocaleString("en")} more ${name}.`) : null);
  if (data.events.length) {
    const rows = data.events.map(([event, only, words, p]) => [apart(event), only === "b" ? "new, in B" : "vanished, in A", words, p]);
    card.append(make("h3", {}, "New and vanished events"),
      scrolled("New and vanished events", figureTable(["event", "only in", "words", "p-value"], rows, 2)));
    card.append(...[more(data.moreEvents, "events")].filter(Boolean));
  }
  if (data.pairs.length) {
    const sources = data.pairs.flatMap((pair) => pair.transitions.map(() => pair.source));
    const rows = data.pairs.flatMap((pair) => pair.transitions.map((one, i) => [
      i ? "" : rowButton(`${pair.source} → ${pair.to}`, "Show this state"),
      apart(one.symbol),
      chanceText(one.probability_a), chanceText(one.probability_b),
      one.probability_b > one.probability_a ? make("span", { class: "more-in-b" }, "▲ more in B") : make("span", { class: "more-in-a" }, "▼ less in B"),
      `${numberText(100 * one.share)}%`, errorText(one.adjusted),
    ]));
    card.append(make("h3", {}, "Changed transitions"),
      scrolled("Changed transitions", figureTable(["states", "event", "in A", "in B", "", "share", "p-value"], rows, 2,
        (number) => focusState(page.shown.automaton, sources[number]))));
    card.append(...[more(data.morePairs, "pairs of states")].filter(Boolean));
  }
  element.append(card);
};
