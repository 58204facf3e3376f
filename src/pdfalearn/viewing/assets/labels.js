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

const LABEL_NAME = 18; // A line of a name has at most this many characters.

// In dense pictures labels take no room: they show only where one points at.
function labelOf(automaton, edge, mostLines, isDense) {
  const lines = [];
  let rest = [...edge.steps].sort((one, other) => Math.abs(other.sign ?? 0) - Math.abs(one.sign ?? 0));
  while (rest.length) {
    const [step, ...others] = rest;
    const names = nameLines(automaton.short(step.symbol), LABEL_NAME);
    const isFull = lines.length + names.length + (others.length > 0) > mostLines;
    const isMinor = step.probability < Math.max(NEGLIGIBLE, 0.05 * edge.probability) && !step.sign;
    if (lines.length && (isFull || isMinor)) break;
    names.forEach((symbol, i) =>
      lines.push({ symbol, number: i === names.length - 1 ? stepText(step) : "" }),
    );
    rest = others;
  }
  const mass = rest.reduce((sum, step) => sum + step.probability, 0);
  if (mass >= NEGLIGIBLE || (rest.length && !edge.probability))
    lines.push({ symbol: `+${rest.length}`, number: chanceText(mass, 2), isMore: true });
  const width = Math.max(
    ...lines.map((line) => measure(`${line.symbol} ${line.number}`, LABEL_FONT)),
  );
  const box = { width: width + 12, height: lines.length * LABEL_LINE + 4 };
  return { lines, ...box, room: isDense ? { width: 0, height: 0 } : box };
}

// On labels two digits are enough; what has changed between two corpora shows both.
const stepText = ({ probability, both, sign }) =>
  sign ? both.map((value) => chanceText(value, 2)).join("→") : chanceText(probability, 2);

// A probability, or both of what stands beside each other, with their names.
const besideText = ({ beside }, { probability, both }) =>
  beside ? both.map((value, i) => `${beside.names[i]} ${chanceText(value)}`).join(", ") : chanceText(probability);

function edgeText(automaton, edge) {
  const steps = edge.steps
    .slice(0, 12)
    .map((step) => `${automaton.text(step.symbol)} ${besideText(automaton, step)}`);
  const more = edge.steps.length > 12 ? `, and ${edge.steps.length - 12} more` : "";
  return `${automaton.numbers[edge.source]} → ${automaton.numbers[edge.target]}: ${steps.join(", ")}${more}`;
}
