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

// A share in percent, by the same rules.
const percentText = (share) =>
  share > 0 && share < 1e-6 ? "< 0.0001%" : `${Number((100 * Number(chanceText(share))).toPrecision(6))}%`;

const countText = (count, one, many = `${one}s`) =>
  `${count.toLocaleString("en")} ${count === 1 ? one : many}`;

// A text with a direction of its own does not turn round its neighbours: by an element of HTML, so that
// copies of it are clean, or by characters in SVG. Long names may break where their words part.
const apart = (text) =>
  make("bdi", {}, String(text).split(/(?<=[\p{L}\d][_./:])(?=\p{L})/u).flatMap((part, i) => (i ? [make("wbr"), part] : [part])));
const isolated = (text) => `\u2068${text}\u2069`;

const PARTING = /[\s_./:-]/;

// Leaves out the middle of a long text: names are told apart by both ends. The end begins with a word if one
// begins near there.
function elided(text, most) {
  const characters = [...text];
  if (characters.length <= most) return text;
  const half = Math.floor((most - 1) / 2);
  const lengths = characters.flatMap((character, i) => (PARTING.test(character) ? [characters.length - 1 - i] : []));
  const near = lengths.filter((one) => one >= most / 4 && one <= (2 * most) / 3);
  const end = near.sort((one, other) => Math.abs(one - half) - Math.abs(other - half))[0] ?? half;
  return `${characters.slice(0, most - 1 - end).join("")}…${characters.slice(characters.length - end).join("")}`;
}

// Parts a long name in two lines where its words part, else in the middle; both ends stay.
function nameLines(text, most) {
  const characters = [...text];
  if (characters.length <= most) return [text];
  const { length } = characters;
  const lost = (at) => Math.max(0, at - most) + Math.max(0, length - at - most);
  const cost = (at) => lost(at) + Math.abs(at - length / 2) / length; // what is left out, then how uneven it is
  const breaks = characters.flatMap((character, i) => (PARTING.test(character) && i + 1 < length ? [i + 1] : []));
  const at = breaks.sort((one, other) => cost(one) - cost(other))[0];
  const parts = at ? characters : [...elided(text, 2 * most)];
  const cut = at ?? Math.ceil(parts.length / 2);
  const last = parts.slice(cut);
  return [shortened(parts.slice(0, cut).join(""), most), last.length > most ? `…${last.slice(1 - most).join("")}` : last.join("")];
}

function shortened(text, most) {
  const characters = [...text];
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join("")}…`;
}
