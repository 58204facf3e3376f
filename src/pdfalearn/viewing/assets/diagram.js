// The picture of an automaton that can be asked: choosing what is drawn, keys, hovering, marking a word.

const MOST_DRAWN = 150;
const COUNTS = [40, 32, 26, 21, 17, 14, 12, 10, 8, 7, 6, 5, 4, 3, 2, 1];

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
  }

  get room() {
    const { width, height } = this.canvas.getBoundingClientRect();
    return { width: width || 800, height: height || 560 };
  }

  // Wide pictures go from left to right, others from top to bottom; large ones have larger layers.
  shapeFor(count) {
    const { width, height } = this.room;
    const isWide = width >= 560;
    const inFrame = Math.floor((isWide ? height : width) / 70);
    return { isWide, mostInLayer: Math.max(2, inFrame, Math.ceil(1.2 * Math.sqrt(count))) };
  }

  get mostStates() {
    return Math.min(this.automaton.size, MOST_DRAWN);
  }

  edgesFor(count) {
    return Math.ceil(1.6 * count) + 1;
  }

  // The most states that are readable without zooming; all that words visit if they are.
  showDefault() {
    const visited = Math.max(
      1,
      this.automaton.visits.findIndex((visits) => visits === 0),
    );
    const most = this.automaton.visits.at(-1) > 0 ? this.automaton.size : visited;
    const counts = [
      ...new Set([Math.min(most, COUNTS[0]), ...COUNTS.filter((count) => count < most)]),
    ];
    const generous = counts
      .filter((count) => count >= 8 || count === most)
      .flatMap((count) => [
        [count, count <= 12 ? 40 : 0],
        [count, 0],
      ]);
    const sparse = counts.map((count) => [count, -count]);
    const found = [...generous, ...sparse].find(([count, extra]) =>
      this.isReadable(count, this.edgesFor(count) + extra),
    );
    if (!found) this.isReadable(1, 1);
    this.present();
  }

  // Draws, and returns whether labels can be read without zooming.
  isReadable(count, edges) {
    this.drawing = this.draw(coreStates(this.automaton, count), edges);
    [this.count, this.edgeCount] = [count, edges];
    const { width, height } = this.room;
    return fitScale(this.drawing.box, width, height) >= (width >= 560 ? 0.82 : 0.7);
  }

  draw(states, edges) {
    return drawn(
      this.automaton,
      chosenGraph(this.automaton, states, edges),
      this.shapeFor(states.length),
    );
  }

  showCore(count, edges) {
    [this.count, this.edgeCount, this.focusState] = [count, edges, null];
    this.drawing = this.draw(coreStates(this.automaton, count), edges);
    this.present();
  }

  showAround(state) {
    this.focusState = state;
    const states = neighbourhood(this.automaton, state);
    this.drawing = this.draw(states, Math.max(40, this.edgesFor(states.length)));
    this.present();
    this.look(state, true);
  }

  redraw() {
    if (this.focusState === null) this.showCore(this.count, this.edgeCount);
    else this.showAround(this.focusState);
  }

  present() {
    const { layer, box, nodes } = this.drawing;
    this.canvas.replaceChildren(layer);
    this.camera.show(layer, box);
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

  // Marks the states and edges of a followed word: a list of states.
  mark(trail) {
    this.trail = trail;
    const pairs = new Set(trail.slice(1).map((state, i) => `${trail[i]} ${state}`));
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
