// A word followed step by step: typed, drawn, clicked together or taken from the likeliest ones.

const LONGEST_DRAWN = 500;

class Following {
  // `told.moved(trail)` is called with the states that the word passes up to where one looks.
  constructor(automaton, notation, page, told) {
    Object.assign(this, { automaton, notation, page, told });
    this.random = seeded(1);
    this.field = make("input", {
      type: "text",
      id: uniqueId("word"),
      spellcheck: "false",
      autocomplete: "off",
      autocapitalize: "off",
      placeholder: notation.joined ? "symbols side by side" : "symbols with blanks between",
    });
    this.message = make("p", { class: "message", hidden: true });
    this.chips = make("ol", { class: "chips", "aria-label": "The word, symbol by symbol" });
    this.facts = make("p", { class: "facts" });
    this.bars = make("div", {});
    this.back = make(
      "button",
      {
        type: "button",
        "aria-label": "Back",
        title: "One symbol back",
        click: () => this.go(this.place - 1),
      },
      "◀",
    );
    this.forth = make(
      "button",
      {
        type: "button",
        "aria-label": "Next",
        title: "One symbol on",
        click: () => this.go(this.place + 1),
      },
      "▶",
    );
    this.element = this.card();
    this.follow([]);
  }

  card() {
    const typed = (event) => {
      event.preventDefault();
      this.followLine(this.field.value);
    };
    const form = make(
      "form",
      { class: "row", submit: typed },
      make("label", { class: "unseen", for: this.field.id }, "Word to follow"),
      this.field,
      make("button", { class: "chief" }, "Follow"),
    );
    const draw = (text, action, title) =>
      make("button", { type: "button", click: action, title }, text);
    const buttons = make(
      "div",
      { class: "row" },
      this.back,
      this.forth,
      draw("Random step", () => this.walk(1), "One symbol more, drawn by its probability"),
      draw(
        "Draw a word",
        () => this.drawWord(),
        "A new word, drawn symbol by symbol until it ends",
      ),
    );
    const heading = make("h3", {}, "Follow a word");
    return make(
      "section",
      { class: "card" },
      heading,
      form,
      buttons,
      this.message,
      this.chips,
      this.facts,
      this.bars,
      likelyWords(this),
    );
  }

  // Returns the transitions of a word as far as they are known, where they end, and what stops them.
  stepsOf(word, start = 0) {
    const steps = [];
    let state = start;
    for (const symbol of word) {
      const step = this.automaton.step(state, symbol);
      const name = this.automaton.text(symbol);
      const where = `state ${this.automaton.numbers[state]}`;
      if (!step && this.automaton.leftOut[state])
        return {
          steps,
          end: state,
          error: `${name} leaves this page: it is not among the likeliest symbols of ${where}, or undefined there.`,
        };
      if (!step)
        return {
          steps,
          end: state,
          error: `The word is undefined: ${where} has no transition with ${name}.`,
        };
      if (step.target < 0)
        return {
          steps,
          end: state,
          error: `The word leaves this page: from ${where} ${name} (probability ${chanceText(step.probability)}) leads to a state outside of the core that the page has.`,
        };
      steps.push(step);
      state = step.target;
    }
    return { steps, end: state };
  }

  followLine(line) {
    const { word, unknown } = this.notation.parsed(line);
    if (unknown !== undefined)
      this.tell(
        `${unknown} is not a symbol of the alphabet${this.automaton.hasAllSymbols ? "" : " that some state of this page can read"}.`,
      );
    else this.follow(word);
    return unknown === undefined;
  }

  follow(word) {
    const { steps, error } = this.stepsOf(word);
    this.steps = steps;
    this.field.value = this.notation.line(word);
    this.go(steps.length);
    this.tell(error ?? "");
  }

  tell(text) {
    this.message.textContent = text;
    this.message.hidden = !text;
    if (text) this.page.announce(text);
  }

