// Words as the command line writes them: side by side if symbols are characters, else with blanks.

class Notation {
  constructor(data) {
    this.joined = data.joined;
    this.spellings = data.spellings;
    this.codes = new Map();
    data.spellings.forEach((text, code) => this.codes.has(text) || this.codes.set(text, code));
    data.texts.forEach((text, code) => this.codes.has(text) || this.codes.set(text, code));
    this.raw = new Map(Object.entries(data.raw).map(([code, text]) => [text, Number(code)]));
    const longestFirst = (texts) => [...texts].sort((one, other) => other.length - one.length);
    this.forms = [...longestFirst(data.spellings), ...longestFirst(data.texts)];
  }

  // The symbol that is written so, or that is this very text; undefined if there is none.
  symbolOf(text) {
    const exact = this.codes.get(text) ?? this.raw.get(text);
    return exact ?? this.codes.get(text.trim()) ?? this.raw.get(text.trim());
  }

  line(word) {
    return word.map((code) => this.spellings[code]).join(this.joined ? "" : " ");
  }

  // As a line, with blanks that can be seen.
  shown(word) {
    return this.joined ? this.line(word).replaceAll(" ", "␣") : this.line(word);
  }

  // Returns {word}, or {unknown}: the text that is not a symbol.
  parsed(line) {
    const word = [];
    let place = 0;
    while (place < line.length) {
      if (!this.joined && /\s/.test(line[place])) {
        place++;
        continue;
      }
      const text = this.forms.find(
        (form) => form && line.startsWith(form, place) && this.ends(line, place + form.length),
      );
      if (text === undefined)
        return {
          unknown: this.joined
            ? String.fromCodePoint(line.codePointAt(place))
            : line.slice(place).split(/\s/)[0],
        };
      word.push(this.codes.get(text));
      place += text.length;
    }
    return { word };
  }

  ends(line, place) {
    return this.joined || place === line.length || /\s/.test(line[place]);
  }
}
