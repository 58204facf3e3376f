"use strict";
// The picture of a graph that was laid out: circles, curves and labels as SVG.

const f = (number) => Math.round(number * 10) / 10;

function curveOf(edge, isWide) {
  const at = ({ x, y }) => `${f(x)} ${f(y)}`;
  if (edge.loop) return `M${at(edge.loop[0])}C${edge.loop.slice(1).map(at).join(" ")}`;
  let path = `M${at(edge.points[0])}`;
  for (let i = 1; i < edge.points.length; i++) {
    const [from, to] = [edge.points[i - 1], edge.points[i]];
    const middle = isWide ? (from.x + to.x) / 2 : (from.y + to.y) / 2;
    const [one, other] = isWide ? [{ x: middle, y: from.y }, { x: middle, y: to.y }] : [{ x: from.x, y: middle }, { x: to.x, y: middle }];
    path += `C${at(one)} ${at(other)} ${at(to)}`;
  }
  return path;
}

// A triangle at the end of a curve, pointing to the middle of the target.
function arrowOf(edge, target, width) {
  const end = edge.loop ? edge.loop.at(-1) : edge.points.at(-1);
  const turn = Math.atan2(target.y - end.y, target.x - end.x);
  const size = 6 + width;
  const corner = (angle, length) => `${f(end.x + Math.cos(turn + angle) * length)} ${f(end.y + Math.sin(turn + angle) * length)}`;
  return `M${corner(0, 4)}L${corner(2.65, size)} ${corner(-2.65, size)}Z`;
}

function drawnEdge(automaton, edge, nodes, width, isWide) {
  const line = svg("path", { class: "line", d: curveOf(edge, isWide), "stroke-width": f(width) });
  const group = svg("g", { class: edge.probability > 0 ? "edge" : "edge impossible" }, line);
  group.append(svg("path", { class: "arrow", d: arrowOf(edge, nodes[edge.to], width) }));
  group.append(svg("title", {}, edgeText(automaton, edge)));
  return group;
}

function drawnLabel(edge) {
  const { lines, width, height, place } = edge.label;
  const group = svg("g", { class: "label", transform: `translate(${f(place.x)} ${f(place.y)})` });
  group.append(svg("rect", { x: f(-width / 2), y: f(-height / 2), width: f(width), height: f(height), rx: 5 }));
  lines.forEach((line, i) => {
    const y = f(-height / 2 + LABEL_LINE * (i + 0.5) + 2);
    const number = svg("tspan", { class: "number" }, ` ${line.number}`);
    const symbol = svg("tspan", { class: line.isMore ? "number" : "symbol" }, isolated(line.symbol));
    group.append(svg("text", { y, dy: "0.35em" }, symbol, number));
  });
  return group;
}

// A circle with the state's number; the ring around it is as full as words are likely to end there.
function drawnNode(automaton, node) {
  const { state, x, y, radius } = node;
  const ring = 2 * Math.PI * (radius + 4);
  const share = automaton.terminal[state];
  const group = svg("g", { class: "node", transform: `translate(${f(x)} ${f(y)})`, tabindex: -1, role: "button" });
  group.setAttribute("aria-label", nodeText(automaton, state));
  if (state === 0) group.append(svg("path", { class: "start", d: `M${-radius - 32} 0h20m-7 -5l9 5l-9 5` }));
  group.append(svg("circle", { class: "halo", r: radius + 8 }));
  group.append(svg("circle", { class: "disc", r: radius, "fill-opacity": f(0.25 + 0.75 * node.weight) }));
  if (share > 0)
    group.append(svg("circle", { class: "ending", r: radius + 4, "stroke-dasharray": `${f(Math.max(1.5, ring * share))} ${f(ring)}`, transform: "rotate(-90)" }));
  group.append(svg("text", { dy: "0.35em" }, String(automaton.numbers[state])));
  return group;
}

function nodeText(automaton, state) {
  const [step] = automaton.row(state);
  const likeliest = step ? `, likeliest symbol ${automaton.text(step.symbol)} ${numberText(step.probability)}` : "";
  const initial = state === 0 ? ", initial" : "";
  return `State ${automaton.numbers[state]}${initial}: ${numberText(automaton.visits[state])} visits, ends ${numberText(automaton.terminal[state])}${likeliest}`;
}

// Lays a graph out for some room and draws it; returns the picture and where everything is.
function drawn(automaton, graph, { isWide, mostInLayer }) {
  const places = new Map(graph.states.map((state, i) => [state, i]));
  const mostVisits = Math.max(...graph.states.map((state) => automaton.visits[state]), 1e-300);
  const nodes = graph.states.map((state) => ({
    state,
    weight: Math.sqrt(automaton.visits[state] / mostVisits),
    radius: Math.max(17, measure(String(automaton.numbers[state]), "13px sans-serif") / 2 + 8),
  }));
  const mostLines = graph.edges.length <= 26 ? 4 : 2;
  const edges = graph.edges.map((edge) => ({ ...edge, from: places.get(edge.source), to: places.get(edge.target), label: labelOf(automaton, edge, mostLines) }));
  const box = layOut(nodes, edges, { isWide, mostInLayer });
  const mostFlow = Math.max(...edges.map((edge) => edge.flow), 1e-300);
  const layer = svg("g", { class: "picture" });
  for (const edge of [...edges].reverse()) {
    edge.drawn = drawnEdge(automaton, edge, nodes, 1.2 + 4.8 * Math.sqrt(edge.flow / mostFlow), isWide);
    layer.append(edge.drawn);
  }
  for (const edge of edges) layer.append((edge.drawnLabel = drawnLabel(edge)));
  for (const node of nodes) layer.append((node.drawn = drawnNode(automaton, node)));
  return { layer, nodes, edges, box, graph };
}
