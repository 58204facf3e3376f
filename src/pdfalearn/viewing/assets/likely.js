// The likeliest words as a list to click on, and probabilities of whole words.

const logOf = (steps) => steps.reduce((log, step) => log + Math.log(step.probability), 0);

function likelyWords(following) {
  const { words, wordsNote } = following.automaton.data;
  const list = make(
    "ol",
    { class: "likely" },
    words.map((word) => likelyWord(following, word)),
  );
  const title = words.length
    ? `The ${countText(words.length, "likeliest word")}`
    : "Likeliest words";
  return make(
    "details",
    { open: words.length > 0 && window.innerWidth > 700 },
    make("summary", {}, title),
    words.length ? list : null,
    wordsNote ? make("p", { class: "quiet small" }, wordsNote) : null,
  );
}

function likelyWord(following, word) {
  const { notation, automaton } = following;
  const whole = notation.shown(word) || "(the empty word)";
  const text = notation.joined || !word.length ? whole : word.map((code) => automaton.text(code)).join(" ");
  const { steps, end, error } = following.stepsOf(word);
  const log = logOf(steps) + Math.log(automaton.terminal[end]);
  const button = make(
    "button",
    { type: "button", class: "line", click: () => following.follow(word) },
    make("bdi", { class: "name", title: whole }, shortened(text, 44)),
    make("span", { class: "value" }, error ? "leaves this page" : probabilityText(log)),
  );
  return make("li", {}, button);
}

// A probability out of its logarithm, however small.
function probabilityText(log) {
  if (log > -600) return Math.exp(log) < 1e-3 ? numberText(Math.exp(log)) : chanceText(Math.exp(log));
  if (log === -Infinity) return "0";
  const exponent = Math.floor(log / Math.LN10);
  return `${numberText(Math.exp(log - exponent * Math.LN10))}e${exponent}`;
}
