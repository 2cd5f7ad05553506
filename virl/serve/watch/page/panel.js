// One run: its view, its map, what it thinks, what it costs.
const [SIGN_PX, LINE_PX] = [26, 40]; // height of the sign that thoughts go on, and more than that of one line

class Panel {
  constructor(number, addressOf, card) {
    this.number = number;
    this.records = [];
    this.at = -1;
    this.follows = true;
    this.live = null;
    this.who = el("span", {}, el("bdi", {}, card.title));
    this.began = el("span");
    this.eyebrow = el("p", { class: "eyebrow" }, this.who, this.began);
    this.title = el("h2", {}, card.state === "open" ? "The run starts" : el("bdi", {}, card.note));
    this.badge = el("span", { class: `badge state ${card.ending[1]}`, role: "status" }, card.ending[0]);
    this.progress = el("span", { class: "dim" });
    this.intention = el("p", { class: "lead" });
    this.outcome = el("p", { class: "outcome", hidden: true });
    this.fault = el("p", { class: "fault", role: "alert", hidden: true });
    this.stage = new Stage((record, view) => addressOf(number, record, view));
    if (card.state !== "open") this.stage.missing("Loading the view.");
    this.map = new RunMap((seq) => this.timeline.user(seq));
    this.timeline = new Timeline((at, byHand) => this.go(at, byHand));
    this.thinking = el("p", { class: "dim", hidden: true });
    this.thoughts = el("div", { class: "thoughts" });
    this.think = el("div", { class: "card think", tabindex: 0, role: "region", "aria-label": "Thoughts" }, this.thinking, this.thoughts);
    this.money = el("dl", { class: "figures" });
    this.meter = el("meter", { min: 0, max: 1, value: 0, hidden: true, "aria-label": "Budget spent" });
    this.log = el("ol", { class: "log", "aria-label": "What happened" });
    this.notice = el("p", { class: "notice" });
    this.told = el("p", { class: "aloud", "aria-live": "polite" });
    this.wheel = new Wheel(number, this.stage, () => this.go(this.at, false));
    this.node = el(
      "section",
      { class: "run is-new", id: `run-${number}` },
      el(
        "div",
        { class: "run-grid" },
        el("header", {}, this.eyebrow, el("div", { class: "name" }, this.title, this.badge, this.progress), this.outcome, this.intention, this.fault),
        el("div", { class: "card seen-now flush" }, this.stage.node, this.wheel.node, this.timeline.node, this.wheel.talk),
        el(
          "div",
          { class: "rail" },
          (this.mapCard = el("div", { class: "card map is-empty" }, this.map.node, this.map.legend, this.notice)),
          this.think,
          el("div", { class: "card happened" }, el("h3", {}, "What happened"), this.log),
        ),
        el("div", { class: "card cost" }, this.money, this.meter),
      ),
      this.told,
    );
    this.node.setAttribute("aria-labelledby", (this.title.id = `run-${number}-title`));
    this.listen();
  }

  get start() {
    return this.records[0];
  }

  get end() {
    const last = this.records[this.records.length - 1];
    return last && last.kind === "end" ? last : null;
  }

  add(told) {
    const wasAt = this.at;
    const known = this.records.length;
    told = told.filter((one) => one.seq >= known); // a stream that was taken up again
    if (!told.length) return;
    this.records.push(...told);
    if (!known) this.begin();
    this.node.classList.toggle("is-sightless", !this.records.some((one) => one.views && one.views.length));
    this.map.add(told);
    this.timeline.add(this.records);
    this.log.append(...told.map((one) => this.entry(one)));
    this.badges();
    if (this.follows && !this.timeline.timer) this.go(this.records.length - 1, false);
    else this.go(wasAt, false);
  }

  begin() {
    this.node.classList.remove("is-new");
    const { who, city, intention, mind, notice, started } = this.start;
    this.who.replaceChildren(el("bdi", {}, who), " in ", el("bdi", {}, city));
    if (!this.end) this.title.replaceChildren(...this.who.cloneNode(true).childNodes);
    this.intention.textContent = intention;
    this.mind = mind;
    this.began.textContent = started ? ` \u00b7 ${started}` : "";
    this.notice.textContent = notice ? `Map, views and places: ${notice}.` : "";
  }

  entry(one) {
    const number = one.kind === "step" ? el("b", {}, String(one.step)) : null;
    const title = { start: "Started", end: "Ended" }[one.kind] || one.title;
    const by = one.decidedBy === "user" ? el("span", { class: "badge you" }, "user") : null;
    const sort = one.kind === "step" ? one.mark : `is-${one.kind}`;
    return el("li", { class: sort }, button(el("span", {}, number, ` ${title} `, by), { class: "bare" }, () => this.timeline.user(one.seq)));
  }

