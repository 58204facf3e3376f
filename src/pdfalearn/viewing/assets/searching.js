// Search: a state's number, a symbol or a word; where a text is several of these, all are offered.

// Returns what a text may mean, as a list of {name, act}; `shown` has the ways to act.
function meanings(text, automaton, notation, shown) {
  const found = [];
  const number = /^(?:state|q|#)?\s*(\d+)$/i.exec(text.trim());
  if (number && Number(number[1]) < automaton.data.states) {
    const place = automaton.places.get(Number(number[1]));
    const name = `state ${Number(number[1])}`;
    found.push({
      name,
      act: () => (place === undefined ? shown.outside(name) : shown.state(place)),
    });
  }
  const symbol = notation.symbolOf(text);
  if (symbol !== undefined)
    found.push({ name: `symbol ${automaton.text(symbol)}`, act: () => shown.symbol(symbol) });
  const { word } = notation.parsed(text);
  if (word !== undefined && word.length > (symbol === undefined ? 0 : 1))
    found.push({ name: `word ${text.trim()}`, act: () => shown.word(word) });
  return found;
}

function searchForm(automaton, notation, shown, page) {
  const id = uniqueId("search");
  const field = make("input", {
    type: "search",
    id,
    placeholder: "state, symbol or word",
    spellcheck: "false",
    autocomplete: "off",
    autocapitalize: "off",
  });
  const message = make("p", { class: "message", hidden: true });
  const tell = (text, others = []) => {
    const buttons = others.map((other) =>
      make("button", { type: "button", click: () => choose(other) }, `as ${other.name}`),
    );
    message.replaceChildren(text, ...(buttons.length ? [" ", ...buttons] : []));
    message.hidden = !text;
    page.announce(text);
  };
  const choose = (meaning) => {
    field.focus();
    tell(meaning.act());
  };
  const search = (event) => {
    event.preventDefault();
    const [first, ...others] = meanings(field.value, automaton, notation, shown);
    if (!field.value.trim()) tell(shown.nothing());
    else if (first) tell(first.act(), others);
    else
      tell(
        `${shortened(field.value, 60)} is not the number of a state, nor a word over the ${automaton.hasAllSymbols ? "alphabet" : "symbols of this page"}.`,
      );
  };
  const form = make(
    "form",
    { class: "row search", role: "search", submit: search },
    make("label", { for: id, class: "unseen" }, "Search for a state, a symbol or a word"),
    field,
    make("button", {}, "Search"),
  );
  return { form, message, tell };
}
