// A frontier: states against divergence or cross-entropy, and a slider through the automata.

const FRONTIER_WAIT = 120; // Milliseconds that the slider has to rest before an automaton is laid out.

panels["frontier"] = (element, data, page) => {
  const { points } = data;
  const box = make("div", { class: "frontier-chart" });
  const figures = make("div", { class: "frontier-figures" });
  const shown = make("div", { class: "frontier-automaton" });
  const slider = make("input", { type: "range", "aria-label": "Automaton by size", min: 0, max: points.length - 1, step: 1, value: data.best,
    input: () => choose(Number(slider.value)) });
  const label = make("span", { class: "frontier-size", "aria-hidden": "true" });
  const button = (text, name, step) => make("button", { type: "button", "aria-label": name,
    click: () => choose(Math.min(points.length - 1, Math.max(0, Number(slider.value) + step))) }, text);
  const card = make("div", { class: "card" }, make("div", { class: "frontier-top" }, box, figures),
    make("div", { class: "frontier-slider" }, label, button("−", "Smaller automaton", -1), slider, button("+", "Larger automaton", 1)));
  element.append(card, shown);
  const chart = showChart(box, { ...frontierCurve(data), chosen: data.best, onchoose: (place) => choose(place) });
  let waiting = 0;
  const choose = (place) => {
    slider.value = place;
    label.textContent = countText(points[place].states, "state");
    slider.setAttribute("aria-valuetext", label.textContent);
    showPoint(figures, data, place);
    chart.choose(place);
    clearTimeout(waiting);
    waiting = setTimeout(() => showAutomaton(shown, data.automata[place], points[place], page), FRONTIER_WAIT);
  };
  frontierTable(card, data);
  choose(data.best);
};

function showAutomaton(element, data, point, page) {
  clear(element);
  panels.automaton(element, data, page);
  page.announce(`The automaton of ${countText(point.states, "state")} is shown.`);
}

const pointName = (data, place) =>
  [place === data.best ? "best" : "", place === data.knee ? "knee" : ""].filter(Boolean).join(", ");

function frontierCurve(data) {
  const values = data.points.flatMap((point) => [point.divergence, point.low, point.high]);
  const isLog = data.modelPerplexity !== null && values.some((value) => value > 0);
  const isWide = data.points.at(-1).states >= 8 * data.points[0].states;
  return {
    title: `The automata's ${data.measure} by their number of states, with its 95% interval; the table below has the figures`,
    x: { label: isWide ? "states (logarithmic)" : "states", isLog: isWide, areWhole: true },
    y: { label: `${data.measure} per symbol, nats`, isLog },
    points: data.points.map((point, place) => ({
      x: point.states, y: point.divergence, low: point.low ?? undefined, high: point.high ?? undefined,
      name: pointName(data, place),
      text: `${countText(point.states, "state")}: ${data.measure} ${figureText(point.divergence)}, from ${figureText(point.low)} to ${figureText(point.high)}`,
    })),
    height: 330,
  };
}

const frontierFigures = (data) => [
  ["states", (point) => point.states.toLocaleString("en")],
  [`${data.measure} per symbol`, (point) => figureText(point.divergence)],
  ["from", (point) => figureText(point.low)],
  ["to", (point) => figureText(point.high)],
  ["positions where it is infinite", (point) => shareText(point.infinite_share)],
  ["L1 distance", (point) => figureText(point.l1)],
  ["word error rate", (point) => shareText(point.word_error_rate)],
  ["perplexity", (point) => figureText(point.perplexity)],
  [`${data.measure} in training`, (point) => figureText(point.training_divergence)],
];

const figureText = (value) => (value === null ? "not finite" : numberText(value, 4));
const shareText = (share) => (share === null ? "not known" : `${numberText(100 * share)}%`);

function showPoint(element, data, place) {
  const point = data.points[place];
  const name = pointName(data, place);
  const rows = frontierFigures(data).slice(1).map(([label, text]) =>
    make("tr", {}, make("th", { scope: "row" }, label), make("td", {}, text(point))));
  if (data.modelPerplexity !== null) rows.push(make("tr", {}, make("th", { scope: "row" }, "perplexity of the model"), make("td", {}, figureText(data.modelPerplexity))));
  clear(element);
  element.append(
    make("h3", {}, `${countText(point.states, "state")}${name ? ` (${name})` : ""}`),
    make("table", {}, make("tbody", {}, ...rows)));
}

function frontierTable(card, data) {
  const columns = [...frontierFigures(data), ["mark", (_, place) => pointName(data, place)]];
  showFigures(card, "All automata as a table", columns, data.points);
}
