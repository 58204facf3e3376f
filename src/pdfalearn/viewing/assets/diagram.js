// The picture of an automaton that can be asked: choosing what is drawn, keys, hovering, marking a word.

const MOST_DRAWN = 150;
const MOST_FOLLOWED = 60; // Of a longer word the last states are added to the picture.
const TALLEST = 860; // The frame grows up to this many pixels.
const FEWER = [0.02, 0.1]; // Least probabilities to try where there are too many edges.
const COUNTS = [40, 30, 24, 19, 15, 12, 10, 8, 7, 6, 5, 4, 3, 2, 1];

// The pairs of states that a word passes.
const pairsOf = (trail) => new Set(trail.slice(1).map((state, i) => `${trail[i]} ${state}`));

class Diagram {
  // `told` has functions: looked(state or null), chosen(state), changed().
  constructor(automaton, told) {
    [this.automaton, this.told] = [automaton, told];
    this.canvas = svg("svg", {
      class: "canvas",
      role: "group",
      "aria-label":
        "Picture of the automaton. Arrow keys go from state to state, Enter shows a neighbourhood.",
    });
    this.camera = new Camera(this.canvas);
    this.canvas.addEventListener("keydown", (event) => this.pressed(event));
    this.focusState = null;
    this.trail = [];
    this.changes = changedPaths(automaton);
  }

  get room() {
    const { width, height } = this.canvas.getBoundingClientRect();
    return { width: width || 800, height: height || 560 };
  }

  // Pictures go from left to right or from top to bottom; large ones have larger layers. In narrow frames
  // long names may need smaller ones.
  shapesFor(count) {
    const { width, height } = this.room;
    const shape = (isWide) => {
      const inFrame = Math.floor((isWide ? height : width) / 70);
      return { isWide, mostInLayer: Math.max(2, inFrame, Math.ceil(1.2 * Math.sqrt(count))) };
    };
    if (width >= 560) return [shape(true), shape(false)];
    return [shape(false), ...(count > 12 ? [] : [{ isWide: false, mostInLayer: 2 }, { isWide: false, mostInLayer: 1 }])];
  }

  get mostStates() {
    return Math.min(this.automaton.size, MOST_DRAWN);
  }

  // As many states as pictures have, or the most that are readable without zooming with few edges, by
  // halves; then as many edges as are readable with these.
  showDefault() {
    const most = Math.min(this.automaton.data.drawn, this.mostStates);
    const counts = [most, ...COUNTS.filter((count) => count < most)];
    let [low, high] = [0, counts.length - 1];
    while (low < high) {
      const half = (low + high) >> 1;
      if (this.isReadable(counts[half], FEWER.at(-1))) high = half;
      else low = half + 1;
    }
    if (![null, ...FEWER].some((least) => this.isReadable(counts[low], least)))
      this.isReadable(counts[low], LEASTS.at(-1));
    this.present(drawn(this.automaton, this.laid));
  }

  // Lays out, and returns whether labels can be read without zooming.
  isReadable(count, least) {
    [this.count, this.least] = [count, least];
    this.laid = this.layOut(this.coreStates(count), least);
    return this.scaleOf(this.laid) >= this.readableScale;
  }

  get readableScale() {
    return this.room.width >= 560 ? 0.75 : 0.58;
  }

  // The scale of a picture in a frame that may grow to the bottom.
  scaleOf({ box }) {
    return fitScale(box, this.room.width, TALLEST);
  }

  draw(states, least) {
    return drawn(this.automaton, this.layOut(states, least));
  }

  // The first states, those that have changed, and those of a followed word.
  coreStates(count, followed = []) {
    const first = Array(Math.min(count, this.automaton.size)).keys();
    return [...new Set([...first, ...this.changes.flat(), ...followed])];
  }

  // Lays out states, and of a word that is followed all that is between them; what has changed, too.
  layOut(states, least) {
    const way = new Set([...pairsOf(this.trail), ...this.changes.flatMap((path) => [...pairsOf(path)])]);
    const graph = chosenGraph(this.automaton, states, least, way);
    const readable = this.readableScale;
    return this.shapesFor(states.length)
      .map((shape) => laidOut(this.automaton, graph, shape))
      .reduce((one, other) => {
        const [first, second] = [this.scaleOf(one), this.scaleOf(other)];
        return first >= readable || first >= second ? one : other;
      });
  }

  showCore(count, least) {
    [this.count, this.least, this.focusState] = [count, least, null];
    const followed = [...new Set(this.trail)].slice(-MOST_FOLLOWED);
    this.present(this.draw(this.coreStates(count, followed), least));
  }

  showAround(state) {
    this.focusState = state;
    this.present(this.draw(neighbourhood(this.automaton, state), null));
    this.look(state, true);
  }

  redraw() {
    if (this.focusState === null) this.showCore(this.count, this.least);
    else this.showAround(this.focusState);
  }

