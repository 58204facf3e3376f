// Layout in layers, second half: where the items of every layer are, so that none overlap.
// An item has extents: `back` and `front` across the layers' direction, `length` along it.

// Moves items to where they wish to be as nearly as order and extents allow (least squares).
function placeLayer(layer, wishes, gap) {
  const blocks = [];
  let offset = 0;
  layer.forEach((item, i) => {
    if (i) offset += layer[i - 1].front + gap + item.back;
    blocks.push({
      sum: (wishes[i] - offset) * item.weight,
      weight: item.weight,
      items: [[item, offset]],
    });
    while (blocks.length > 1 && mean(blocks.at(-2)) >= mean(blocks.at(-1))) {
      const last = blocks.pop();
      const block = blocks.at(-1);
      block.sum += last.sum;
      block.weight += last.weight;
      block.items.push(...last.items);
    }
  });
  for (const block of blocks)
    for (const [item, shift] of block.items) item.across = mean(block) + shift;
}

const mean = (block) => block.sum / block.weight;

function placeAcross(layers, gap, rounds = 24) {
  for (const layer of layers)
    placeLayer(
      layer,
      layer.map(() => 0),
      gap,
    );
  for (let round = 0; round < rounds; round++) {
    const order = round % 2 === 0 ? layers : [...layers].reverse();
    for (const layer of order) placeLayer(layer, layer.map(wishOf), gap);
  }
  for (let round = 0; round < 60; round++) for (const layer of layers) straighten(layer, gap);
}

// Pulls edges straight, as far as what stands beside them leaves room.
function straighten(layer, gap) {
  layer.forEach((item, i) => {
    if (item.state) return;
    const wish = (item.before[0].across + item.after[0].across) / 2;
    const least = i ? layer[i - 1].across + layer[i - 1].front + gap + item.back : -Infinity;
    const most =
      i + 1 < layer.length ? layer[i + 1].across - layer[i + 1].back - gap - item.front : Infinity;
    item.across = Math.max(least, Math.min(most, wish));
  });
}

// Long edges are kept straight: the bends of edges pull one another more than states do.
function wishOf(item) {
  let sum = 0;
  let weight = 0;
  for (const other of [...item.before, ...item.after]) {
    const pull = !item.state && !other.state ? 6 : 1;
    sum += other.across * pull;
    weight += pull;
  }
  return weight ? sum / weight : item.across;
}

function placeAlong(layers, gap) {
  let along = 0;
  for (const layer of layers) {
    const length = Math.max(...layer.map((item) => item.length), 14);
    for (const item of layer) Object.assign(item, { along: along + length / 2, room: length });
    along += length + gap;
  }
}
