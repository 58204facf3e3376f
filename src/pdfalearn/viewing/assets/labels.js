// Labels of edges: the likeliest symbols with their probabilities, and how many more there are.

const measure = (() => {
  let context = null;
  return (text, font) => {
    context ??= document.createElement("canvas").getContext("2d");
    context.font = font;
    return context.measureText(text).width;
  };
})();

const LABEL_FONT = '12px system-ui, -apple-system, "Segoe UI", "Noto Sans", sans-serif';
const LABEL_LINE = 15;

// In dense pictures labels take no room: they show only where one points at.
function labelOf(automaton, edge, mostLines, isDense) {
  const count = edge.steps.length;
  const listed = count <= mostLines ? count : Math.max(1, mostLines - 1);
  const lines = edge.steps.slice(0, listed).map((step) => ({
    symbol: shortened(automaton.text(step.symbol), 12),
    number: chanceText(step.probability),
  }));
  if (listed < count) {
    const rest = edge.steps.slice(listed).reduce((sum, step) => sum + step.probability, 0);
    lines.push({ symbol: `+${count - listed}`, number: chanceText(rest), isMore: true });
  }
  const width = Math.max(
    ...lines.map((line) => measure(`${line.symbol} ${line.number}`, LABEL_FONT)),
  );
  const box = { width: width + 12, height: lines.length * LABEL_LINE + 4 };
  return { lines, ...box, room: isDense ? { width: 0, height: 0 } : box };
}

function edgeText(automaton, edge) {
  const steps = edge.steps
    .slice(0, 12)
    .map((step) => `${automaton.text(step.symbol)} ${chanceText(step.probability)}`);
  const more = edge.steps.length > 12 ? `, and ${edge.steps.length - 12} more` : "";
  return `${automaton.numbers[edge.source]} → ${automaton.numbers[edge.target]}: ${steps.join(", ")}${more}`;
}
