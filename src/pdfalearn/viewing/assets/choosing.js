"use strict";
// What of an automaton is drawn: some states, and the merged transitions that carry most between them.

// Merges all transitions between some states, the heaviest flow first.
function mergedEdges(automaton, states) {
  const edges = new Map();
  for (const source of states)
    for (const step of automaton.row(source)) {
      if (!states.has(step.target)) continue;
      const key = source * automaton.size + step.target;
      if (!edges.has(key)) edges.set(key, { source, target: step.target, steps: [], flow: 0, probability: 0 });
      const edge = edges.get(key);
      edge.steps.push(step);
      edge.flow += step.probability * automaton.visits[source];
      edge.probability += step.probability;
    }
  return [...edges.values()].sort((one, other) => other.flow - one.flow || other.probability - one.probability);
}

// Keeps the heaviest edges, and of each state the heaviest one into it.
function keptEdges(edges, count) {
  const reached = new Set();
  const ways = edges.filter((edge) => {
    if (edge.source === edge.target || reached.has(edge.target)) return false;
    reached.add(edge.target);
    return true;
  });
  const kept = new Set(ways);
  for (const edge of edges) {
    if (kept.size >= count) break;
    kept.add(edge);
  }
  return edges.filter((edge) => kept.has(edge));
}

// A graph to draw: states by rank of visits, edges, and how much of the flow is drawn.
function chosenGraph(automaton, states, edgeCount) {
  const all = mergedEdges(automaton, new Set(states));
  const edges = keptEdges(all, edgeCount);
  const flow = (list) => list.reduce((sum, edge) => sum + edge.flow, 0);
  const whole = flow(all);
  return { states, edges, edgesInAll: all.length, flowShare: whole > 0 ? flow(edges) / whole : 1 };
}

const coreStates = (automaton, count) => Array.from({ length: Math.min(count, automaton.size) }, (_, place) => place);

// A state with those before and after it, the heaviest first.
function neighbourhood(automaton, state, most = 16) {
  const after = automaton.row(state).filter((step) => step.target >= 0).map((step) => step.target);
  const before = automaton.sources(state).map(([source]) => source);
  const found = new Set([state]);
  for (let i = 0; i < Math.max(after.length, before.length) && found.size < most; i++)
    for (const other of [after[i], before[i]]) if (other !== undefined && found.size < most) found.add(other);
  return [...found].sort((one, other) => one - other);
}
