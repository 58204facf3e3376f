// Pan and zoom of a picture: wheel with Ctrl or ⌘, drag, two fingers, buttons and the keys + - 0.
// The wheel alone and one finger up or down scroll the page.

class Camera {
  constructor(canvas) {
    this.canvas = canvas;
    this.scale = 1;
    [this.x, this.y] = [0, 0];
    this.pointers = new Map();
    canvas.addEventListener(
      "wheel",
      (event) => {
        if (!event.ctrlKey && !event.metaKey) return;
        event.preventDefault();
        this.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), this.at(event));
      },
      { passive: false },
    );
    canvas.addEventListener("pointerdown", (event) => this.pressed(event));
  }

  // Follows a pointer, wherever it goes, until it is let go.
  pressed(event) {
    const ends = new AbortController();
    const listen = (name, action) => window.addEventListener(name, action, { signal: ends.signal });
    const letGo = (other) => {
      if (other.pointerId !== event.pointerId) return;
      this.pointers.delete(other.pointerId);
      ends.abort();
    };
    this.pointers.set(event.pointerId, this.at(event));
    listen("pointermove", (other) => other.pointerId === event.pointerId && this.moved(other));
    listen("pointerup", letGo);
    listen("pointercancel", letGo);
  }

  at(event) {
    const { left, top } = this.canvas.getBoundingClientRect();
    return { x: event.clientX - left, y: event.clientY - top };
  }

  moved(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) return;
    const now = this.at(event);
    const [other] = [...this.pointers]
      .filter(([id]) => id !== event.pointerId)
      .map(([, point]) => point);
    this.pointers.set(event.pointerId, now);
    if (other) {
      const far = (point) => Math.hypot(point.x - other.x, point.y - other.y) || 1;
      this.pan((now.x - before.x) / 2, (now.y - before.y) / 2);
      this.zoom(far(now) / far(before), { x: (now.x + other.x) / 2, y: (now.y + other.y) / 2 });
    } else this.pan(now.x - before.x, now.y - before.y);
  }

  pan(x, y) {
    [this.x, this.y] = [this.x + x, this.y + y];
    this.apply();
  }

  zoom(factor, point) {
    const { width, height } = this.canvas.getBoundingClientRect();
    const about = point ?? { x: width / 2, y: height / 2 };
    const scale = Math.min(6, Math.max(0.05, this.scale * factor));
    this.x = about.x - ((about.x - this.x) * scale) / this.scale;
    this.y = about.y - ((about.y - this.y) * scale) / this.scale;
    this.scale = scale;
    this.apply();
  }

  show(layer, box) {
    [this.layer, this.box] = [layer, box];
    this.fit();
  }

  fit() {
    const { width, height } = this.canvas.getBoundingClientRect();
    this.scale = fitScale(this.box, width, height);
    this.x = (width - this.box.width * this.scale) / 2 - this.box.left * this.scale;
    this.y = (height - this.box.height * this.scale) / 2 - this.box.top * this.scale;
    this.apply();
  }

  // Moves a point of the picture into view.
  reveal({ x, y }) {
    const { width, height } = this.canvas.getBoundingClientRect();
    const [left, top] = [x * this.scale + this.x, y * this.scale + this.y];
    const shift = (at, size) => (at < 40 ? 40 - at : at > size - 40 ? size - 40 - at : 0);
    this.pan(shift(left, width), shift(top, height));
  }

  apply() {
    this.canvas.classList.toggle("far", this.scale < 0.45);
    this.layer?.setAttribute(
      "transform",
      `translate(${f(this.x)} ${f(this.y)}) scale(${this.scale})`,
    );
  }
}

const fitScale = (box, width, height) =>
  Math.max(0.05, Math.min(1.6, (width - 24) / box.width, (height - 24) / box.height));
