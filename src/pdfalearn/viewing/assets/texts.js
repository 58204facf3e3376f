// Numbers and counts as people read them.

// Three digits that count: 0.25, 0.0312, 4.10e-7.
function numberText(value, digits = 3) {
  if (value === 0 || value === 1) return String(value);
  if (!Number.isFinite(value)) return value > 0 ? "∞" : value < 0 ? "−∞" : "not a number";
  const size = Math.abs(value);
  if (size < 1e-3 || size >= 1e15) return value.toExponential(digits - 1).replace("e+", "e");
  if (size >= 10 ** digits) return Math.round(value).toLocaleString("en");
  return String(Number(value.toPrecision(digits)));
}

// A probability or a share: what is nearly 1 shows what it lacks, as 0.9998 does, and nothing small is written
// out.
function chanceText(value, digits = 3) {
  if (value > 0 && value < 1e-6) return "< 1e-6";
  const lack = 1 - value;
  if (!(lack > 0 && lack < 0.01)) return numberText(value, digits);
  return String(Number(value.toFixed(Math.min(6, 1 - Math.floor(Math.log10(lack))))));
}

const countText = (count, one, many = `${one}s`) =>
  `${count.toLocaleString("en")} ${count === 1 ? one : many}`;

// A text with a direction of its own does not turn round its neighbours: by an element of HTML, so that
// copies of it are clean, or by characters in SVG.
const apart = (text) => make("bdi", {}, text);
const isolated = (text) => `\u2068${text}\u2069`;

// Leaves out the middle of a long text: names are told apart by both ends.
function elided(text, most) {
  const characters = [...text];
  if (characters.length <= most) return text;
  const begin = Math.ceil((most - 1) / 2);
  return `${characters.slice(0, begin).join("")}…${characters.slice(begin + 1 - most).join("")}`;
}

// Parts a long name in two lines where its words part, else in the middle, and elides each.
function nameLines(text, most) {
  const characters = [...text];
  if (characters.length <= most) return [text];
  const far = (at) => Math.abs(at - characters.length / 2);
  const breaks = characters.flatMap((character, i) => (/[\s_./:-]/.test(character) ? [i + 1] : []));
  const at = breaks.filter((one) => one < characters.length).sort((one, other) => far(one) - far(other))[0];
  const parts = at ? characters : [...elided(text, 2 * most)];
  const cut = at ?? Math.ceil(parts.length / 2);
  return [parts.slice(0, cut), parts.slice(cut)].map((part) => elided(part.join(""), most));
}

function shortened(text, most) {
  const characters = [...text];
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join("")}…`;
}