  badges() {
    const { end, live, failed } = this;
    const [words, state] = failed ? ["failed", "failed"] : end ? end.ending : live ? [live === "yours" ? (this.wheel.standing && this.wheel.standing.plays ? "you play" : "you are at the wheel") : live, live] : ["not ended", "open"];
    this.badge.className = `badge state ${state}`;
    if (this.badge.textContent !== words) this.badge.textContent = words;
    this.eyebrow.hidden = !end;
    if (!end) return;
    this.outcome.hidden = !end.decided;
    this.outcome.className = `outcome ${state}`;
    this.outcome.textContent = end.decided.slice(0, 1).toUpperCase() + end.decided.slice(1);
    this.title.replaceChildren(el("bdi", {}, end.title));
  }

  // Show the run as it was at a record.
  go(at, byHand) {
    if (!this.records.length) return;
    at = Math.min(Math.max(at, 0), this.records.length - 1);
    if (byHand) this.follows = at === this.records.length - 1;
    const moved = at !== this.at;
    this.at = at;
    const past = this.records.slice(0, at + 1);
    const now = past[at];
    const step = past.findLast((one) => one.kind === "step");
    const seen = past.findLast((one) => one.views && one.views.length) || null;
    const words = this.words(now);
    this.timeline.show(at, words);
    const looks = this.wheel.looking && this.follows;
    this.wheel.ways.hidden = !looks || !this.wheel.ways.hasChildNodes();
    if (!looks) this.stage.show(seen, step ? step.heading : 0);
    else if (!this.stage.isLive) this.wheel.look();
    const facing = looks ? this.wheel.eye.heading : step ? step.heading : 0;
    this.map.show(now.seq, facing, this.follows ? this.here : null);
    const isEmpty = !this.map.shown.length;
    this.mapCard.classList.toggle("is-empty", isEmpty);
    this.mapCard.hidden = isEmpty && Boolean(this.end);
    this.spent(past, now);
    if (!moved) return;
    this.explain(now, step);
    this.mark(at);
    this.told.textContent = words;
  }

  words(now) {
    if (now.kind === "start") return "The start of the run";
    const head = now.kind === "step" ? `Step ${now.step}: ${now.title}` : now.title;
    return now.decided ? `${head}. ${now.decided}` : head;
  }

  mark(at) {
    const before = this.log.querySelector("[aria-current]");
    if (before) before.removeAttribute("aria-current");
    const entry = this.log.children[at];
    entry.firstChild.setAttribute("aria-current", "step");
    const [top, bottom] = [entry.offsetTop, entry.offsetTop + entry.offsetHeight];
    if (top < this.log.scrollTop || bottom > this.log.scrollTop + this.log.clientHeight) {
      this.log.scrollTop = bottom - this.log.clientHeight;
    }
  }

  // At the end, whose outcome the head tells, what led to it.
  explain(now, step) {
    if (now.kind === "end" && step) now = { ...step, facts: now.facts, decided: isSame(step.decided, now.decided) ? "" : step.decided };
    const isTold = (now.places || []).some(({ name }) => now.title.includes(name));
    const given = new Set((now.places || []).map(({ reason }) => reason));
    const head = now.kind === "step" ? `Step ${now.step}` : now.kind === "start" ? "Start" : now.kind === "end" ? "End" : step ? `After step ${step.step}` : "Before the first step";
    const by = now.decidedBy && now.decidedBy !== this.start.decidedBy && now.kind === "step"
      ? el("p", { class: now.decidedBy === "user" ? "by you" : "by" }, `Decided by ${now.decidedBy}`)
      : null;
    refill(
      this.thoughts,
      el("p", { class: "eyebrow" }, head),
      isTold ? null : el("h3", {}, now.kind === "start" ? "The run begins" : now.title),
      now.decided && now.decided !== [...given].join(" ") ? el("p", { class: "decided" }, now.decided) : null,
      by,
      ...(now.places || []).map((place) =>
        el(
          "section",
          { class: `place ${place.decision}` },
          el(isTold ? "h3" : "h4", {}, el("bdi", {}, place.name), " ", el("span", { class: `badge ${place.decision}` }, place.decision === "enter" ? "entered" : "passed by")),
          el("p", { class: "types" }, place.about),
          el("blockquote", {}, place.reason),
        ),
      ),
      ...(now.found || []).map((text) => el("p", { class: "dim" }, `Counted: ${text}`)),
      ...(now.thoughts || []).map((thought) =>
        el(
          "section",
          { class: "thought" },
          el("h4", {}, thought.question, " ", el("small", {}, `answered by ${thought.mind}${thought.cost ? `, ${thought.cost}` : ""}`)),
          ...thought.said.filter((text) => !given.has(text)).map((text) => el("blockquote", {}, text)),
          facts(thought.facts),
        ),
      ),
      now.facts ? facts(now.facts) : null,
    );
    this.think.scrollTop = 0;
    this.showWholeLines();
  }

