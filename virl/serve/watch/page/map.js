// The map of a run: metres, x to the east and y to the south, as the server puts them on paper.
const MARGIN_M = 45;
const LEAST_WIDTH_M = 180;
const ASPECT = 4 / 3;

const roundLength = (length) => {
  const power = 10 ** Math.floor(Math.log10(length));
  return [5, 2, 1].find((step) => step * power <= length) * power;
};

class RunMap {
  constructor(goTo) {
    this.goTo = goTo;
    this.whole = null;
    this.zoom = 1;
    this.centre = null;
    this.here = [0, 0];
    this.marks = [];
    this.pins = [];
    this.layers = Object.fromEntries(
      ["streets casing", "streets", "ghost", "halo", "path", "sights", "marks", "pins", "places", "here", "scale"].map((name) => [
        name.replace(" ", "-"),
        name === "ghost" || name === "halo" || name === "path"
          ? draw("polyline", { class: name === "path" ? "path" : `path ${name}` })
          : draw("g", { class: name }),
      ]),
    );
    this.chart = draw("svg", { class: "chart", role: "img", "aria-label": "Map of the walk, north up" }, ...Object.values(this.layers));
    this.arrow = draw("path", { class: "agent", d: "M-9 9L0-11L9 9L0 4z" });
    this.layers.here.append(this.scaled([0, 0], draw("circle", { class: "ring", r: 15 }), this.arrow));
    this.bar = draw("path");
    this.length = draw("text", { class: "label scale", y: -8 });
    this.layers.scale.setAttribute("class", "scale-bar");
    this.layers.scale.append(this.bar, this.scaled([0, 0], this.length));
    this.node = el("div", { class: "paper" }, this.chart, this.tools());
    this.listen();
  }

  tools() {
    const zoom = (label, sign, factor) => button(sign, { "aria-label": label }, () => this.zoomBy(factor));
    return el(
      "div",
      { class: "zoom", role: "group", "aria-label": "Map" },
      zoom("Zoom in", "+", 0.66),
      zoom("Zoom out", "\u2212", 1.5),
      zoom("Show the whole walk", "\u2922", 0),
    );
  }

  scaled(at, ...children) {
    const group = draw("g", { class: "scaled" }, ...children);
    group.at = at;
    return group;
  }

  // Records that are new: their streets, marks and places.
  add(told) {
    for (const one of told) {
      for (const street of one.streets || []) {
        for (const layer of ["streets-casing", "streets"]) this.layers[layer].append(draw("polyline", { points: street }));
      }
      for (const goal of one.goals || []) this.layers.places.append(this.goalOf(goal));
      if (one.kind !== "step") continue;
      this.marks.push({ told: one, node: this.markOf(one) });
      for (const place of one.places) this.pins.push({ told: one, ...this.pinOf(one, place) });
    }
    this.fit();
  }

  markOf(one) {
    const kind = one.mark === "walk" && one.decidedBy === "user" ? "walk user" : one.mark;
    const shape = one.mark === "walk"
      ? [draw("circle", { class: "seen", r: 2.6 })]
      : [draw("circle", { class: "seen", r: 10 }), draw("text", { y: 3.8, class: one.step > 99 ? "long" : null }, String(one.step))];
    const node = draw(
      "g",
      { class: `mark ${kind}` },
      draw("title", {}, `Step ${one.step}: ${one.title}`),
      this.scaled(one.at, draw("circle", { class: "hit", r: 12 }), ...shape),
    );
    node.addEventListener("click", () => this.goTo(one.seq));
    this.layers.marks.append(node);
    return node;
  }

  pinOf(one, place) {
    const label = place.decision === "enter" ? draw("text", { class: "label", y: place.at[1] > one.at[1] ? 24 : -13 }, place.name.slice(0, 28)) : null;
    const sight = draw("line", { class: `sight ${place.decision}`, x1: one.at[0], y1: one.at[1], x2: place.at[0], y2: place.at[1] });
    const node = draw(
      "g",
      { class: `pin ${place.decision}` },
      draw("title", {}, place.name),
      this.scaled(place.at, draw("rect", { class: "seen", x: -5, y: -5, width: 10, height: 10, transform: "rotate(45)" }), label),
    );
    this.layers.sights.append(sight);
    this.layers.pins.append(node);
    return { node, sight };
  }

