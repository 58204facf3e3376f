// What is known of a live model's answers: certain bounds, how they closed, likely answers, and what differs.

const BOUND_DIGITS = 4;

// Bars from 0 to 1: what is certain, and behind it what is open. Rows are [name, low, high, kind].
panels["bounds"] = (element, data) => {
  const card = make("div", { class: "card" });
  if (data.text) card.append(make("p", { class: "quiet" }, data.text));
  card.append(make("ul", { class: "bound-list" }, data.rows.map((row) => boundLine(row, data.scale))));
  card.append(make("p", { class: "quiet small keys" },
    make("span", { class: "key bound-known" }, data.known), make("span", { class: "key bound-open" }, "open")));
  element.append(card);
  if (!data.figures) return;
  showFigures(card, "All as a table",
    data.figures.header.map((heading, place) => [heading, (row) => row[place]]), data.figures.rows);
  card.querySelector(".figures-box").open = true;
};

function boundLine([name, low, high, kind], scale) {
  const part = (value) => `${Math.min(100, (100 * value) / scale)}%`;
  const bar = make("span", { class: "bound-bar", "aria-hidden": "true" },
    make("span", { class: "bound-open" }), make("span", { class: "bound-known" }));
  bar.style.setProperty("--low", part(low));
  bar.style.setProperty("--high", part(high));
  return make("li", { class: kind },
    make("span", { class: "bound-name", title: name }, apart(elided(name, 60))), bar,
    make("span", { class: "bound-value" }, boundText(low, high)));
}

// Bounds with the digits that they have in common, and one more.
function boundText(low, high) {
  const apartBy = high - low;
  const digits = Math.min(9, Math.max(BOUND_DIGITS, Math.ceil(-Math.log10(apartBy || 1e-9)) + 1));
  const text = (value) => value.toFixed(digits);
  return text(low) === text(high) ? text(low) : `${text(low)} to ${text(high)}`;
}

panels["closing"] = (element, data) => {
  const card = make("div", { class: "card" }), box = make("div", {});
  card.append(box);
  element.append(card);
  showChart(box, {
    title: `Bounds on any match by the number of calls, from ${data.steps[0].calls} to ${data.steps.at(-1).calls}; the table below has the figures`,
    x: { label: "calls of the model (logarithmic)", areWhole: true, isLog: true },
    y: { label: "probability of any match" },
    points: data.steps.filter(({ calls }) => calls).map(({ calls, low, high }) => ({
      x: calls, y: (low + high) / 2, low, high, text: `${countText(calls, "call")}: from ${numberText(low, 6)} to ${numberText(high, 6)}`,
    })),
    height: 260,
  });
  showFigures(card, "The bounds as a table", [
    ["calls", (step) => step.calls.toLocaleString("en")],
    ["at least", (step) => step.low.toFixed(6)],
    ["at most", (step) => step.high.toFixed(6)],
  ], data.steps);
};

// The likeliest beginnings as a tree: of each what matches, what cannot, and what is open.
panels["answers"] = (element, data) => {
  const below = data.nodes.map(() => []);
  data.nodes.forEach((node, number) => number && below[node.parent].push(number));
  const items = [];
  for (let place = data.nodes.length - 1; place >= 0; place--) {
    const line = answerLine(data.nodes[place]);
    items[place] = below[place].length
      ? make("li", {}, make("details", { open: data.nodes[place].mass >= data.open },
        make("summary", {}, line), make("ul", { class: "tree-list" }, below[place].map((child) => items[child]))))
      : make("li", { class: "answer-leaf" }, line);
  }
  const keys = [["match", "matches"], ["fail", "cannot match"], ["open", "open"]];
  element.append(make("div", { class: "card" },
    make("p", { class: "quiet" }, `The ${data.nodes.length.toLocaleString("en")} likeliest beginnings, symbol by symbol; ▪ is an end.`),
    make("div", { class: "tree-scroll", tabindex: "0", role: "region", "aria-label": "Tree of the likeliest answers" },
      make("ul", { class: "tree-list tree-root" }, items[0])),
    make("p", { class: "quiet small keys" }, keys.map(([kind, text]) => make("span", { class: `key answer-${kind}` }, text)))));
};

function answerLine(node) {
  const bar = make("span", { class: "answer-bar", "aria-hidden": "true" },
    ["match", "fail", "open"].map((kind) => {
      const part = make("span", { class: `answer-${kind}` });
      part.style.setProperty("--part", `${100 * node[kind]}%`);
      return part;
    }));
  return make("span", { class: "answer-line" },
    make("code", { class: "answer-text" }, apart(elided(node.text, 40))), bar,
    make("span", { class: "answer-value" }, chanceText(node.mass)),
    make("span", { class: "unseen" }, `, of which ${chanceText(node.match)} matches, ${chanceText(node.fail)} cannot, ${chanceText(node.open)} is open`));
}

panels["lists"] = (element, data) => {
  const lists = data.lists.filter(({ rows }) => rows.length).map(({ heading, header, rows }) =>
    make("div", { class: "card" }, make("h3", {}, heading),
      scrolled(heading, figureTable(header, rows.map(([word, ...cells]) => [make("code", {}, apart(elided(word, 60))), ...cells])))));
  element.append(make("div", { class: "pair-lists" }, lists));
};

// What differs most between two models, with a bar for each.
panels["differences"] = (element, data) => {
  const most = Math.max(...data.rows.map(({ a, b }) => Math.max(a, b)), 1e-300);
  const bar = (value, side) => svg("svg", { class: "pair-bar", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("rect", { class: `side-${side}`, x: 0, y: 0, width: (100 * value) / most, height: 10 }));
  const cell = ({ a, b }) => make("div", {}, [["a", a], ["b", b]].map(([side, value]) =>
    make("div", { class: "pair-line" }, bar(value, side), make("span", {}, chanceText(value, 4)))));
  const rows = data.rows.map((row) => make("tr", {},
    make("th", { scope: "row" }, make("code", {}, apart(elided(row.word, 50)))), make("td", {}, cell(row)),
    make("td", { class: row.b > row.a ? "more-in-b" : "more-in-a" }, `${row.b > row.a ? "▲" : "▼"} ${numberText(100 * row.share)}%`)));
  const head = ["answer", "probability in A, and below it in B", "share"].map((text) => make("th", { scope: "col" }, text));
  element.append(make("div", { class: "card" },
    make("p", { class: "quiet" }, data.text),
    make("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Table of what differs most" },
      make("table", { class: "pair-bars differing" }, make("thead", {}, make("tr", {}, head)), make("tbody", {}, rows)))));
};