  get state() {
    return this.place ? this.steps[this.place - 1].target : 0;
  }

  go(place) {
    this.place = Math.max(0, Math.min(place, this.steps.length));
    this.show();
    this.told.moved([0, ...this.steps.slice(0, this.place).map((step) => step.target)]);
  }

  // Goes on with a transition from where one looks; what came after is forgotten.
  goOn(step) {
    if (step.target < 0) {
      this.tell(
        this.stepsOf([...this.steps.slice(0, this.place).map((one) => one.symbol), step.symbol])
          .error,
      );
      return;
    }
    this.steps = [...this.steps.slice(0, this.place), step];
    this.field.value = this.notation.line(this.steps.map((one) => one.symbol));
    this.tell("");
    this.go(this.steps.length);
  }

  // Goes on by `count` drawn symbols, or until the word ends or leaves the page.
  walk(count) {
    const { steps, note } = this.drawnOn(this.steps.slice(0, this.place), count);
    this.steps = steps;
    this.field.value = this.notation.line(steps.map((step) => step.symbol));
    this.go(steps.length);
    this.tell(note);
  }

  drawnOn(steps, count) {
    for (let i = 0; i < count; i++) {
      const state = steps.length ? steps.at(-1).target : 0;
      const step = drawnStep(this.automaton, state, this.random);
      if (step === null) return { steps, note: "The word ends here." };
      if (step === undefined)
        return { steps, note: "The next symbol is one that this page leaves out." };
      if (step.target < 0) return { steps, note: this.stepsOf([step.symbol], state).error };
      steps.push(step);
    }
    return { steps, note: count > 1 ? `The word goes on; it was cut after ${count} symbols.` : "" };
  }

  drawWord() {
    this.follow([]);
    this.walk(LONGEST_DRAWN);
  }

  show() {
    const { automaton, place, steps } = this;
    const log = logOf(steps.slice(0, place));
    const focused = document.activeElement;
    const [isChip, isBar] = [this.chips, this.bars].map((part) => part.contains(focused));
    this.back.disabled = place === 0;
    this.forth.disabled = place === steps.length;
    this.chips.replaceChildren(...this.shownChips());
    const where = make("strong", {}, `state ${automaton.numbers[this.state]}`);
    const text = `After ${countText(place, "symbol")}: `;
    this.facts.replaceChildren(
      text,
      where,
      make("br"),
      `Probability so far ${probabilityText(log)};`,
      make("br"),
      `of ending here ${probabilityText(log + Math.log(automaton.terminal[this.state]))}`,
    );
    this.bars.replaceChildren(makeBars(automaton, this.state, (step) => this.goOn(step), 8));
    if (isChip) this.chips.querySelector("[aria-current]")?.focus();
    else if (isBar) (this.bars.querySelector("button") ?? this.back).focus();
    else if (focused?.disabled) (focused === this.back ? this.forth : this.back).focus();
  }

  // The symbols around where one looks, to click on.
  shownChips() {
    const chip = (place, text, kind) =>
      make(
        "li",
        {},
        make(
          "button",
          {
            type: "button",
            class: kind,
            "aria-current": place === this.place ? "step" : null,
            click: () => this.go(place),
            "aria-label": place ? `Symbol ${place}: ${text}` : "Start",
          },
          apart(elided(text, 14)),
        ),
      );
    const begin = Math.max(0, Math.min(this.place - 15, this.steps.length - 30));
    const chips = this.steps
      .slice(begin, begin + 30)
      .map((step, i) => chip(begin + i + 1, this.automaton.text(step.symbol), "chip"));
    const dots = (count) =>
      count > 0 ? [make("li", { class: "quiet" }, `… ${countText(count, "symbol")}`)] : [];
    return [
      chip(0, "start", "chip first"),
      ...dots(begin),
      ...chips,
      ...dots(this.steps.length - begin - 30),
    ];
  }
}
