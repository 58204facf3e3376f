// Show states and words in the panel of an automaton, by the states' own numbers.

function focusState(panel, number) {
  const place = panel.automaton.places.get(number);
  if (place === undefined) panel.search.tell(panel.ways().outside(`state ${number}`));
  else {
    panel.search.tell("");
    panel.choose(place);
  }
  panel.diagram.canvas.scrollIntoView({ block: "center" });
}

// Follows a word of which the states are known, -1 where it is undefined, and how its symbols are shown.
function followStates(panel, states, texts) {
  const { automaton, following } = panel;
  const word = [];
  let here = 0;
  for (let i = 1; i < states.length && here >= 0; i++) {
    const ways = automaton.row(here).filter((step) => step.target >= 0 && automaton.numbers[step.target] === states[i]);
    const step = ways.find((way) => way.symbol === following.notation.symbolOf(texts[i - 1])) ?? ways[0];
    here = step ? step.target : -1;
    if (step) word.push(step.symbol);
  }
  following.follow(word);
  const next = states[word.length + 1];
  if (next !== undefined) following.tell(next < 0 ? "From here on the word is undefined." : "From here on the word leaves this page.");
}
