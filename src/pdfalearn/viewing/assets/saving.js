// Saves the picture as a file: as SVG with the styles that it has on the page, or as PNG drawn from that.

const STYLES = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "font-family", "font-size", "font-weight", "text-anchor", "display"];
const SAVED_SCALE = 2; // Pixels of a PNG for each of the picture.

// Returns the text of an SVG that stands alone, and its size.
function svgText({ canvas, drawing, camera }) {
  const margin = 12;
  const { left, top, width, height } = drawing.box;
  const [wide, high] = [width + 2 * margin, height + 2 * margin];
  const copy = canvas.cloneNode(true);
  const isFar = canvas.classList.contains("far");
  canvas.classList.remove("far"); // labels that are too small on the screen are not so in a file
  const originals = canvas.querySelectorAll("*");
  copy.querySelectorAll("*").forEach((element, i) => {
    const style = getComputedStyle(originals[i]);
    for (const name of STYLES) element.setAttribute(name, style.getPropertyValue(name));
    for (const name of ["class", "tabindex", "role"]) element.removeAttribute(name);
  });
  canvas.classList.toggle("far", isFar);
  copy.firstElementChild.removeAttribute("transform");
  const ground = svg("rect", { x: left - margin, y: top - margin, width: wide, height: high });
  ground.setAttribute("fill", getComputedStyle(canvas).backgroundColor);
  copy.prepend(ground);
  for (const name of ["class", "style"]) copy.removeAttribute(name);
  for (const [name, value] of Object.entries({ xmlns: "http://www.w3.org/2000/svg", width: wide, height: high, viewBox: `${left - margin} ${top - margin} ${wide} ${high}` }))
    copy.setAttribute(name, value);
  camera.apply();
  return { text: new XMLSerializer().serializeToString(copy), width: wide, height: high };
}

function saveBlob(blob, name) {
  const link = make("a", { href: URL.createObjectURL(blob), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

function saveSvg(diagram) {
  saveBlob(new Blob([svgText(diagram).text], { type: "image/svg+xml" }), "automaton.svg");
}

function savePng(diagram) {
  const { text, width, height } = svgText(diagram);
  const image = new Image();
  image.addEventListener("load", () => {
    const canvas = make("canvas", { width: Math.ceil(width * SAVED_SCALE), height: Math.ceil(height * SAVED_SCALE) });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => saveBlob(blob, "automaton.png"));
  });
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
}