  // No line of the thoughts is cut where they go on below their card.
  showWholeLines() {
    const { think, thoughts } = this;
    const more = think.scrollHeight - think.scrollTop - think.clientHeight > 1;
    think.classList.toggle("has-more", more);
    if (!more) return;
    const edge = think.getBoundingClientRect().bottom - SIGN_PX;
    const lines = new Range();
    lines.selectNodeContents(thoughts);
    const cut = [...lines.getClientRects()].filter(({ top, bottom }) => top < edge && bottom > edge && bottom - top < LINE_PX);
    const whole = Math.min(edge, ...cut.map(({ top }) => top));
    thoughts.style.setProperty("--whole", `${whole - thoughts.getBoundingClientRect().top}px`);
  }

  spent(past, now) {
    const sum = (field) => past.reduce((total, one) => total + (one.cost ? one.cost[field] : 0), 0);
    const whole = now.kind === "end" ? now.total : null;
    const of = (field) => (whole ? whole[field] : sum(field));
    const usd = of("usd");
    const { budget = null, most } = this.start;
    const steps = past.filter((one) => one.kind === "step");
    const walked = steps.reduce((total, one) => total + one.metres, 0);
    const last = steps.at(-1);
    this.progress.textContent = last ? `Step ${last.step}${most ? ` of at most ${most}` : ""}` : "";
    const rows = [
      ["spent", budget === null ? (usd ? dollars(usd) : "free") : `${dollars(usd)} of ${dollars(budget)}`],
      ["model calls", String(of("calls"))],
      ["tokens", String(of("tokens"))],
      ["map requests", String(of("requests"))],
      ["views", String(of("views"))],
      ["walked", metres(walked)],
      ["time", lasting(of("seconds"))],
      ["decides", this.mind],
    ];
    this.money.replaceChildren(...rows.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
    this.meter.hidden = budget === null;
    if (budget !== null) {
      this.meter.max = budget || 1;
      this.meter.high = budget * 0.8;
      this.meter.value = usd;
      this.meter.textContent = `${dollars(usd)} of ${dollars(budget)}`;
    }
  }

  state(state) {
    const { control } = state;
    this.live = control && control.state;
    this.here = control && control.at;
    if (control && control.state === "yours" && (!this.wheel.standing || this.wheel.standing.state !== "yours")) this.follows = true;
    this.wheel.show(control);
    if (this.follows) this.go(this.records.length - 1, false);
    this.failed = Boolean(state.fault);
    this.fault.hidden = !this.failed;
    this.fault.textContent = state.fault;
    this.thinking.hidden = !state.thinking;
    this.thinking.textContent = state.thinking;
    this.node.classList.toggle("is-lost", this.failed && !this.records.length);
    if (!this.records.length) this.title.textContent = this.failed ? "The run did not start" : "The run starts";
    this.badges();
  }

  listen() {
    new ResizeObserver(() => this.records.length && this.mark(this.at)).observe(this.log);
    new ResizeObserver(() => this.showWholeLines()).observe(this.think);
    this.think.addEventListener("scroll", () => this.showWholeLines());
    // The controls stay on the screen, however high the head above the view is.
    const { node, stage } = this;
    new ResizeObserver(() => node.style.setProperty("--above", `${stage.node.getBoundingClientRect().top + scrollY}px`)).observe(node.querySelector("header"));
    this.stage.frame.tabIndex = 0;
    this.stage.frame.setAttribute("role", "group");
    this.stage.frame.setAttribute("aria-label", "View. Arrow keys: record before and next, or look around at the wheel. Space: play or stop.");
    this.stage.frame.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.target === this.stage.frame && this.follows && this.wheel.key(event)) return event.preventDefault();
      const act = { ArrowLeft: () => this.timeline.user(this.at - 1), ArrowRight: () => this.timeline.user(this.at + 1), " ": () => this.timeline.toggle() }[event.key];
      if (!act || event.target !== this.stage.frame) return;
      event.preventDefault();
      act();
    });
  }
}

const isSame = (one, other) => one.toLowerCase() === other.toLowerCase();
const facts = (pairs) =>
  pairs.length ? el("ul", { class: "facts" }, ...pairs.map(([name, value]) => el("li", {}, el("span", {}, name), " ", el("b", {}, value)))) : null;
