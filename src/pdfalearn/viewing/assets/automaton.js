// The panel of an automaton: picture, controls, a state's distribution, a word, and a table.

panels["automaton"] = (element, data, page) => new AutomatonPanel(element, data, page);

class AutomatonPanel {
  constructor(element, data, page) {
    Object.assign(this, { data, page });
    this.automaton = new Automaton(data);
    this.notation = new Notation(data);
    this.diagram = new Diagram(this.automaton, {
      looked: (state) => this.look(state),
      chosen: (state) => this.choose(state),
      changed: () => this.changed(),
    });
    this.stateCard = make("section", { class: "card state-card" });
    this.search = searchForm(this.automaton, this.notation, this.ways(), page);
    this.makeControls();
    this.table = make("div", {
      class: "wide",
      tabindex: 0,
      role: "region",
      "aria-label": "Table of the drawn transitions",
    });
    this.summary = make("summary", {}, "Table of the drawn transitions");
    this.details = make(
      "details",
      { class: "card", toggle: () => this.fillTable() },
      this.summary,
      this.table,
    );
    const picture = make(
      "div",
      { class: "picture-card card" },
      this.controls,
      this.search.message,
      this.diagram.canvas,
      this.elsewhere,
      make("div", { class: "below" }, this.caption, this.zoomButtons()),
      this.legend(),
    );
    element.append(make("p", { class: "quiet about" }, aboutText(this.automaton)));
    this.following = new Following(this.automaton, this.notation, page, {
      moved: (trail) => this.trail(trail),
    });
    element.append(
      make(
        "div",
        { class: "columns" },
        make("div", { class: "main-column" }, picture, this.details),
        make("div", { class: "side-column" }, this.following.element, this.stateCard),
      ),
    );
    this.diagram.showDefault();
    this.look(0);
    this.watchSize();
  }

  makeControls() {
    const { diagram } = this;
    const slider = (id, input) => make("input", { type: "range", id, min: 1, step: 1, input });
    const show = (states, least) => {
      this.isChosen = true;
      diagram.showCore(states, least);
    };
    this.stateSlider = slider(uniqueId("states"), () => show(Number(this.stateSlider.value), null));
    // To the right there are more arrows.
    this.edgeSlider = slider(uniqueId("edges"), () =>
      show(diagram.count, LEASTS[LEASTS.length - Number(this.edgeSlider.value)]),
    );
    this.edgeSlider.max = LEASTS.length;
    this.stateSlider.max = diagram.mostStates;
    this.stateLabel = make("label", { for: this.stateSlider.id });
    this.edgeLabel = make("label", { for: this.edgeSlider.id });
    this.backButton = make(
      "button",
      { type: "button", hidden: true, click: () => this.toCore() },
      "◀ Back to the core",
    );
    this.sliders = make(
      "div",
      { class: "sliders" },
      make("div", {}, this.stateLabel, this.stateSlider),
      make("div", {}, this.edgeLabel, this.edgeSlider),
    );
    this.controls = make(
      "div",
      { class: "controls" },
      this.sliders,
      this.backButton,
      this.search.form,
    );
    this.caption = make("p", { class: "quiet small caption" });
    this.elsewhere = make("p", { class: "message elsewhere", hidden: true });
  }

  zoomButtons() {
    const { camera } = this.diagram;
    const button = (text, name, click) =>
      make("button", { type: "button", "aria-label": name, title: name, click }, text);
    return make(
      "div",
      { class: "zoom" },
      button("+", "Zoom in", () => camera.zoom(1.25)),
      button("−", "Zoom out", () => camera.zoom(0.8)),
      button("⤢", "Fit into the frame", () => camera.fit()),
      button("SVG", "Save the picture as SVG", () => saveSvg(this.diagram)),
      button("PNG", "Save the picture as PNG", () => savePng(this.diagram)),
    );
  }

  legend() {
    const { beside } = this.automaton;
    const isChanged = beside?.names[0] === "A";
    return make(
      "p",
      { class: "quiet small" },
      beside && !isChanged ? "The flow and the figures on arrows are those of the recorded words. " : null,
      isChanged ? ["Arrows: ", make("span", { class: "key less" }, "less in B"), " ", make("span", { class: "key more" }, "more in B"), " by a test; the others are those of both together. "] : null,
      "A ring is as full as words are likely to end in the state; the darker a state and the wider an arrow, the more often words pass. Click on a state, or press Enter on it, for its neighbourhood. Drag to move; Ctrl or ⌘ with the wheel, two fingers, or the keys +, − and 0 zoom.",
    );
  }

  ways() {
    return {
      state: (place) => {
        this.choose(place);
        return `State ${this.automaton.numbers[place]} and its neighbourhood.`;
      },
      symbol: (symbol) => {
        const count = this.diagram.markSymbol(symbol);
        return `${this.automaton.text(symbol)} is on ${countText(count, "drawn arrow")} of ${this.diagram.drawing.edges.length}; ${symbolText(this.automaton, symbol)}`;
      },
      word: (word) => {
        this.following.follow(word);
        return (
          this.following.message.textContent ||
          `The word ends in state ${this.automaton.numbers[this.following.state]}.`
        );
      },
      outside: (name) =>
        `There is a ${name}, but it is not among the ${countText(this.automaton.size, "likeliest state")} that this page has.`,
      nothing: () => (this.diagram.markSymbol(null), ""),
    };
  }

