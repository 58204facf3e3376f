// Shows every part of the page by the panel of its kind.

// What panels share: announce(text) tells those who cannot see what has changed; shown has what the
// panels of each kind returned, so that one panel can act on another.
function makePage() {
  const live = make("div", { class: "unseen", role: "status", "aria-live": "polite" });
  document.body.append(live);
  return { announce: (text) => (live.textContent = text), shown: {} };
}

function showPart(part, page) {
  const id = uniqueId("part");
  const heading = make("h2", { id, class: part.heading ? null : "unseen" }, part.heading || part.kind[0].toUpperCase() + part.kind.slice(1));
  const body = make("div", { class: "panel" });
  const section = make("section", { class: `part ${part.kind}`, "aria-labelledby": id }, heading, body);
  document.querySelector("main").append(section);
  page.shown[part.kind] = panels[part.kind](body, part.data, page);
}

const page = makePage();
for (const part of JSON.parse(document.getElementById("parts").textContent)) showPart(part, page);
document.documentElement.dataset.interactive = performance.now();
performance.mark("interactive");
