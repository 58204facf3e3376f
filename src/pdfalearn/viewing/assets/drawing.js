// The picture of a graph that was laid out: circles, curves and labels as SVG.

const MOST_LABELLED = 45;

const f = (number) => Math.round(number * 10) / 10;

const pointText = ({ x, y }) => `${f(x)} ${f(y)}`;
const minus = (one, other) => ({ x: one.x - other.x, y: one.y - other.y });
const plus = (one, other, factor) => ({ x: one.x + factor * other.x, y: one.y + factor * other.y });

// A curve through points, whose direction in each is that from the one before to the one after.
function curveOf(edge, from, to) {
  if (edge.loop) return `M${pointText(edge.loop[0])}C${edge.loop.slice(1).map(pointText).join(" ")}`;
  const { points } = edge;
  const last = points.length - 1;
  const turn = (i) => {
    if (i > 0 && i < last) return minus(points[i + 1], points[i - 1]);
    const [direction, other] = i
      ? [minus(to, points[i]), points[i - 1]]
      : [minus(points[i], from), points[1]];
    const factor =
      Math.hypot(...Object.values(minus(points[i], other))) / Math.hypot(direction.x, direction.y);
    return plus({ x: 0, y: 0 }, direction, factor);
  };
  const lengthOf = (vector) => Math.hypot(vector.x, vector.y) || 1;
  let path = `M${pointText(points[0])}`;
  for (let i = 1; i <= last; i++) {
    const third = 0.42 * lengthOf(minus(points[i], points[i - 1]));
    const [leaving, arriving] = [turn(i - 1), turn(i)];
    path += `C${pointText(plus(points[i - 1], leaving, third / lengthOf(leaving)))} ${pointText(plus(points[i], arriving, -third / lengthOf(arriving)))} ${pointText(points[i])}`;
  }
  return path;
}

// A triangle from the end of a curve to its tip.
function arrowOf({ loop, points, tip }, width) {
  const end = loop ? loop.at(-1) : points.at(-1);
  const turn = Math.atan2(tip.y - end.y, tip.x - end.x) + Math.PI / 2;
  const side = { x: Math.cos(turn), y: Math.sin(turn) };
  const half = 3 + width * 0.75;
  return `M${pointText(tip)}L${pointText(plus(end, side, half))} ${pointText(plus(end, side, -half))}Z`;
}

// Whether an edge is possible, and whether its transitions are taken more or less in the second corpus.
function edgeClass(edge) {
  const changed = edge.steps.filter((step) => step.sign);
  const growth = changed.reduce((sum, step) => sum + step.both[1] - step.both[0], 0);
  const change = changed.length ? (growth > 0 ? " more" : " less") : "";
  return (edge.probability > 0 ? "edge" : "edge impossible") + change;
}

function drawnEdge(automaton, edge, nodes) {
  const curve = curveOf(edge, nodes[edge.from], nodes[edge.to]);
  const line = svg("path", { class: "line", d: curve, "stroke-width": f(edge.width) });
  const group = svg("g", { class: edgeClass(edge) }, line);
  group.append(svg("path", { class: "arrow", d: arrowOf(edge, edge.width) }));
  group.append(svg("title", {}, edgeText(automaton, edge)));
  return group;
}

function drawnLabel(automaton, edge) {
  const { lines, width, height, place } = edge.label;
  const group = svg("g", { class: "label", transform: `translate(${f(place.x)} ${f(place.y)})` });
  group.append(
    svg("rect", { x: f(-width / 2), y: f(-height / 2), width: f(width), height: f(height), rx: 5 }),
  );
  lines.forEach((line, i) => {
    const y = f(-height / 2 + LABEL_LINE * (i + 0.5) + 2);
    const number = svg("tspan", { class: "number" }, line.number && ` ${line.number}`);
    const symbol = svg(
      "tspan",
      { class: line.isMore ? "number" : "symbol" },
      isolated(line.symbol),
    );
    group.append(svg("text", { y, dy: "0.35em" }, symbol, number));
  });
  group.append(svg("title", {}, edgeText(automaton, edge)));
  return group;
}

