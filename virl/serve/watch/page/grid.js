// Many runs at a glance: a card for each, which opens it, alone or beside others.
const MOST_PANELS = 4;

class Grid {
  constructor() {
    this.chosen = new Set();
    this.cards = new Map();
    this.groups = new Map();
    this.maps = new Map();
    this.near = new IntersectionObserver((seen) => seen.forEach((one) => { if (one.isIntersecting) this.draw(one.target); }));
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
      else this.put(node, one, runs);
      this.cards.set(one.run, { node, state: JSON.stringify(one) });
    }
    const open = runs.filter((one) => one.state === "open").length;
    this.tally.textContent = count(runs.length, "run") + (open ? `, ${open} not ended` : "");
    this.narrow();
  }

  // A new card stands before the next older one of its group that is shown.
  put(node, one, runs) {
    const later = runs.slice(runs.indexOf(one) + 1).find(({ run, group }) => group === one.group && this.cards.has(run));
    this.listOf(one.group).insertBefore(node, later ? this.cards.get(later.run).node : null);
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
    return el(
      "li",
      { class: `card linked ${one.state}` },
      this.mapOf(one.run),
      typeof one.view === "number" ? el("img", { src: addressOf(one.run, { seq: one.view }, 0), alt: `Last view of run ${one.run}, ${one.title}`, loading: "lazy", hidden: true }) : null,
      el("p", { class: "name" }, el("span", { class: "eyebrow" }, el("bdi", {}, one.title)), el("span", { class: `badge state ${one.ending[1]}` }, one.ending[0])),
      el("p", { class: "result-of" }, el("a", { href: `#run=${one.run}` }, el("bdi", {}, one.note || one.title))),
      one.about ? el("p", { class: "dim" }, el("bdi", {}, one.about)) : null,
      one.score === null ? null : el("p", { class: "score" }, el("meter", { min: 0, max: 1, value: one.score, "aria-label": `Score of ${one.title}` }), ` ${(100 * one.score).toFixed(0)}`),
      el("label", { class: "dim" }, box, " side by side"),
    );
  }

  // The map of a run, which is asked for, for each new card again, when it comes into sight; without one, its last view.
  mapOf(run) {
    if (!this.maps.has(run)) this.maps.set(run, MapView.empty(""));
    const { paper } = this.maps.get(run);
    paper.dataset.run = run;
    paper.ariaHidden = "true";
    paper.hidden = false;
    this.near.observe(paper);
    return paper;
  }

  async draw(paper) {
    this.near.unobserve(paper);
    const map = await mapOf(Number(paper.dataset.run)).catch(() => null);
    paper.hidden = !map;
    const seen = paper.parentNode?.querySelector(":scope > img");
    if (seen) seen.hidden = Boolean(map);
    if (!map) return;
    const view = this.maps.get(Number(paper.dataset.run));
    view.clear();
    view.add(map);
    view.fit(map.corners, { anew: true, margin: 0, least: 0 });
    view.draw();
  }

  narrow() {
    const wanted = this.filter.value.trim().toLowerCase();
    for (const { node } of this.cards.values()) node.hidden = !node.textContent.toLowerCase().includes(wanted);
  }
}