  goalOf({ label, at }) {
    const words = label ? draw("text", { class: "label", y: 24 }, label.slice(0, 28)) : null;
    return draw(
      "g",
      { class: "goal" },
      draw("title", {}, label || "Target"),
      this.scaled(at, draw("rect", { class: "seen", x: -6, y: -6, width: 12, height: 12, transform: "rotate(45)" }), words),
    );
  }

  // The walk up to a record, and where the agent faces there.
  show(seq, heading, here) {
    const points = (marks) => marks.map(({ told }) => told.at.join(",")).join(" ");
    const past = this.marks.filter(({ told }) => told.seq <= seq);
    this.layers.path.setAttribute("points", points(past));
    this.layers.halo.setAttribute("points", points(past));
    this.layers.ghost.setAttribute("points", points(this.marks));
    for (const { told, node } of this.marks) node.classList.toggle("later", told.seq > seq);
    for (const { told, node, sight } of this.pins) {
      node.classList.toggle("later", told.seq > seq);
      sight.classList.toggle("later", told.seq > seq);
    }
    this.layers.here.classList.toggle("later", !past.length && !here);
    if (past.length) this.here = past[past.length - 1].told.at;
    if (here) this.here = here;
    this.layers.here.firstChild.at = this.here;
    this.arrow.setAttribute("transform", `rotate(${heading})`);
    if (this.zoom < 1 && this.follows) this.centre = this.here;
    this.frame();
  }

  // Where all of it has room; the paper grows only when the walk leaves it.
  fit() {
    const points = [...this.marks.map(({ told }) => told.at), ...this.pins.flatMap(({ told }) => told.places.map((place) => place.at)), ...this.marks.flatMap(({ told }) => (told.goals || []).map((goal) => goal.at))];
    if (!points.length) return;
    const [xs, ys] = [points.map((point) => point[0]), points.map((point) => point[1])];
    const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    const box = this.whole;
    const room = MARGIN_M / 2;
    if (box && left > box.x + room && right < box.x + box.w - room && top > box.y + room && bottom < box.y + box.h - room) return;
    const w = Math.max(right - left + 2 * MARGIN_M, (bottom - top + 2 * MARGIN_M) * ASPECT, LEAST_WIDTH_M);
    const h = w / ASPECT;
    this.whole = { x: (left + right) / 2 - w / 2, y: (top + bottom) / 2 - h / 2, w, h };
  }

  frame() {
    const across = this.chart.clientWidth;
    if (!this.whole || !across) return; // nothing to draw yet, or hidden
    const { whole, zoom } = this;
    const [w, h] = [whole.w * zoom, whole.h * zoom];
    const [x, y] = this.centre && zoom < 1 ? this.centre : [whole.x + whole.w / 2, whole.y + whole.h / 2];
    this.box = { x: x - w / 2, y: y - h / 2, w, h };
    const pixel = w / across;
    this.chart.setAttribute("viewBox", `${this.box.x} ${this.box.y} ${w} ${h}`);
    const size = pixel * (across < 500 ? 0.85 : 1);
    for (const group of this.chart.querySelectorAll(".scaled")) {
      group.setAttribute("transform", `translate(${group.at[0]} ${group.at[1]}) scale(${size})`);
    }
    const bar = roundLength(w / 5);
    const from = [this.box.x + 14 * pixel, this.box.y + h - 14 * pixel];
    this.bar.setAttribute("d", `M${from[0]} ${from[1]}h${bar}`);
    this.length.parentNode.setAttribute("transform", `translate(${from[0]} ${from[1]}) scale(${size})`);
    this.length.textContent = metres(bar);
    this.chart.classList.toggle("near", zoom < 1);
  }

  zoomBy(factor) {
    this.zoom = factor ? Math.min(1, Math.max(this.zoom * factor, 1 / 12)) : 1;
    this.follows = true;
    this.centre = this.here;
    this.frame();
  }

  listen() {
    let held = null;
    this.chart.addEventListener("pointerdown", (event) => {
      held = [event.clientX, event.clientY];
    });
    addEventListener("pointermove", (event) => {
      if (!held || this.zoom >= 1 || !this.box) return;
      const pixel = this.box.w / this.chart.clientWidth;
      this.centre = [this.centre[0] - (event.clientX - held[0]) * pixel, this.centre[1] - (event.clientY - held[1]) * pixel];
      this.follows = false;
      held = [event.clientX, event.clientY];
      this.frame();
    });
    for (const end of ["pointerup", "pointercancel"]) addEventListener(end, () => { held = null; });
    new ResizeObserver(() => this.frame()).observe(this.chart);
  }
}