// A circle with the state's number; the ring around it is as full as words are likely to end there.
function drawnNode(automaton, node) {
  const { state, x, y, radius } = node;
  const ring = 2 * Math.PI * (radius + 4);
  const share = automaton.terminal[state];
  const group = svg("g", {
    class: "node",
    transform: `translate(${f(x)} ${f(y)})`,
    tabindex: -1,
    role: "button",
  });
  group.setAttribute("aria-label", nodeText(automaton, state));
  if (state === 0)
    group.append(svg("path", { class: "start", d: `M${-radius - 32} 0h20m-7 -5l9 5l-9 5` }));
  group.append(svg("circle", { class: "halo", r: radius + 8 }));
  group.append(
    svg("circle", { class: "disc", r: radius, "fill-opacity": f(0.25 + 0.75 * node.weight) }),
  );
  if (share >= NEGLIGIBLE)
    group.append(
      svg("circle", {
        class: ["ending less", "ending", "ending more"][1 + (automaton.endAt(state).sign ?? 0)],
        r: radius + 4,
        "stroke-dasharray": `${f(Math.max(1.5, ring * share))} ${f(ring)}`,
        transform: "rotate(-90)",
      }),
    );
  group.append(svg("text", { dy: "0.35em" }, String(automaton.numbers[state])));
  return group;
}

function nodeText(automaton, state) {
  const [step] = automaton.row(state);
  const likeliest = step
    ? `, likeliest symbol ${automaton.text(step.symbol)} ${chanceText(step.probability)}`
    : "";
  const initial = state === 0 ? ", initial" : "";
  return `State ${automaton.numbers[state]}${initial}: expected visits ${numberText(automaton.visits[state])}, ends ${chanceText(automaton.terminal[state])}${likeliest}`;
}

// Lays a graph out for some room; returns where everything is.
function laidOut(automaton, graph, { isWide, mostInLayer }) {
  const places = new Map(graph.states.map((state, i) => [state, i]));
  const mostVisits = Math.max(...graph.states.map((state) => automaton.visits[state]), 1e-300);
  const nodes = graph.states.map((state) => ({
    state,
    weight: Math.sqrt(automaton.visits[state] / mostVisits),
    radius: Math.max(17, measure(String(automaton.numbers[state]), "13px sans-serif") / 2 + 8),
  }));
  const isDense = nodes.length > MOST_LABELLED;
  const mostLines = graph.edges.length <= 16 ? 5 : graph.edges.length <= 30 ? 4 : 2;
  const edges = graph.edges.map((edge) => ({
    ...edge,
    from: places.get(edge.source),
    to: places.get(edge.target),
    label: labelOf(automaton, edge, mostLines, isDense),
  }));
  const mostFlow = Math.max(...edges.map((edge) => edge.flow), 1e-300);
  for (const edge of edges) {
    edge.width = 1.2 + 4.3 * Math.sqrt(edge.flow / mostFlow);
    edge.arrow = 6 + 1.3 * edge.width;
  }
  return { nodes, edges, graph, isDense, box: layOut(nodes, edges, { isWide, mostInLayer }) };
}

// Draws what was laid out: adds its picture, and to each node and edge its own.
function drawn(automaton, laid) {
  const { nodes, edges, isDense } = laid;
  const layer = svg("g", { class: isDense ? "picture dense" : "picture" });
  for (const edge of [...edges].reverse()) {
    edge.drawn = drawnEdge(automaton, edge, nodes);
    layer.append(edge.drawn);
  }
  for (const edge of edges) layer.append((edge.drawnLabel = drawnLabel(automaton, edge)));
  for (const node of nodes) layer.append((node.drawn = drawnNode(automaton, node)));
  return { ...laid, layer };
}
