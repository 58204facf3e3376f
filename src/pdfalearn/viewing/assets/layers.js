// Layout in layers, first half: which layer every state is in, and in which order a layer stands.

// A sequence of nodes, each with the greatest share of flow from those before it: most leads forward.
// The first node stays first.
function flowSequence(count, edges) {
  const waiting = new Set(Array.from({ length: count }, (_, i) => i));
  const into = new Float64Array(count).fill(1e-12);
  for (const edge of edges) into[edge.to] += edge.flow + 1e-9;
  const seen = new Float64Array(count);
  const sequence = [];
  let next = 0;
  while (waiting.size) {
    waiting.delete(next);
    sequence.push(next);
    for (const edge of edges) if (edge.from === next) seen[edge.to] += edge.flow + 1e-9;
    next = -1;
    for (const node of waiting)
      if (next < 0 || seen[node] / into[node] > seen[next] / into[next]) next = node;
  }
  return sequence;
}

// Each node after all those before it in the sequence that it has an edge with; at most `most` a layer.
function layersOf(count, edges, most) {
  const place = new Int32Array(count);
  const sequence = flowSequence(count, edges);
  sequence.forEach((node, i) => (place[node] = i));
  const before = Array.from({ length: count }, () => []);
  for (const { from, to } of edges)
    if (place[from] < place[to]) before[to].push(from);
    else if (place[from] > place[to]) before[from].push(to);
  const layer = new Int32Array(count);
  const sizes = [];
  for (const node of sequence) {
    let level = Math.max(0, ...before[node].map((other) => layer[other] + 1));
    while ((sizes[level] ?? 0) >= most) level++;
    layer[node] = level;
    sizes[level] = (sizes[level] ?? 0) + 1;
  }
  return layer;
}

function crossings(layers) {
  let count = 0;
  for (const layer of layers) {
    const ends = layer.flatMap((item) =>
      item.after.map((other) => other.place).sort((a, b) => a - b),
    );
    for (let i = 0; i < ends.length; i++)
      for (let j = i + 1; j < ends.length; j++) if (ends[i] > ends[j]) count++;
  }
  return count;
}

const numberPlaces = (layer) => layer.forEach((item, i) => (item.place = i));

// Sorts layers by where the neighbours stand, up and down, and keeps the order of fewest crossings.
function reduceCrossings(layers, sweeps = 14) {
  layers.forEach(numberPlaces);
  let best = layers.map((layer) => [...layer]);
  let least = crossings(layers);
  for (let sweep = 0; sweep < sweeps && least > 0; sweep++) {
    const isDown = sweep % 2 === 0;
    for (const layer of isDown ? layers : [...layers].reverse()) {
      const wish = new Map(
        layer.map((item) => [item, middle(isDown ? item.before : item.after, item.place)]),
      );
      layer.sort((one, other) => wish.get(one) - wish.get(other) || one.place - other.place);
      numberPlaces(layer);
    }
    const count = crossings(layers);
    if (count < least) [best, least] = [layers.map((layer) => [...layer]), count];
  }
  best.forEach((layer, i) => {
    layers[i] = layer;
    numberPlaces(layer);
  });
}

const middle = (items, otherwise) =>
  items.length ? items.reduce((sum, item) => sum + item.place, 0) / items.length : otherwise;
