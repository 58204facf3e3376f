// The classification tree: nested lists that open and close by mouse and keyboard.

const TREE_OPEN = 24; // At first the most visited nodes are open, at most this many.
const TREE_DEEPEST = 10; // Deeper levels are not indented any further.

panels["tree"] = (element, data, page) => {
  const card = make("div", { class: "card" });
  element.append(card);
  if (!data.nodes.length) return card.append(make("p", {}, data.reason));
  const below = data.nodes.map(() => []);
  data.nodes.forEach((node, number) => number && below[node.parent].push(number));
  const root = treeItem(data.nodes, below, page);
  card.append(
    make("p", { class: "quiet" }, treeSummary(data)),
    make("p", { class: "tree-buttons" },
      make("button", { type: "button", click: () => openTree(card, true) }, "Open all"),
      make("button", { type: "button", click: () => openTree(card, false) }, "Close all")),
    make("div", { class: "tree-scroll", tabindex: "0", role: "region", "aria-label": "Nodes of the tree" },
      make("ul", { class: "tree-list tree-root" }, root)),
  );
};

function openTree(card, isOpen) {
  for (const details of card.querySelectorAll(".tree-list details")) details.open = isOpen;
}

function treeSummary(data) {
  const size = `${countText(data.inner, "distinguishing suffix tells", "distinguishing suffixes tell")} ${countText(data.leaves, "state")} apart.`;
  const there = data.nodes.filter((node) => "word" in node).length;
  const rest = data.leaves - there;
  const left = rest ? ` Shown is what words visit most; ${countText(rest, "leaf", "leaves")} of it ${rest === 1 ? "is" : "are"} left out.` : "";
  return `${size} An inner node asks for the class after a suffix; choose a leaf to see its state in the picture.${left}`;
}

// Trees are too deep for recursion: items are made from the last node to the first.
function treeItem(nodes, below, page) {
  const items = [], levels = [];
  nodes.forEach((node, place) => (levels[place] = place ? levels[node.parent] + 1 : 0));
  for (let place = nodes.length - 1; place >= 0; place--) {
    const node = nodes[place];
    items[place] = make("li", { class: levels[place] > TREE_DEEPEST ? "deep" : null },
      "word" in node ? leafOf(node, page)
        : branchOf(node, below[place].map((child) => items[child]), hiddenBelow(nodes, below[place], node), place < TREE_OPEN, levels[place]));
  }
  return items[0];
}

const hiddenBelow = (nodes, children, node) =>
  node.leaves - children.reduce((sum, child) => sum + nodes[child].leaves, 0);

function branchOf(node, items, hidden, isOpen, level) {
  const depth = level > TREE_DEEPEST ? `level ${level}: ` : "";
  const summary = make("summary", {}, ...arcOf(node),
    make("span", { class: "tree-suffix" }, depth, "after ", make("b", {}, apart(node.suffix))),
    make("span", { class: "quiet" }, ` ${countText(node.leaves, "state")}`));
  const more = hidden ? [make("li", { class: "quiet" }, `… ${countText(hidden, "more leaf", "more leaves")}`)] : [];
  return make("details", { open: isOpen }, summary, make("ul", { class: "tree-list" }, ...items, ...more));
}

function leafOf(node, page) {
  const name = node.state === null ? "not in the automaton" : `state ${node.state}`;
  const text = [make("b", {}, name), make("span", { class: "tree-word" }, apart(node.word))];
  const leaf = node.state === null
    ? make("span", { class: "tree-leaf" }, ...text)
    : make("button", { type: "button", class: "tree-leaf", click: () => focusState(page.shown.automaton, node.state) }, ...text);
  return make("span", {}, ...arcOf(node), leaf);
}

// What stands on the arc to a node: the key of a class.
function arcOf(node) {
  if (node.parent === null) return [];
  if (node.arc === null) return [make("span", { class: "tree-arc" }, "undefined")];
  const { key, length } = node.arc;
  const more = length > key.length ? `, … ${length - key.length} more` : "";
  return [make("span", { class: "tree-arc" }, `(${key.join(", ")}${more})`)];
}
