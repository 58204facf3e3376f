// Motion between two pictures: states that stay move to their new places, then the rest appears. Nobody who
// asks for less motion sees any.

const MOVING = 350; // Milliseconds.
const EASING = "cubic-bezier(0.2, 0.7, 0.2, 1)";
const wantsMotion = () => matchMedia("(prefers-reduced-motion: no-preference)").matches;

// Where states are on the screen, also while they move.
function standingStates({ nodes }) {
  return new Map(nodes.map((node) => {
    const { left, top, width, height } = node.drawn.querySelector(".disc").getBoundingClientRect();
    return [node.state, { left: left + width / 2, top: top + height / 2, width }];
  }));
}

function moveStates({ nodes, edges }, before, camera) {
  const frame = camera.canvas.getBoundingClientRect();
  const appear = (part) =>
    part.animate({ opacity: [0, 1] }, { duration: MOVING / 2, delay: MOVING / 2, fill: "backwards" });
  const placed = ({ x, y }, size) => `translate(${f(x)}px, ${f(y)}px) scale(${size})`;
  for (const node of nodes) {
    const old = before.get(node.state);
    if (!old) appear(node.drawn);
    else {
      const from = { x: (old.left - frame.left - camera.x) / camera.scale, y: (old.top - frame.top - camera.y) / camera.scale };
      const size = old.width / (2 * node.radius * camera.scale);
      node.drawn.animate({ transform: [placed(from, size), placed(node, 1)] }, { duration: MOVING, easing: EASING });
    }
  }
  for (const edge of edges) [edge.drawn, edge.drawnLabel].forEach(appear);
}

// Scrolls a picture to the middle of the window.
const bringIntoView = (canvas) =>
  canvas.scrollIntoView({ block: "center", behavior: wantsMotion() ? "smooth" : "auto" });
