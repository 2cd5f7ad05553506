// The records of a run on a line: go to any of them, or let them pass at any speed.
const RECORD_MS = 1000; // a record at speed 1
const SPEEDS = [0.5, 1, 2, 5, 10, 20];
const TALL = new Set(["enter", "continue", "closer"]);

class Timeline {
  constructor(goTo) {
    this.goTo = goTo;
    this.records = [];
    this.at = 0;
    this.timer = 0;
    this.slider = el("input", { type: "range", min: 0, max: 0, value: 0, step: 1, "aria-label": "Time in the run" });
    this.ticks = draw("svg", { class: "kinds", preserveAspectRatio: "none", "aria-hidden": "true" });
    this.play = button("Play", { class: "main" }, () => this.toggle());
    this.speed = el("select", { "aria-label": "Speed" }, ...SPEEDS.map((speed) => el("option", { value: speed, selected: speed === 1 }, `${speed}\u00d7`)));
    this.where = el("output", { class: "where" });
    const jump = (sign, label, by) => button(sign, { "aria-label": label, title: label }, () => this.user(by()));
    this.latest = button("Latest", { class: "latest" }, () => this.user(this.records.length - 1));
    this.node = el(
      "div",
      { class: "timeline" },
      el(
        "div",
        { class: "toolbar tight", role: "group", "aria-label": "Replay" },
        this.play,
        jump("|\u25c0", "First record", () => 0),
        jump("\u25c0", "Record before", () => this.at - 1),
        jump("\u25b6", "Next record", () => this.at + 1),
        jump("\u25b6|", "Last record", () => this.records.length - 1),
        this.speed,
        el("div", { class: "track" }, this.ticks, this.slider),
        this.where,
        this.latest,
      ),
    );
    this.slider.addEventListener("input", () => this.user(Number(this.slider.value)));
  }

  get isLast() {
    return this.at >= this.records.length - 1;
  }

  add(records) {
    this.records = records;
    this.slider.max = Math.max(records.length - 1, 0);
    const last = Math.max(records.length - 1, 1);
    const wide = Math.min(0.7, last / 40); // few records: slim all the same
    this.ticks.setAttribute("viewBox", `0 0 ${last} 10`);
    this.ticks.replaceChildren(
      ...records.filter((one) => one.kind !== "start").map((one) => {
        const sort = one.kind === "step" ? (one.decidedBy === "user" ? "user" : one.mark) : one.kind;
        const high = TALL.has(sort) || sort === "user" || sort === "end" ? 10 : sort === "crossing" ? 7 : 4;
        return draw("rect", { class: `tick ${sort}`, x: one.seq - wide / 2, y: 10 - high, width: wide, height: high });
      }),
    );
  }

  // Somebody chose: what was passing by itself stops.
  user(at) {
    this.stop();
    this.goTo(Math.min(Math.max(at, 0), this.records.length - 1), true);
  }

  show(at, words) {
    this.at = at;
    this.slider.value = at;
    this.slider.setAttribute("aria-valuetext", words);
    this.where.textContent = `${at + 1} of ${this.records.length}`;
    this.latest.disabled = this.isLast;
  }

  toggle() {
    if (this.timer) return this.stop();
    if (this.isLast) this.goTo(0, true);
    this.play.textContent = "Stop";
    this.next();
  }

  next() {
    this.timer = setTimeout(() => {
      if (this.isLast) return this.stop();
      this.goTo(this.at + 1, false);
      if (this.timer) this.next();
    }, RECORD_MS / Number(this.speed.value));
  }

  stop() {
    clearTimeout(this.timer);
    this.timer = 0;
    this.play.textContent = "Play";
  }
}
