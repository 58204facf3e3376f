// A run: states, words and counterexamples before each equivalence query, and in the end.

const RUN_ACROSS = {
  queries: "equivalence queries",
  words: "words asked",
  symbols: "symbols asked",
  seconds: "seconds",
};
const RUN_UP = { states: "states", words: "words asked", counterexamples: "counterexamples" };

panels["run"] = (element, data) => {
  const charts = make("div", { class: "chart-row" });
  const id = uniqueId("across");
  const choice = make("select", { id, change: () => draw(choice.value) },
    ...Object.entries(RUN_ACROSS).map(([name, label]) => make("option", { value: name }, label)));
  const draw = (across) => {
    clear(charts);
    for (const name of Object.keys(RUN_UP)) showGrowth(charts, data.rows, across, name);
  };
  const card = make("div", { class: "card" },
    make("p", { class: "chart-choice" }, make("label", { for: id }, "Over "), choice), charts);
  element.append(card);
  draw("queries");
  const thinned = data.steps > data.rows.length ? ` (${data.rows.length} of ${data.steps.toLocaleString("en")} rows)` : "";
  showFigures(card, `The run as a table${thinned}`, [
    ["equivalence queries", (row) => row.queries.toLocaleString("en")],
    ["states", (row) => row.states.toLocaleString("en")],
    ["words asked", (row) => row.words.toLocaleString("en")],
    ["symbols asked", (row) => row.symbols.toLocaleString("en")],
    ["counterexamples", (row) => (row.counterexamples === null ? "not known" : row.counterexamples.toLocaleString("en"))],
    ["seconds", (row) => row.seconds.toFixed(3)],
  ], data.rows);
};

function showGrowth(element, rows, across, name) {
  const box = make("div", { class: "chart-cell" });
  element.append(box);
  const last = rows.at(-1);
  if (last[name] === null) return box.append(make("p", { class: "quiet" }, `The file of this run does not tell the ${RUN_UP[name]}.`));
  const points = rows.map((row) => ({
    x: row[across],
    y: row[name],
    text: `${RUN_UP[name]}: ${row[name].toLocaleString("en")}; ${RUN_ACROSS[across]}: ${numberText(row[across])}`,
  }));
  showChart(box, {
    title: `${RUN_UP[name]} over ${RUN_ACROSS[across]}: ${last[name].toLocaleString("en")} in the end`,
    x: { label: RUN_ACROSS[across], areWhole: across !== "seconds" },
    y: { label: RUN_UP[name], areWhole: true },
    points, isStepped: true, height: 230,
  });
}
