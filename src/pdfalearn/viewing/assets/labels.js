// Labels of edges: the likeliest symbols with their probabilities, and how many more there are.

const measure = (() => {
  let context = null;
  return (text, font) => {
    context ??= document.createElement("canvas").getContext("2d");
    context.font = font;
    return context.measureText(text).width;
  };
})();

const LABEL_FONT = '650 12px system-ui, -apple-system, "Segoe UI", "Noto Sans", sans-serif';
const LABEL_LINE = 15;

const LABEL_NAME = 16; // A line of a name has at most this many characters.

// In dense pictures labels take no room: they show only where one points at.
function labelOf(automaton, edge, mostLines, isDense) {
  const lines = [];
  let rest = edge.steps;
  while (rest.length) {
    const [step, ...others] = rest;
    const names = nameLines(automaton.text(step.symbol), LABEL_NAME);
    const isFull = lines.length + names.length + (others.length > 0) > mostLines;
    if (lines.length && (isFull || step.probability < NEGLIGIBLE)) break;
    names.forEach((symbol, i) =>
      lines.push({ symbol, number: i === names.length - 1 ? stepText(step) : "" }),
    );
    rest = others;
  }
  if (rest.length) {
    const mass = rest.reduce((sum, step) => sum + step.probability, 0);
    lines.push({ symbol: `+${rest.length}`, number: chanceText(mass), isMore: true });
  }
  const width = Math.max(
    ...lines.map((line) => measure(`${line.symbol} ${line.number}`, LABEL_FONT)),
  );
  const box = { width: width + 12, height: lines.length * LABEL_LINE + 4 };
  return { lines, ...box, room: isDense ? { width: 0, height: 0 } : box };
}

const stepText = (step) => chanceText(step.probability);

function edgeText(automaton, edge) {
  const steps = edge.steps
    .slice(0, 12)
    .map((step) => `${automaton.text(step.symbol)} ${chanceText(step.probability)}`);
  const more = edge.steps.length > 12 ? `, and ${edge.steps.length - 12} more` : "";
  return `${automaton.numbers[edge.source]} → ${automaton.numbers[edge.target]}: ${steps.join(", ")}${more}`;
}
