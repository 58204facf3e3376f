// What is known in words, and figures in a table.

panels["certificate"] = (element, data) => {
  const notes = data.notes.map((note) => make("li", {}, apart(note)));
  element.append(make("div", { class: "card certificate" },
    make("p", {}, make("b", { class: "badge" }, data.kind), " ", apart(data.statement)),
    data.meaning ? make("p", { class: "quiet" }, data.meaning) : null,
    notes.length ? make("ul", { class: "notes" }, ...notes) : null));
};

panels["facts"] = (element, data) => {
  const rows = data.rows.map(([label, text]) => make("div", {}, make("dt", {}, label), make("dd", {}, apart(text))));
  element.append(make("dl", { class: "card facts-list" }, ...rows));
};
