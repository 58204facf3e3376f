// Charts: a line with points, its band, and marks, with axes; drawn anew whenever their room changes.
// Those who cannot see them have the same figures in a table.

const CHART_MARGIN = { top: 18, right: 20, bottom: 46, left: 74 };

// Ticks are short: 0.25, 150K, 2·10⁻⁵.
function tickText(value) {
  if (value >= 1e5) return value.toLocaleString("en", { notation: "compact", maximumFractionDigits: 1 });
  if (value >= 1e-3 || value <= 0) return numberText(value);
  const [factor, power] = value.toExponential().split("e-");
  const raised = [...power].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]).join("");
  return `${factor === "1" ? "" : `${numberText(Number(factor), 2)}·`}10⁻${raised}`;
}

// What is shown: { title, x: {label, isLog, areWhole}, y: {…}, points: [{x, y, low, high, text, name}],
// isStepped, chosen, onchoose, height }. Points without y are left out of the line.
function showChart(element, shown) {
  const id = uniqueId("chart");
  const figure = svg("svg", { class: "chart", role: "img", "aria-labelledby": id });
  const readout = make("p", { class: "chart-readout quiet", "aria-hidden": "true" }, "\u00a0");
  let chosen = shown.chosen ?? null;
  const draw = () => {
    const width = Math.max(240, Math.floor(element.clientWidth));
    drawChart(figure, { ...shown, id, width, chosen, height: shown.height ?? 260 }, readout);
  };
  element.classList.add("chart-box");
  element.append(figure, readout);
  new ResizeObserver(draw).observe(element);
  draw();
  return { choose: (place) => { chosen = place; draw(); } };
}

function drawChart(figure, shown, readout) {
  const { width, height, points } = shown;
  const { top, right, bottom, left } = CHART_MARGIN;
  const ys = points.flatMap((point) => [point.y, point.low, point.high]).filter((y) => y !== undefined && y !== null);
  const x = axisOf(points.map((point) => point.x), { ...shown.x, from: left, to: width - right, count: Math.floor(width / 90) });
  const y = axisOf(ys, { ...shown.y, isRounded: true, from: height - bottom, to: top, count: Math.floor(height / 50) });
  clear(figure);
  figure.setAttribute("viewBox", `0 0 ${width} ${height}`);
  figure.setAttribute("width", width);
  figure.setAttribute("height", height);
  const places = points.map((point) => ({ ...point, left: x.place(point.x), top: y.place(point.y) }));
  figure.append(
    svg("title", { id: shown.id }, shown.title),
    ...gridOf(x, y, shown),
    ...bandOf(places, y),
    lineOf(places, shown.isStepped),
    ...marksOf(places, shown),
    hoverOf(places, shown, readout),
  );
}