  present(drawing) {
    const before = this.drawing && wantsMotion() ? standingStates(this.drawing) : null;
    this.drawing = drawing;
    const { layer, box, nodes } = drawing;
    this.canvas.replaceChildren(layer);
    this.canvas.style.height = "";
    const wanted = Math.min(TALLEST, box.height * Math.min(1, this.scaleOf(this.drawing)) + 24);
    if (wanted > this.room.height) this.canvas.style.height = `${Math.ceil(wanted)}px`;
    this.camera.show(layer, box);
    if (before) moveStates(drawing, before, this.camera);
    for (const node of nodes) this.listenTo(node);
    for (const edge of this.drawing.edges) this.listenToEdge(edge);
    nodes[0].drawn.setAttribute("tabindex", 0);
    this.drawing.nodes.forEach(
      (node) => node.state === this.focusState && node.drawn.classList.add("centre"),
    );
    this.mark(this.trail);
    this.told.changed();
  }

  listenTo(node) {
    let pressedAt = null;
    node.drawn.addEventListener(
      "pointerdown",
      (event) => (pressedAt = [event.clientX, event.clientY]),
    );
    node.drawn.addEventListener("click", (event) => {
      const moved = pressedAt
        ? Math.hypot(event.clientX - pressedAt[0], event.clientY - pressedAt[1])
        : 0;
      if (moved < 6) this.told.chosen(node.state);
    });
    node.drawn.addEventListener("pointerenter", () => this.look(node.state));
    node.drawn.addEventListener("focus", () => {
      this.drawing.nodes.forEach((other) =>
        other.drawn.setAttribute("tabindex", other === node ? 0 : -1),
      );
      this.camera.reveal(node);
      this.look(node.state);
    });
  }

  listenToEdge(edge) {
    const set = (isOn) =>
      [edge.drawn, edge.drawnLabel].forEach((part) => part.classList.toggle("hovered", isOn));
    for (const part of [edge.drawn, edge.drawnLabel]) {
      part.addEventListener("pointerenter", () => set(true));
      part.addEventListener("pointerleave", () => set(false));
    }
  }

  // Shows a state's distribution, and which edges are its own.
  look(state, isFocused = false) {
    for (const node of this.drawing.nodes)
      node.drawn.classList.toggle("looked-at", node.state === state);
    for (const edge of this.drawing.edges)
      for (const part of [edge.drawn, edge.drawnLabel])
        part.classList.toggle("near", edge.source === state);
    if (isFocused) this.drawing.nodes.find((node) => node.state === state)?.drawn.focus();
    this.told.looked(state);
  }

  pressed(event) {
    const turns = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };
    const node = this.drawing.nodes.find((one) => one.drawn === event.target);
    if (node && event.key in turns) this.next(node, turns[event.key])?.drawn.focus();
    else if (node && (event.key === "Enter" || event.key === " ")) this.told.chosen(node.state);
    else if (event.key === "+" || event.key === "=") this.camera.zoom(1.25);
    else if (event.key === "-") this.camera.zoom(0.8);
    else if (event.key === "0") this.camera.fit();
    else return;
    event.preventDefault();
  }

  // The nearest state in a direction; what is aside counts three times.
  next(from, [right, down]) {
    let [best, least] = [null, Infinity];
    for (const node of this.drawing.nodes) {
      const [x, y] = [node.x - from.x, node.y - from.y];
      const ahead = x * right + y * down;
      const cost = ahead + 3 * Math.abs(x * down + y * right);
      if (ahead > 1 && cost < least) [best, least] = [node, cost];
    }
    return best;
  }

  // Marks a followed word, a list of states, and draws what of it is not there yet.
  follow(trail) {
    this.trail = trail;
    const pairs = new Set(this.drawing.edges.map((edge) => `${edge.source} ${edge.target}`));
    const isMissing = ![...pairsOf(trail.slice(-MOST_FOLLOWED))].every((pair) => pairs.has(pair));
    if (isMissing && this.focusState === null) this.showCore(this.count, this.least);
    else this.mark(trail);
  }

  mark(trail) {
    const pairs = pairsOf(trail);
    const states = new Set(trail);
    for (const node of this.drawing.nodes) {
      node.drawn.classList.toggle("followed", states.has(node.state));
      node.drawn.classList.toggle("here", trail.length > 0 && trail.at(-1) === node.state);
    }
    for (const edge of this.drawing.edges)
      for (const part of [edge.drawn, edge.drawnLabel])
        part.classList.toggle("followed", pairs.has(`${edge.source} ${edge.target}`));
  }

  // Marks the edges with a symbol; returns how many there are.
  markSymbol(symbol) {
    let count = 0;
    for (const edge of this.drawing.edges) {
      const has = symbol !== null && edge.steps.some((step) => step.symbol === symbol);
      count += has;
      for (const part of [edge.drawn, edge.drawnLabel]) part.classList.toggle("found", has);
    }
    return count;
  }
}