  choose(state) {
    this.diagram.showAround(state);
    this.page.announce(nodeText(this.automaton, state));
  }

  toCore() {
    this.diagram.showCore(this.diagram.count, this.diagram.least);
    this.diagram.drawing.nodes[0].drawn.focus();
  }

  look(state) {
    const { automaton } = this;
    if (state === null) return;
    const { allVisits, visitedSymbols } = this.data;
    const share = percentText(automaton.visits[state] / allVisits);
    const where = visitedSymbols ? ` by the first ${countText(visitedSymbols, "symbol")}` : "";
    const visits = `Expected visits${where}: ${numberText(automaton.visits[state])}, ${share} of all`;
    this.stateCard.replaceChildren(
      make("h3", {}, `State ${automaton.numbers[state]}${state === 0 ? " (initial)" : ""}`),
      make("p", { class: "quiet small" }, `${visits}. `, make("span", { class: "access" }, "Access word: ", make("strong", {}, apart(accessText(automaton, this.notation, state))))),
      makeBars(automaton, state, null),
    );
  }

  trail(trail) {
    if (this.diagram.drawing) {
      this.diagram.follow(trail);
      this.look(trail.at(-1));
      this.tellElsewhere();
    }
  }

  // A word may lead to where the picture does not.
  tellElsewhere() {
    const { trail, drawing } = this.diagram;
    const state = trail.at(-1);
    const isDrawn = state === undefined || drawing.nodes.some((node) => node.state === state);
    this.elsewhere.hidden = isDrawn;
    if (isDrawn) return;
    const name = `state ${this.automaton.numbers[state]}`;
    this.elsewhere.replaceChildren(
      `The word is in ${name}, which is not drawn here. `,
      make("button", { type: "button", click: () => this.choose(state) }, `Show ${name}`),
    );
  }

  changed() {
    const { automaton, diagram } = this;
    const { graph } = diagram.drawing;
    const isCore = diagram.focusState === null;
    this.stateSlider.value = diagram.count;
    const tell = (slider, label, count, rest) => {
      label.replaceChildren(make("strong", {}, count), " ", make("span", { class: "quiet" }, rest));
      slider.setAttribute("aria-valuetext", label.textContent);
    };
    tell(this.stateSlider, this.stateLabel, `${diagram.count} of ${countText(this.data.states, "state")}`, `with ${percentText(automaton.shares[diagram.count])} of the visits`);
    this.stateSlider.disabled = diagram.mostStates === 1;
    if (isCore) this.edgeSlider.value = LEASTS.length - LEASTS.indexOf(graph.least);
    const isCut = graph.states.some((state) => automaton.leftOut[state]);
    const flow = `${percentText(graph.flowShare)} of the flow${isCut ? " on this page" : ""}`;
    const least = graph.least ? `from ${String(graph.least).replace("0.000001", "1e-6")} on: ` : "with ";
    tell(this.edgeSlider, this.edgeLabel, `${graph.edges.length} of ${countText(graph.edgesInAll, "arrow")}`, least + flow);
    this.sliders.hidden = !isCore;
    this.backButton.hidden = isCore;
    this.caption.textContent = captionText(automaton, diagram);
    this.tellElsewhere();
    this.fillTable();
  }

  fillTable() {
    if (!this.details.open) return;
    const { automaton } = this;
    const row = (cells, tag = "td") =>
      make(
        "tr",
        {},
        cells.map((cell) =>
          make(tag, tag === "th" ? { scope: "col" } : {}, make("bdi", {}, String(cell))),
        ),
      );
    const lines = this.diagram.drawing.edges.flatMap((edge) =>
      edge.steps.map((step) =>
        row([
          automaton.numbers[edge.source],
          automaton.text(step.symbol),
          numberText(step.probability, 6),
          automaton.numbers[edge.target],
        ]),
      ),
    );
    this.table.replaceChildren(
      make(
        "table",
        {},
        make("thead", {}, row(["from", "symbol", "probability", "to"], "th")),
        make("tbody", {}, lines),
      ),
    );
  }

  // A new width lays out again: wide pictures go from left to right, tall ones from top to bottom. What
  // somebody chose to see stays.
  watchSize() {
    let last = this.diagram.room;
    const observer = new ResizeObserver(() => {
      if (!this.diagram.canvas.isConnected) return observer.disconnect();
      const { width, height } = this.diagram.room;
      const isOther = width >= 560 !== last.width >= 560;
      if (isOther && this.diagram.focusState === null && !this.isChosen) this.diagram.showDefault();
      else if (isOther) this.diagram.redraw();
      else if (width !== last.width || height !== last.height) {
        this.diagram.camera.fit();
        this.changed();
      }
      last = { width, height };
    });
    observer.observe(this.diagram.canvas);
  }
}
