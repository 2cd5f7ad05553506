// Taking part in a run: pause, step, say something, take the wheel, look around.
const TURN_DEG = 15;
const TILT_DEG = 10;
const PITCH_MOST = 85;
const [NARROWEST, WIDEST] = [20, 110];

class Wheel {
  constructor(number, stage, changed) {
    this.number = number;
    this.stage = stage;
    this.changed = changed;
    this.standing = null;
    this.looking = false;
    this.eye = { heading: 0, pitch: 0, fov: 90 };
    this.pause = button("Pause", { class: "main" }, () => this.send({ do: this.is("paused") ? "resume" : "pause" }));
    this.step = button("Step", { title: "One step, then pause" }, () => this.send({ do: "step" }));
    this.take = button("Take the wheel", {}, () => this.send({ do: this.is("yours") ? "hand_back" : "take_over" }));
    this.stop = button("Stop the run", { class: "danger" }, () => {
      this.menu.open = false;
      this.send({ do: "stop" });
    });
    this.sure = el("p");
    this.menu = el("details", { class: "menu" }, el("summary", { "aria-label": "More commands", title: "More commands" }, "\u22ef"), el("div", { class: "card", tabindex: -1 }, this.sure, this.stop));
    this.finish = button("Stop here: this is the goal", { class: "main", hidden: true }, () => this.send({ do: "finish" }));
    this.words = el("input", { type: "text", maxlength: 2000, "aria-label": "Say something to the agent", placeholder: "Say something" });
    this.speak = button("Say", {}, () => this.say());
    this.question = el("p", { class: "question", role: "status", hidden: true });
    this.hint = el("p", { class: "hint dim" });
    this.reply = el("p", { class: "reply", role: "status" });
    this.ways = el("div", { class: "ways", role: "group", "aria-label": "Ways from here", hidden: true });
    stage.over.append(this.ways);
    this.node = el(
      "div",
      { class: "controls", hidden: true },
      el("div", { class: "toolbar tight", role: "group", "aria-label": "Run" }, this.pause, this.step, this.take, this.finish, this.hint, this.menu),
    );
    this.talk = el(
      "div",
      { class: "controls", hidden: true },
      this.question,
      (this.speech = el("div", { class: "speech" }, this.words, this.speak)),
      this.reply,
    );
    this.words.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.say();
    });
    this.menu.addEventListener("focusout", ({ relatedTarget }) => {
      if (!this.menu.contains(relatedTarget)) this.menu.open = false;
    });
    this.listen();
  }

  is(state) {
    return this.standing !== null && this.standing.state === state;
  }

  get canLook() {
    return this.is("yours") || this.is("paused");
  }

  async send(command) {
    const reply = await fetch(`runs/${this.number}/do`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(command),
    }).catch(() => null);
    const answer = reply && reply.headers.get("content-type").startsWith("application/json") ? await reply.json() : {};
    this.reply.textContent = answer.error || answer.said || (reply && reply.ok ? "" : "The server did not take the command.");
    return Boolean(reply && reply.ok);
  }

  async say() {
    if (await this.send({ do: "say", text: this.words.value })) this.words.value = "";
  }

  go(way) {
    if (way) this.send({ do: "go", pano_id: way.pano_id });
  }

  // How the run stands now; null for one that cannot be steered from here.
  show(standing) {
    const before = this.standing;
    this.standing = standing;
    this.node.hidden = this.talk.hidden = standing === null || standing.state === "ended";
    if (standing === null) return;
    const [pose, was] = [standing.pose, before && before.pose];
    const isNew = pose && (!was || pose.pano_id !== was.pano_id);
    this.pause.textContent = this.is("paused") ? "Go on" : "Pause";
    this.pause.disabled = this.is("yours");
    this.step.disabled = this.is("yours");
    this.pause.classList.toggle("main", !this.is("yours"));
    this.take.classList.toggle("main", this.is("yours"));
    this.take.textContent = this.is("yours") ? "Hand back" : "Take the wheel";
    for (const node of [this.pause, this.step, this.take, this.speech]) node.hidden = Boolean(standing.plays);
    this.finish.hidden = !standing.plays;
    this.finish.disabled = !standing.can_finish;
    this.stop.textContent = standing.plays ? "Leave the episode" : "Stop the run";
    this.sure.textContent = standing.plays ? "Leave the episode? It gets no record." : "Stop the run? What it did so far is kept, and --resume continues it.";
    this.question.hidden = !standing.question;
    if (this.question.textContent !== standing.question) this.question.textContent = standing.question;
    this.words.placeholder = standing.question ? "Your answer" : "Say something";
    this.hint.textContent = this.help();
    if (standing.error && (!before || before.error !== standing.error)) this.reply.textContent = standing.error;
    if (this.is("yours") && pose && (isNew || !this.looking)) this.face(pose.heading);
    else if (this.looking && (!this.canLook || isNew)) this.endLook();
    this.drawWays();
  }

  help() {
    const around = "Drag the view or use its arrow keys to look around.";
    if (this.is("paused")) return around;
    if (!this.is("yours")) return "";
    const { links, question, plays } = this.standing;
    if (question && !plays) return `Answer the question. ${around}`;
    if (!links.length) return plays ? "The walk goes on." : "Wait until the agent arrives.";
    return `Choose an arrow, or a key from 1 to ${links.length}. ${around}`;
  }

  face(heading) {
    this.eye = { heading, pitch: 0, fov: 90 };
    this.looking = true;
    this.look();
    this.changed();
  }

  turn(right, up, closer = 0) {
    if (!this.canLook || !this.standing.pose) return;
    if (!this.looking) this.eye = { heading: this.standing.pose.heading, pitch: 0, fov: 90 };
    const { heading, pitch, fov } = this.eye;
    this.eye = {
      heading: turned(heading + right),
      pitch: Math.min(Math.max(pitch + up, -PITCH_MOST), PITCH_MOST),
      fov: Math.min(Math.max(fov - closer, NARROWEST), WIDEST),
    };
    this.looking = true;
    this.look();
    this.drawWays();
    this.changed();
  }

  endLook() {
    this.looking = false;
    this.stage.isLive = false;
    this.changed();
  }

  // The view where the eye is turned; one request at a time, the last one wanted wins.
  look() {
    if (this.busy) {
      this.again = true;
      return;
    }
    this.busy = true;
    const { heading, pitch, fov } = this.eye;
    const at = encodeURIComponent(this.standing.pose.pano_id);
    const tilt = Math.abs(pitch) < 1 ? "" : `, ${Math.abs(pitch).toFixed(0)}\u00b0 ${pitch > 0 ? "up" : "down"}`;
    const words = `${compass(heading)}, ${heading.toFixed(0)}\u00b0${tilt}`;
    const done = () => {
      this.busy = false;
      if (this.again) {
        this.again = false;
        this.look();
      }
    };
    this.stage.live(`runs/${this.number}/look?heading=${heading}&pitch=${pitch}&fov=${fov}&at=${at}`, words, done);
  }

  // Arrows lie on the ground around whoever stands there.
  drawWays() {
    const links = this.is("yours") ? this.standing.links : [];
    this.ways.hidden = !links.length;
    const key = links.map((way) => way.pano_id).join("\n");
    if (key !== this.drawn) {
      this.drawn = key;
      this.ways.replaceChildren(
        ...links.map((way, index) => {
          const arrow = draw("svg", { viewBox: "-12 -12 24 24", "aria-hidden": "true" }, draw("path", { d: "M-9 7L0-10L9 7L0 3z" }));
          return button(arrow, { class: "way", "aria-label": `Go ${way.description}, key ${index + 1}`, title: way.description }, () => this.go(way));
        }),
      );
    }
    links.forEach((way, index) => {
      const off = ((way.heading - this.eye.heading) * Math.PI) / 180;
      const node = this.ways.children[index];
      node.style.left = `${50 + 34 * Math.sin(off)}%`;
      node.style.top = `${76 - 14 * Math.cos(off)}%`;
      node.firstChild.style.transform = `rotate(${(off * 180) / Math.PI}deg)`;
    });
  }

  // Keys on the view; true for one that did something.
  key(event) {
    if (!this.canLook) return false;
    const more = event.shiftKey ? 3 : 1;
    const acts = {
      ArrowLeft: () => this.turn(-TURN_DEG * more, 0),
      ArrowRight: () => this.turn(TURN_DEG * more, 0),
      ArrowUp: () => this.turn(0, TILT_DEG),
      ArrowDown: () => this.turn(0, -TILT_DEG),
      "+": () => this.turn(0, 0, 15),
      "-": () => this.turn(0, 0, -15),
    };
    const act = acts[event.key] || (/^[1-9]$/.test(event.key) && this.is("yours") ? () => this.go(this.standing.links[event.key - 1]) : null);
    if (act) act();
    return Boolean(act);
  }

  listen() {
    let held = null;
    const { frame } = this.stage;
    frame.addEventListener("pointerdown", (event) => {
      if (this.canLook && !event.target.closest("button")) held = [event.clientX, event.clientY];
    });
    addEventListener("pointermove", (event) => {
      if (!held) return;
      const degrees = this.eye.fov / frame.clientWidth;
      const [dx, dy] = [event.clientX - held[0], event.clientY - held[1]];
      if (Math.hypot(dx, dy) < 4) return;
      held = [event.clientX, event.clientY];
      this.turn(-dx * degrees, event.pointerType === "touch" ? 0 : dy * degrees);
    });
    for (const end of ["pointerup", "pointercancel"]) addEventListener(end, () => { held = null; });
  }
}
