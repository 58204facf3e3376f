// What is said of an automaton, of its picture and of a symbol.

function aboutText(automaton) {
  const { data } = automaton;
  const parts = [];
  if (!automaton.isWhole)
    parts.push(
      `${countText(data.states, "state")}; the page has ${automaton.size.toLocaleString("en")} ` +
        `that carry ${percentText(automaton.shares[automaton.size])} of the visits.`,
    );
  else parts.push(`${countText(data.states, "state")}, ${countText(data.alphabet, "symbol")}.`);
  if (data.visitedSymbols)
    parts.push(
      `Visits are those of the first ${countText(data.visitedSymbols, "symbol")} of a word, ` +
        "as words may be longer or never end.",
    );
  else parts.push(`A word visits ${numberText(data.allVisits)} states on average.`);
  return [...parts, ...unvisitedTexts(data)].join(" ");
}

function unvisitedTexts({ unvisited, unreached, visitedSymbols }) {
  const states = (count) => countText(count, "state is", "states are");
  const rare = unvisited - unreached;
  const rarely = visitedSymbols ? "not visited by these" : "visited by less than one word in a billion";
  return [
    ...(unreached ? [`${states(unreached)} never visited.`] : []),
    ...(rare ? [`${states(rare)} ${rarely}.`] : []),
  ];
}

function hiddenTexts(graph) {
  const hidden = graph.edgesInAll - graph.edges.length;
  const verb = hidden === 1 ? "is" : "are";
  return hidden ? [`${countText(hidden, "arrow")} between these states ${verb} not drawn`] : [];
}

function focusText(automaton, state, graph) {
  const { after, before, outside } = neighbours(automaton, state);
  const near = new Set([...after, ...before].filter((other) => other !== state)).size;
  const parts = [
    `The neighbourhood of state ${automaton.numbers[state]}: ${graph.states.length - 1} of ` +
      countText(near, "state next to it", "states next to it"),
    ...hiddenTexts(graph),
  ];
  if (outside)
    parts.push(`${countText(outside, "transition leads", "transitions lead")} to what this page leaves out`);
  return `${parts.join("; ")}.`;
}

function captionText(automaton, diagram) {
  const { graph } = diagram.drawing;
  if (diagram.focusState !== null) return focusText(automaton, diagram.focusState, graph);
  const beyond = automaton.data.states - graph.states.length;
  const parts = [];
  const added = graph.states.length - diagram.count;
  const why = automaton.beside ? "of the word or with changes" : "of the word";
  if (added > 0) parts.push(`${countText(added, "state")} ${why} ${added === 1 ? "is" : "are"} added`);
  parts.push(...hiddenTexts(graph));
  if (beyond) parts.push(`${countText(beyond, "state")} ${beyond === 1 ? "is" : "are"} not drawn`);
  const unknown = graph.states.reduce((sum, state) => sum + automaton.leftOut[state], 0);
  if (unknown)
    parts.push(
      `${countText(unknown, "transition")} of the least likely symbols ${unknown === 1 ? "is" : "are"} not on this page`,
    );
  if (diagram.drawing.isDense) parts.push("labels show when you point at a state or an arrow");
  else if (diagram.camera.scale < 0.45)
    parts.push("labels show when you zoom in or point at a state");
  return parts.length ? `${parts.join("; ")}.` : "Everything is drawn.";
}

function symbolText(automaton, symbol) {
  let [count, best, most] = [0, -1, -1];
  for (let state = 0; state < automaton.size; state++) {
    const step = automaton.step(state, symbol);
    if (!step) continue;
    count++;
    const flow = automaton.visits[state] * step.probability;
    if (flow > most) [best, most] = [state, flow];
  }
  return best < 0
    ? "no state of this page can read it."
    : `${countText(count, "state")} of this page can read it, ` +
        `most often state ${automaton.numbers[best]}.`;
}

// A shortest word to a state, by transitions that are not as good as impossible.
function accessText(automaton, notation, state) {
  const path = accessPath(automaton, state);
  if (!path) return "none on this page";
  const word = path.slice(1).map((at) => automaton.ways.get(at).symbol);
  const cut = word.length > 40 ? ` (${word.length} symbols)` : "";
  return word.length ? elided(notation.shown(word), 80) + cut : "(the empty word)";
}

// The states of a shortest word to a state, from the initial one on; undefined if there is none.
function accessPath(automaton, state) {
  automaton.ways ??= accessWays(automaton);
  if (!automaton.ways.has(state)) return undefined;
  const path = [state];
  while (path[0]) path.unshift(automaton.ways.get(path[0]).source);
  return path;
}

// Breadth first: from which state, with which symbol, each other one is reached.
function accessWays(automaton) {
  const ways = new Map([[0, null]]);
  for (const source of ways.keys())
    for (const { symbol, target, probability } of automaton.row(source))
      if (target >= 0 && probability >= NEGLIGIBLE && !ways.has(target)) ways.set(target, { source, symbol });
  return ways;
}
