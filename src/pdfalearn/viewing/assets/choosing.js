// What of an automaton is drawn, by the same rules as for pictures: states come in the order in which they
// are chosen, and all transitions between two of them are one edge.

// The least probabilities of an edge to choose from; 0 shows everything, what is impossible, too.
const LEASTS = [0, 1e-6, 0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5];
const NEGLIGIBLE = LEASTS[1];
const MOST_CHANGES = 12; // Of more changes the largest are drawn in any case.
const edgesFor = (count) => Math.max(40, Math.round(2.5 * count));

// Merges all transitions between some states, the heaviest flow first.
function mergedEdges(automaton, states) {
  const edges = new Map();
  for (const source of states)
    for (const step of automaton.row(source)) {
      if (!states.has(step.target)) continue;
      const key = source * automaton.size + step.target;
      if (!edges.has(key))
        edges.set(key, { source, target: step.target, steps: [], flow: 0, probability: 0 });
      const edge = edges.get(key);
      edge.steps.push(step);
      edge.flow += step.probability * automaton.visits[source];
      edge.probability += step.probability;
    }
  return [...edges.values()].sort(
    (one, other) => other.flow - one.flow || other.probability - one.probability,
  );
}

function bySource(edges) {
  const found = new Map();
  for (const edge of edges) found.set(edge.source, [...(found.get(edge.source) ?? []), edge]);
  return found;
}

// The edges of a tree of likeliest ways from a state, by Dijkstra's algorithm; shorter ways go first.
function likeliestWays(edges, start) {
  const cost = new Map([[start, 0]]);
  const last = new Map();
  const waiting = new Set([start]);
  const from = bySource(edges);
  while (waiting.size) {
    const here = [...waiting].reduce((one, other) => (cost.get(other) < cost.get(one) ? other : one));
    waiting.delete(here);
    for (const edge of from.get(here) ?? []) {
      const next = cost.get(here) + 1e-9 - Math.log(Math.min(edge.probability, 1));
      if (next >= (cost.get(edge.target) ?? Infinity)) continue;
      cost.set(edge.target, next);
      last.set(edge.target, edge);
      waiting.add(edge.target);
    }
  }
  return last.values();
}

// Edges that no picture does without: the likeliest from each state, from each to another one, and to each.
function chiefEdges(edges, start) {
  const likeliest = (some) =>
    [...bySource(some).values()].map((own) =>
      own.reduce((one, other) => (other.probability > one.probability ? other : one)),
    );
  const away = edges.filter((edge) => edge.source !== edge.target);
  const out = [...likeliest(edges), ...likeliest(away)].filter((edge) => edge.probability >= NEGLIGIBLE);
  return new Set([...out, ...likeliestWays(edges, start)]);
}

// Chooses of all edges those of some probability and the chief ones; `way` has pairs "source target" that
// are drawn in any case. Without a least probability it is one with which the picture can be read.
function keptEdges(edges, least, start, way) {
  const isOnWay = (edge) => way.has(`${edge.source} ${edge.target}`);
  if (least === 0) return { kept: edges, least };
  const possible = edges.filter((edge) => edge.probability > 0);
  const chief = chiefEdges(possible, start);
  const keep = (limit) => possible.filter((edge) => edge.probability >= limit || chief.has(edge));
  const fits = (limit) => keep(limit).length <= edgesFor(new Set(edges.map((e) => e.source)).size);
  const limit = least ?? LEASTS.slice(1).find(fits) ?? LEASTS.at(-1);
  const kept = new Set(keep(limit));
  return { kept: edges.filter((edge) => kept.has(edge) || isOnWay(edge)), least: limit };
}

// A graph to draw: states, edges, the least probability, and how much of the flow is drawn.
function chosenGraph(automaton, states, wanted, way) {
  const all = mergedEdges(automaton, new Set(states));
  const { kept, least } = keptEdges(all, wanted, states[0], way);
  const flow = (list) => list.reduce((sum, edge) => sum + edge.flow, 0);
  const whole = flow(all);
  const flowShare = whole > 0 ? flow(kept) / whole : 1;
  return { states, edges: kept, edgesInAll: all.length, least, flowShare };
}

// What has changed most between two corpora, each as the states from the initial one to the transition's ends.
function changedPaths(automaton) {
  const steps = automaton.beside ? [...Array(automaton.size).keys()].flatMap((state) =>
    [{ ...automaton.endAt(state), target: state }, ...automaton.row(state)]
      .filter(({ sign, target }) => sign && target >= 0)
      .map((step) => ({ ...step, state, size: automaton.visits[state] * Math.abs(step.both[0] - step.both[1]) }))) : [];
  const largest = steps.sort((one, other) => other.size - one.size).slice(0, MOST_CHANGES);
  return largest.map(({ state, target }) => [...(accessPath(automaton, state) ?? [state]), target]);
}

// The states after and before a state, the heaviest first.
function neighbours(automaton, state) {
  const targets = automaton.row(state).map((step) => step.target);
  return {
    after: targets.filter((target) => target >= 0),
    before: automaton.sources(state).map(([source]) => source),
    outside: targets.filter((target) => target < 0).length,
  };
}

// A state with those before and after it, the heaviest first.
function neighbourhood(automaton, state, most = 16) {
  const { after, before } = neighbours(automaton, state);
  const found = new Set([state]);
  for (let i = 0; i < Math.max(after.length, before.length) && found.size < most; i++)
    for (const other of [after[i], before[i]])
      if (other !== undefined && found.size < most) found.add(other);
  return [...found].sort((one, other) => one - other);
}
