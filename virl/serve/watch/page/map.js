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
  }

  // Records that are new: their ground, marks and places.
  add(told) {
    for (const one of told.filter(({ kind }) => kind === "step")) {
      const time = one.seq;
      if (one.ground) this.view.add(one.ground);
      this.view.add({
        marks: one.marks.map((mark) => ({ ...mark, time: mark.kind === "goal" ? null : time })),
        paths: (one.paths || []).map((path) => ({ ...path, time })),
      });
      this.walk.points.push([...one.at, time]);
      this.shown.push(one.at, ...one.marks.map(({ x, y }) => [x, y]));
    }
    this.view.group("marks").append(this.agent);
    this.view.fit(this.shown, { aspect: SHAPE });
  }

  // The walk up to a record, and where the agent faces there.
  show(seq, heading, here) {
    const past = this.walk.points.filter((point) => point[2] <= seq);
    const at = here || past.at(-1);
    this.agent.classList.toggle("later", !at);
    if (at) this.view.move(this.agent, at[0], at[1], heading);
    this.view.show(seq);
  }
}
