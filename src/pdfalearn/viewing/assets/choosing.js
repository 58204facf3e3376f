// What of an automaton is drawn: some states, and the merged transitions that carry most between them.

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

// Edges that join as many states as can be joined, each the heaviest that leads from those before it.
function joiningEdges(edges, start) {
  const joining = [];
  const reached = new Set([start]);
  for (;;) {
    const isNew = (edge) => !reached.has(edge.target) && edge.source !== edge.target;
    const next = edges.find((edge) => reached.has(edge.source) && isNew(edge)) ?? edges.find(isNew);
    if (!next) return joining;
    reached.add(next.source).add(next.target);
    joining.push(next);
  }
}

// Keeps the heaviest edges, and those that join the states.
function keptEdges(edges, count, start) {
  const kept = new Set(joiningEdges(edges, start));
  for (const edge of edges) {
    if (kept.size >= count) break;
    kept.add(edge);
  }
  return edges.filter((edge) => kept.has(edge));
}

// A graph to draw: states by rank of visits, edges, and how much of the flow is drawn.
function chosenGraph(automaton, states, edgeCount) {
  const all = mergedEdges(automaton, new Set(states));
  const edges = keptEdges(all, edgeCount, states[0]);
  const flow = (list) => list.reduce((sum, edge) => sum + edge.flow, 0);
  const whole = flow(all);
  return { states, edges, edgesInAll: all.length, flowShare: whole > 0 ? flow(edges) / whole : 1 };
}

// The likeliest states, and those on a shortest way from the initial state to one of them.
function coreStates(automaton, count) {
  const core = Array.from({ length: Math.min(count, automaton.size) }, (_, place) => place);
  return [...core, ...statesBetween(automaton, core.length)];
}

function statesBetween(automaton, count) {
  const before = new Map([[0, -1]]);
  for (const state of before.keys())
    for (const { target, probability } of automaton.row(state)) {
      if (target < 0 || probability === 0 || before.has(target)) continue;
      before.set(target, state);
      if (target < count) return wayTo(before, state);
    }
  return [];
}

function wayTo(before, end) {
  const way = [];
  for (let state = end; state > 0; state = before.get(state)) way.unshift(state);
  return way;
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
