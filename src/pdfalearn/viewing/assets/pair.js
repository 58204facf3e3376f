// Two automata: how far they are apart, and the words where they part, followed in both.

panels["pair"] = (element, data, page) => {
  const way = make("div", { class: "card pair-way" });
  const sides = data.automata.map((automaton, side) => {
    const body = make("div", { class: "pair-body" });
    return { body, section: make("section", { class: `pair-side side-${"ab"[side]}` },
      make("h3", {}, sideName(side), " ", apart(data.names[side])), body) };
  });
  element.append(pairSummary(data));
  if (data.words.length) element.append(
    make("div", { class: "pair-lists" },
      pairList("Words that differ most", data.words, (entry) => follow(entry)),
      pairList("Where that comes from, by pair of states", data.prefixes, (entry) => follow(entry))), way);
  element.append(make("div", { class: "pair-sides" }, ...sides.map(({ section }) => section)));
  const shown = sides.map(({ body }, side) => panels.automaton(body, data.automata[side], page));
  shown.forEach((panel, side) => {
    panel.table.setAttribute("aria-label", `Table of the drawn transitions of ${"AB"[side]}`);
    panel.search.form.setAttribute("aria-label", `Search in ${"AB"[side]}`);
  });
  const follow = (entry, place = entry.steps.length - 1) => {
    showWay(way, data, entry, place, follow);
    const texts = entry.codes.map((code) => data.columns[code + 1]);
    shown.forEach((panel, side) => followStates(panel, entry.steps.slice(0, place + 1).map((step) => step.states[side]), texts));
    page.announce(`${entry.word}, after ${countText(place, "symbol")}`);
  };
  if (data.prefixes.length) follow(data.prefixes[0]);
};

const sideName = (side) => make("span", { class: `badge side-${"ab"[side]}` }, "AB"[side]);

function pairSummary(data) {
  const rows = data.distances.map(([name, values, meaning]) => make("tr", {},
    make("th", { scope: "row" }, name),
    make("td", {}, values.map((value) => (value === null ? "infinite" : numberText(value, 4))).join(" to ")),
    make("td", { class: "quiet" }, meaning)));
  return make("div", { class: "card" },
    make("h3", {}, "How far they are apart"),
    data.reason ? make("p", {}, apart(data.reason)) : null,
    rows.length ? make("table", { class: "pair-distances" }, make("tbody", {}, ...rows)) : null);
}

// Words to choose from; of a prefix the next symbol that differs most is named.
function pairList(heading, entries, choose) {
  const hasNext = entries.some((entry) => entry.next !== null);
  const headings = [hasNext ? "after" : "word", ...(hasNext ? ["next"] : []), "share", "A", "B"];
  const row = (entry) => make("tr", {},
    make("td", {}, make("button", { type: "button", class: "pair-word", title: entry.word, click: () => choose(entry) }, apart(entry.word)),
      hasNext ? make("span", { class: "quiet small" }, ` ${entry.steps.at(-1).states.map((state, side) => `${"AB"[side]} ${state}`).join(", ")}`) : null),
    hasNext ? make("td", { "data-heading": "next" }, make("bdi", {}, elided(entry.next, 26))) : null,
    make("td", { "data-heading": "share" }, `${numberText(100 * entry.share)}%`),
    ...[entry.a, entry.b].map((value, side) => make("td", { "data-heading": "AB"[side] },
      Math.max(entry.a, entry.b) < NEGLIGIBLE ? numberText(value) : chanceText(value))));
  const table = make("table", {},
    make("thead", {}, make("tr", {}, ...headings.map((text) => make("th", { scope: "col" }, text)))),
    make("tbody", {}, ...entries.map(row)));
  return make("div", { class: "card" }, make("h3", {}, heading),
    make("div", { class: "wide", tabindex: "0", role: "region", "aria-label": heading }, table));
}

// One word step by step: the states of both automata, and what comes next in either.
function showWay(element, data, entry, place, follow) {
  const step = (text, number) => make("button", { type: "button", "aria-pressed": String(number === place),
    click: () => { follow(entry, number); element.querySelector('[aria-pressed="true"]').focus(); } }, apart(text));
  const cut = entry.length > entry.codes.length ? [make("span", { class: "quiet" }, `… ${entry.length - entry.codes.length} more symbols`)] : [];
  const states = entry.steps[place].states.map((state, side) =>
    make("span", {}, sideName(side), state < 0 ? " undefined " : ` state ${state} `));
  clear(element);
  element.append(
    make("h3", {}, "After ", apart(entry.word)),
    make("p", { class: "pair-steps" }, step("start", 0), ...entry.codes.map((code, number) => step(data.shorts[code + 1], number + 1)), ...cut),
    make("p", {}, ...states),
    pairBars(data, entry.steps[place].bars));
}

// Both distributions, a row for each of the symbols that differ most.
function pairBars(data, bars) {
  const bar = (value, side) => {
    const meter = svg("svg", { class: "pair-bar", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
      svg("rect", { class: `side-${"ab"[side]}`, x: 0, y: 0, width: Math.max(0, Math.min(100, 100 * value)), height: 10 }));
    return make("div", { class: "pair-line" }, meter, make("span", {}, chanceText(value)));
  };
  const rows = bars.map(([column, a, b]) => make("tr", {},
    make("th", { scope: "row" }, column < 0 ? "all others" : apart(elided(data.shorts[column], 24))),
    make("td", {}, bar(a, 0), bar(b, 1))));
  const head = make("tr", {}, make("th", { scope: "col" }, "next"), make("th", { scope: "col" }, "probability in A, and below it in B"));
  return make("table", { class: "pair-bars" }, make("thead", {}, head), make("tbody", {}, ...rows));
}