function gridOf(x, y, { width, height, x: across, y: up }) {
  const { top, right, bottom, left } = CHART_MARGIN;
  const text = (attributes, content) => svg("text", { class: "chart-text", ...attributes }, content);
  return [
    ...y.ticks.map((tick) => svg("g", {},
      svg("line", { class: "chart-grid", x1: left, x2: width - right, y1: y.place(tick), y2: y.place(tick) }),
      text({ x: left - 8, y: y.place(tick) + 4, "text-anchor": "end" }, tickText(tick)))),
    ...x.ticks.map((tick) => svg("g", {},
      svg("line", { class: "chart-axis", x1: x.place(tick), x2: x.place(tick), y1: height - bottom, y2: height - bottom + 5 }),
      text({ x: x.place(tick), y: height - bottom + 19, "text-anchor": "middle" }, tickText(tick)))),
    svg("line", { class: "chart-axis", x1: left, x2: width - right, y1: height - bottom, y2: height - bottom }),
    text({ class: "chart-label", x: (left + width - right) / 2, y: height - 8, "text-anchor": "middle" }, across.label),
    text({ class: "chart-label", transform: `translate(13 ${(top + height - bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, up.label),
  ];
}

function bandOf(places, y) {
  const banded = places.filter((place) => place.low !== undefined);
  if (!banded.length) return [];
  const corner = (edge) => (place) => `${place.left} ${y.place(place[edge])}`;
  const corners = [...banded.map(corner("high")), ...banded.map(corner("low")).reverse()];
  const whiskers = banded.map((place) =>
    svg("line", { class: "chart-whisker", x1: place.left, x2: place.left, y1: y.place(place.low), y2: y.place(place.high) }));
  return [svg("path", { class: "chart-band", d: `M${corners.join("L")}Z` }), ...whiskers];
}

function lineOf(places, isStepped) {
  const there = places.filter((place) => place.y !== null);
  const joint = (place) => (isStepped ? `H${place.left}V${place.top}` : `L${place.left} ${place.top}`);
  const [first, ...rest] = there;
  const path = first ? `M${first.left} ${first.top}${rest.map(joint).join("")}` : "";
  return svg("path", { class: "chart-line", d: path });
}

// The points, as far as there is room for them, the chosen one, and the names of those that have one.
function marksOf(places, { chosen, width }) {
  const isCrowded = places.length > width / 14;
  const dots = places
    .filter((place) => place.y !== null && (!isCrowded || place.name))
    .map((place) => svg("circle", { class: place.name ? "chart-dot named" : "chart-dot", cx: place.left, cy: place.top, r: place.name ? 5 : 3 }));
  const ring = chosen === null ? [] : [
    svg("circle", { class: "chart-ring", cx: places[chosen].left, cy: places[chosen].top, r: 9 })];
  return [...dots, ...ring, ...namesOf(places.filter((place) => place.name), width)];
}

// Names stand beside their points, one that would stand on the one before it stands higher.
function namesOf(named, width) {
  let before = null;
  return named.map((place) => {
    const isLeft = place.left > width - 110;
    const at = { x: place.left + (isLeft ? -12 : 12), y: place.top - 9 };
    if (before && Math.abs(at.x - before.x) < 80 && Math.abs(at.y - before.y) < 18) at.y = before.y - 18;
    before = at;
    return svg("text", { class: "chart-name", ...at, "text-anchor": isLeft ? "end" : "start" }, place.name);
  });
}

// A pane in front of all: the point that is nearest to the mouse is read out, and chosen by a click.
function hoverOf(places, { width, height, onchoose }, readout) {
  const there = places.map((place, number) => ({ ...place, number })).filter((place) => place.y !== null);
  const line = svg("line", { class: "chart-hover", x1: 0, x2: 0, y1: CHART_MARGIN.top, y2: height - CHART_MARGIN.bottom, visibility: "hidden" });
  const nearest = (event) => {
    const box = event.currentTarget.ownerSVGElement.getBoundingClientRect();
    const at = ((event.clientX - box.left) / box.width) * width;
    return there.reduce((a, b) => (Math.abs(b.left - at) < Math.abs(a.left - at) ? b : a));
  };
  const show = (place) => {
    line.setAttribute("visibility", place ? "visible" : "hidden");
    if (place) for (const end of ["x1", "x2"]) line.setAttribute(end, place.left);
    readout.textContent = place ? place.text : "\u00a0";
  };
  const pane = svg("rect", {
    class: onchoose ? "chart-pane choosing" : "chart-pane", x: 0, y: 0, width, height,
    pointermove: (event) => there.length && show(nearest(event)),
    pointerleave: () => show(null),
    click: (event) => onchoose && there.length && onchoose(nearest(event).number),
  });
  return svg("g", {}, line, pane);
}

// The figures of a chart in words: columns are [heading, text of a row].
function showFigures(element, summary, columns, rows) {
  const head = make("tr", {}, ...columns.map(([heading]) => make("th", { scope: "col" }, heading)));
  const body = rows.map((row, number) => make("tr", {}, ...columns.map(([, text]) => make("td", {}, text(row, number)))));
  const table = make("table", { class: "figures" }, make("thead", {}, head), make("tbody", {}, ...body));
  const scrolled = make("div", { class: "wide", tabindex: "0", role: "region", "aria-label": summary }, table);
  element.append(make("details", { class: "figures-box" }, make("summary", {}, summary), scrolled));
}
