// The map of a run: all that its records tell of it, up to the one that is shown.
class RunMap {
  constructor(goTo) {
    this.view = MapView.empty("Map of the walk, north up", "Show the whole walk");
    this.node = this.view.paper;
    this.view.pick = (mark) => { if (mark.dataset.time) goTo(Number(mark.dataset.time)); };
    this.walk = this.view.track({ points: [], isTimed: true });
    this.agent = this.view.markOf({ x: 0, y: 0, kind: "agent", shape: "small", heading: 0 });
    this.view.group("trails").append(this.walk.node);
    this.shown = [];
    this.symbols = el("ul");
    this.legend = el("ul", { class: "legend", hidden: true }, el("li", {}, el("details", {}, el("summary", {}, "symbols"), this.symbols)));
    this.named = new Set();
    // Steps close together share a mark, as long as they do.
    this.name("joined steps", this.swatchOf("candidate", "pair"));
    const joined = this.legend.firstChild;
    joined.className = "last";
    this.view.chart.addEventListener("drawn", () => { joined.hidden = !this.view.chart.querySelector(".mark.group"); });
  }

  // Records that are new: their ground, marks and places.
  add(told) {
    for (const one of told) {
      const time = one.seq;
      if (one.map || one.ground) this.legend.hidden = false;
      for (const [kind, shape, words] of one.legend || []) this.name(words, kind.startsWith("line ") ? this.lineOf(kind) : this.swatchOf(kind, shape));
      if (one.map) {
        const timed = (parts) => parts.map((part) => ({ ...part, time }));
        this.view.add({ ...one.map, paths: timed(one.map.paths), marks: timed(one.map.marks) });
        this.nameSymbols(one.map.symbols);
        this.shown.push(...one.map.corners);
      }
      if (one.kind !== "step") continue;
      if (one.ground) {
        this.view.add(one.ground);
        this.name("way walked", this.lineOf("line main"));
        this.name("here", this.swatchOf("agent", "small", 0));
        this.nameSymbols(one.ground.symbols);
      }
      this.view.add({
        marks: one.marks.map((mark) => ({ ...mark, time: mark.kind === "goal" ? null : time })),
        paths: (one.paths || []).map((path) => ({ ...path, time })),
      });
      this.walk.points.push([...one.at, time]);
      this.shown.push(one.at, ...one.marks.map(({ x, y }) => [x, y]));
    }
    this.view.group("marks").append(...this.view.chart.querySelectorAll(".mark.from"), this.agent);
    this.view.fit(this.shown, { aspect: SHAPE });
  }

  // A line of the legend, once.
  name(words, drawn, isSymbol = false) {
    if (this.named.has(words)) return;
    this.named.add(words);
    const swatch = MapView.node("svg", { class: "chart swatch", viewBox: "-13 -13 26 26", "aria-hidden": "true" }, drawn);
    const line = el("li", { hidden: isSymbol }, swatch, words);
    if (isSymbol) this.symbols.append(line);
    else (this.legend.querySelector(":scope > .last") || this.legend.lastChild).before(line);
  }

  nameSymbols(symbols) {
    for (const { name, shape, legend } of symbols) this.name(legend, MapView.node("path", { class: `glyph at-${name}`, d: shape }), true);
  }

  // A mark as large as a legend has room for.
  swatchOf(kind, shape, heading) {
    const put = { pin: "translate(0 13)", pair: "scale(0.55)", small: "translate(0 7) scale(0.55)" }[shape];
    return MapView.node("g", { transform: put }, this.view.markOf({ x: 0, y: 0, kind, shape, heading }));
  }

  lineOf(kind) {
    return MapView.node("g", { class: kind.replace("line", "trail") }, MapView.node("path", { class: "path", d: "M-9 0H9" }));
  }

  // The walk up to a record, and where the agent faces there.
  show(seq, heading, here) {
    const past = this.walk.points.filter((point) => point[2] <= seq);
    const at = here || past.at(-1);
    this.agent.classList.toggle("off", !at);
    if (at) this.view.move(this.agent, at[0], at[1], heading);
    // Who stands on a moment hides its mark.
    for (const mark of this.view.chart.querySelectorAll(".mark.step")) {
      const { x, y } = mark.querySelector(".scaled").dataset;
      mark.classList.toggle("off", Boolean(at) && Math.hypot(x - at[0], y - at[1]) < 1);
    }
    this.view.show(seq);
  }
}
