// The automaton of a page: typed arrays out of base 64, and questions to them.

function decoded(text, kind) {
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  return new kind(bytes.buffer);
}

class Automaton {
  constructor(data) {
    this.data = data;
    this.numbers = decoded(data.numbers, Int32Array);
    this.visits = decoded(data.visits, Float64Array);
    this.terminal = decoded(data.terminal, Float64Array);
    this.leftOut = decoded(data.leftOut, Int32Array);
    this.symbols = decoded(data.symbols, Int32Array);
    this.targets = decoded(data.targets, Int32Array);
    this.probabilities = decoded(data.probabilities, Float64Array);
    this.size = this.numbers.length;
    this.beside = data.beside && {
      names: data.beside.names,
      terminal: data.beside.terminal.map((text) => decoded(text, Float64Array)),
      probabilities: data.beside.probabilities.map((text) => decoded(text, Float64Array)),
      endSigns: decoded(data.beside.endSigns, Int8Array),
      signs: decoded(data.beside.signs, Int8Array),
    };
    this.rows = new Map();
    this.offsets = new Int32Array(this.size + 1);
    decoded(data.counts, Int32Array).forEach(
      (count, i) => (this.offsets[i + 1] = this.offsets[i] + count),
    );
    this.places = new Map(Array.from(this.numbers, (number, place) => [number, place]));
    this.shares = new Float64Array(this.size + 1); // shares[n] is what the first n states carry of all visits
    this.visits.forEach(
      (visits, i) => (this.shares[i + 1] = this.shares[i] + visits / data.allVisits),
    );
  }

  get isWhole() {
    return this.size === this.data.states;
  }

  // Whether the page has all symbols: those without any transition here are left out.
  get hasAllSymbols() {
    return this.data.texts.length === this.data.alphabet;
  }

  text(symbol) {
    return this.data.texts[symbol];
  }

  // The text without what all long ones have in common.
  short(symbol) {
    return this.data.shorts[symbol];
  }

  // The transitions of a state, the likeliest first.
  row(state) {
    if (!this.rows.has(state)) this.rows.set(state, this.sortedRow(state));
    return this.rows.get(state);
  }

  sortedRow(state) {
    const row = [];
    for (let i = this.offsets[state]; i < this.offsets[state + 1]; i++) row.push(this.stepAt(i));
    return row.sort((one, other) => other.probability - one.probability);
  }

  // A transition by its place; beside others it has both probabilities, and a sign if it has changed.
  stepAt(i) {
    const step = { symbol: this.symbols[i], target: this.targets[i], probability: this.probabilities[i] };
    if (!this.beside) return step;
    const both = this.beside.probabilities.map((values) => values[i]);
    return { ...step, both, sign: this.beside.signs[i] };
  }

  // The end of a word in a state, as a step.
  endAt(state) {
    const step = { probability: this.terminal[state] };
    if (!this.beside) return step;
    return { ...step, both: this.beside.terminal.map((values) => values[state]), sign: this.beside.endSigns[state] };
  }

  // The transition of a state with a symbol; undefined if the page has none.
  step(state, symbol) {
    for (let i = this.offsets[state]; i < this.offsets[state + 1]; i++)
      if (this.symbols[i] === symbol) return this.stepAt(i);
    return undefined;
  }

  undefinedCount(state) {
    return (
      this.data.alphabet - (this.offsets[state + 1] - this.offsets[state]) - this.leftOut[state]
    );
  }

  // Transitions into a state as [source, flow], the heaviest first; found once for all states.
  sources(state) {
    if (!this.incoming) {
      this.incoming = Array.from({ length: this.size }, () => new Map());
      for (let source = 0; source < this.size; source++)
        for (let i = this.offsets[source]; i < this.offsets[source + 1]; i++)
          if (this.targets[i] >= 0) {
            const flows = this.incoming[this.targets[i]];
            const flow = this.visits[source] * this.probabilities[i];
            flows.set(source, (flows.get(source) ?? 0) + flow);
          }
    }
    return [...this.incoming[state]].sort((one, other) => other[1] - one[1]);
  }
}
