// Where states, edges and labels of a graph are. Labels take part in the layout as states do, so that
// they overlap nothing: states are in the even layers, labels in the odd ones.

const makeItem = (layer, size = {}) => ({
  layer,
  before: [],
  after: [],
  back: 5,
  front: 5,
  length: 0,
  weight: 1,
  ...size,
});

function joined(one, other) {
  one.after.push(other);
  other.before.push(one);
}

// Extents of a box of some width and height across and along the layers.
const boxSize = (box, isWide) => {
  const [across, length] = isWide ? [box.height, box.width] : [box.width, box.height];
  return { back: across / 2, front: across / 2, length };
};

// The items of one edge between the layers of its two states, the label in the middle.
function chainOf(low, high, edge, isWide) {
  const chain = [low];
  const middleLayer = 2 * Math.floor((low.layer + high.layer) / 4) + 1;
  for (let layer = low.layer + 1; layer < high.layer; layer++) {
    const isLabel = layer === middleLayer;
    const item = makeItem(layer, isLabel ? boxSize(edge.label.room, isWide) : {});
    if (isLabel) edge.labelItem = item;
    joined(chain.at(-1), item);
    chain.push(item);
  }
  joined(chain.at(-1), high);
  chain.push(high);
  return chain;
}

// Room for a state; loops stand above it in wide drawings and beside it in tall ones.
function stateItem(layer, node, loop, isWide) {
  const ring = node.radius + 7;
  const item = makeItem(layer, {
    back: ring,
    front: ring,
    length: 2 * ring,
    weight: 4,
    state: node,
  });
  if (!loop) return item;
  const { width, height } = loop.label.room;
  const room = ring + 24 + (isWide ? height : width);
  item[isWide ? "back" : "front"] = room;
  item.length = Math.max(item.length, isWide ? width : height);
  return item;
}

// Adds x and y to nodes, and a path of points and a label's place to edges; returns the bounds.
function layOut(nodes, edges, { isWide, mostInLayer }) {
  const plain = edges.filter((edge) => edge.from !== edge.to);
  const levels = layersOf(nodes.length, plain, mostInLayer);
  const loops = new Map(
    edges.filter((edge) => edge.from === edge.to).map((edge) => [edge.from, edge]),
  );
  const items = nodes.map((node, i) => stateItem(2 * levels[i], node, loops.get(i), isWide));
  const chains = plain.map((edge) => {
    const isForward = levels[edge.from] < levels[edge.to];
    const [low, high] = isForward ? [edge.from, edge.to] : [edge.to, edge.from];
    const chain = chainOf(items[low], items[high], edge, isWide);
    return isForward ? chain : chain.reverse();
  });
  const layers = Array.from({ length: 2 * Math.max(...levels) + 1 }, () => []);
  for (const item of new Set([...items, ...chains.flat()])) layers[item.layer].push(item);
  reduceCrossings(layers);
  const isSmall = isWide && nodes.length <= 12; // there is room for longer arrows
  placeAcross(layers, isSmall ? 20 : 12);
  placeAlong(layers, isSmall ? 24 : 14);
  const point = (along, across) => (isWide ? { x: along, y: across } : { x: across, y: along });
  items.forEach((item, i) => Object.assign(nodes[i], point(item.along, item.across)));
  plain.forEach((edge, i) => route(edge, chains[i], point));
  for (const loop of loops.values()) routeLoop(loop, nodes[loop.from], isWide);
  return bounds(nodes, edges);
}

// A smooth way through the middles of a chain.
function route(edge, chain, point) {
  const middles = chain.map((item) => point(item.along, item.across));
  edge.label.place = point(edge.labelItem.along, edge.labelItem.across);
  const begin = portOf(chain[0], chain[1], point, 4);
  const end = portOf(chain.at(-1), chain.at(-2), point, 5 + edge.arrow);
  edge.points = [begin, ...middles.slice(1, -1), end];
  edge.tip = portOf(chain.at(-1), chain.at(-2), point, 5);
}

// Where an edge meets the circle of a state, some way outside of it: towards where the edge comes from.
function portOf(item, next, point, outside) {
  const length = next.along - item.along;
  const turn = Math.atan2(next.across - item.across, Math.abs(length));
  const angle = Math.max(-1.1, Math.min(1.1, turn));
  const radius = item.state.radius + outside;
  return point(
    item.along + Math.sign(length) * radius * Math.cos(angle),
    item.across + radius * Math.sin(angle),
  );
}

function routeLoop(edge, node, isWide) {
  const far = node.radius + 26;
  const { x, y } = node;
  const near = node.radius + 4;
  const [cos, sin] = [near * Math.cos(0.55), near * Math.sin(0.55)];
  const [farCos, farSin] = [
    (near + edge.arrow) * Math.cos(0.5),
    (near + edge.arrow) * Math.sin(0.5),
  ];
  edge.loop = isWide
    ? [
        { x: x - sin, y: y - cos },
        { x: x - 20, y: y - far - 6 },
        { x: x + 20, y: y - far - 6 },
        { x: x + farSin, y: y - farCos },
      ]
    : [
        { x: x + cos, y: y - sin },
        { x: x + far + 6, y: y - 20 },
        { x: x + far + 6, y: y + 20 },
        { x: x + farCos, y: y + farSin },
      ];
  edge.tip = isWide ? { x: x + sin, y: y - cos } : { x: x + cos, y: y + sin };
  edge.label.place = isWide
    ? { x, y: y - far - edge.label.height / 2 - 2 }
    : { x: x + far + edge.label.width / 2 + 1, y };
}

function bounds(nodes, edges) {
  const boxes = nodes.map(({ x, y, radius }) => [
    x - radius - 34,
    y - radius - 9,
    x + radius + 9,
    y + radius + 9,
  ]);
  for (const { label, points } of edges) {
    const { x, y } = label.place;
    const { width, height } = label.room;
    boxes.push([x - width / 2, y - height / 2, x + width / 2, y + height / 2]);
    for (const at of points ?? []) boxes.push([at.x - 4, at.y - 4, at.x + 4, at.y + 4]);
  }
  const side = (i, pick) => boxes.reduce((value, box) => pick(value, box[i]), boxes[0][i]);
  const [left, top] = [side(0, Math.min), side(1, Math.min)];
  return { left, top, width: side(2, Math.max) - left, height: side(3, Math.max) - top };
}
