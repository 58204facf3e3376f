// Random numbers from a seed, and words drawn with them.

// A generator of numbers in [0, 1): a counter whose bits are mixed well.
function seeded(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 4294967296;
  };
}

// Draws how a word goes on: a transition, null if it ends, undefined if it leaves what the page has.
function drawnStep(automaton, state, random) {
  let rest = random() - automaton.terminal[state];
  if (rest < 0) return null;
  const possible = automaton.row(state).filter((step) => step.probability > 0);
  for (const step of possible) {
    rest -= step.probability;
    if (rest < 0) return step;
  }
  return automaton.leftOut[state] ? undefined : (possible.at(-1) ?? null);
}
