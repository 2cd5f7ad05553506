// Many runs at a glance: a card for each, which opens it, alone or beside others.
const MOST_PANELS = 4;

class Grid {
  constructor() {
    this.chosen = new Set();
    this.cards = new Map();
    this.groups = new Map();
    this.filter = el("input", { type: "search", "aria-label": "Filter runs", placeholder: "Filter" });
    this.tally = el("output", { class: "dim" });
    this.compare = button("Open side by side", { disabled: true }, () => { location.hash = `run=${[...this.chosen].join(",")}`; });
    this.lists = el("div");
    this.node = el("section", { class: "grid", "aria-label": "Runs" }, el("div", { class: "toolbar buttons" }, this.filter, this.compare, this.tally), this.lists);
    this.filter.addEventListener("input", () => this.narrow());
  }

  show(runs) {
    for (const one of runs) {
      const known = this.cards.get(one.run);
      if (known && known.state === JSON.stringify(one)) continue;
      const node = this.cardOf(one);
      if (known) known.node.replaceWith(node);
      else this.listOf(one.group).append(node);
      this.cards.set(one.run, { node, state: JSON.stringify(one) });
    }
    const open = runs.filter((one) => one.state === "open").length;
    this.tally.textContent = count(runs.length, "run") + (open ? `, ${open} not ended` : "");
    this.narrow();
  }

  listOf(group) {
    if (!this.groups.has(group)) {
      const list = el("ul", { class: "cards tiles" });
      this.groups.set(group, list);
      this.lists.append(el("section", {}, group ? el("h2", {}, group) : null, list));
    }
    return this.groups.get(group);
  }

  cardOf(one) {
    const box = el("input", { type: "checkbox", "aria-label": `Choose ${one.title}`, checked: this.chosen.has(one.run) });
    box.addEventListener("change", () => {
      if (box.checked) this.chosen.add(one.run);
      else this.chosen.delete(one.run);
      this.compare.disabled = this.chosen.size < 2 || this.chosen.size > MOST_PANELS;
      this.compare.title = this.chosen.size > MOST_PANELS ? `Choose at most ${MOST_PANELS}` : "";
    });
    const words = { ended: "ended", open: "not ended", failed: "failed" }[one.state];
    return el(
      "li",
      { class: `card linked ${one.state}` },
      this.sketch(one.path),
      el("p", { class: "name" }, el("a", { href: `#run=${one.run}` }, el("bdi", {}, one.title)), el("span", { class: `badge state ${one.state}` }, words)),
      one.about ? el("p", { class: "dim about" }, el("bdi", {}, one.about)) : null,
      el("p", { class: "outcome-of" }, one.note),
      one.score === null ? null : el("p", { class: "score" }, el("meter", { min: 0, max: 1, value: one.score, "aria-label": `Score of ${one.title}` }), ` ${(100 * one.score).toFixed(0)}`),
      el("label", { class: "dim" }, box, " side by side"),
    );
  }

  // The way walked, north up.
  sketch(path) {
    const [xs, ys] = [path.map((point) => point[0]), path.map((point) => point[1])];
    const [left, top] = [Math.min(0, ...xs), Math.min(0, ...ys)];
    const size = Math.max(Math.max(0, ...xs) - left, Math.max(0, ...ys) - top, 40);
    const [x, y] = [(Math.max(0, ...xs) + left - size * 1.6) / 2, (Math.max(0, ...ys) + top - size) / 2];
    const chart = draw("svg", { class: "sketch", viewBox: `${x - size * 0.16} ${y - size * 0.1} ${size * 1.92} ${size * 1.2}`, "aria-hidden": "true" });
    if (!path.length) return chart;
    chart.append(
      draw("polyline", { class: "path", points: path.map((point) => point.join(",")).join(" ") }),
      draw("circle", { class: "from", cx: path[0][0], cy: path[0][1], r: size * 0.045 }),
      draw("circle", { class: "to", cx: path[path.length - 1][0], cy: path[path.length - 1][1], r: size * 0.055 }),
    );
    return chart;
  }

  narrow() {
    const wanted = this.filter.value.trim().toLowerCase();
    for (const { node } of this.cards.values()) node.hidden = !node.textContent.toLowerCase().includes(wanted);
  }
}
