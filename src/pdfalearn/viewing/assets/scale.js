// Axes: where values stand, and which of them are written down.

// The least and the greatest value of an axis; a logarithmic one starts above 0.
function extentOf(values, isLog) {
  const finite = values.filter((value) => Number.isFinite(value) && (!isLog || value > 0));
  if (!finite.length) return isLog ? [0.1, 1] : [0, 1];
  const high = finite.reduce((a, b) => Math.max(a, b));
  const least = finite.reduce((a, b) => Math.min(a, b));
  if (!isLog) return [Math.min(0, least), high > 0 ? high : 1];
  const low = Math.max(least, high * 1e-6);
  return low < high ? [low, high] : [low / 2, high * 2];
}

// The distance of about `count` round numbers from low to high.
function linearStep([low, high], count, areWhole) {
  const rough = (high - low) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough * 0.999);
  return areWhole ? Math.max(1, Math.round(step)) : step;
}

function linearTicks([low, high], size) {
  const first = Math.ceil(low / size - 1e-9), last = Math.floor(high / size + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * size).toPrecision(12)));
}

// Powers of ten, with twos and fives between them where there is room.
function logTicks([low, high], count) {
  const first = Math.floor(Math.log10(low)), last = Math.ceil(Math.log10(high));
  const within = (value) => value >= low * 0.999 && value <= high * 1.001;
  const powers = (factors, every = 1) => {
    const ticks = [];
    for (let power = first; power <= last; power += every)
      ticks.push(...factors.map((factor) => Number(`${factor}e${power}`)));
    return ticks.filter(within);
  };
  const fine = [[1, 2, 5], [1, 3], [1]].map((factors) => powers(factors)).find((ticks) => ticks.length <= count);
  const ticks = fine ?? powers([1], Math.ceil((last - first) / Math.max(1, count)));
  return ticks.length > 1 ? ticks : [low, high];
}

// An axis from one place to another: place(value) and ticks; one that is rounded ends with a tick.
function axisOf(values, { isLog = false, areWhole = false, isRounded = false, from, to, count }) {
  const extent = extentOf(values, isLog);
  const step = linearStep(extent, count, areWhole);
  if (isRounded && !isLog) extent[1] = Math.ceil(extent[1] / step - 1e-9) * step;
  const [low, high] = isLog ? extent.map(Math.log) : extent;
  const inner = (value) => (isLog ? Math.log(Math.max(value, extent[0])) : value);
  return {
    place: (value) => from + ((inner(value) - low) / (high - low || 1)) * (to - from),
    ticks: isLog ? logTicks(extent, count) : linearTicks(extent, step),
  };
}
