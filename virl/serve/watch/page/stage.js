// The view: its picture, what was found in it, and the other views of the same moment.
const direction = (view) => (view.heading === null ? "" : `${compass(view.heading)}, ${view.heading.toFixed(0)}\u00b0`);
const scored = (box) => (box.score === null ? box.label : `${box.label} ${(100 * box.score).toFixed(0)} %`);
const [SHAPE, LABEL_PX] = [16 / 10, 11]; // width to height of what is shown of a view; size of a box's label
const rank = (view) => ({ closer: 3, road: 1, look: 0 }[view.purpose] + (view.boxes.length ? 4 : 0));

class Stage {
  constructor(addressOf) {
    this.addressOf = addressOf;
    this.picture = el("img", { hidden: true, alt: "", decoding: "async", draggable: "false" });
    this.boxes = draw("svg", { class: "boxes", preserveAspectRatio: "none", "aria-hidden": "true" });
    this.blank = el("p", { class: "missing" }, "No view yet.");
    this.over = el("div", { class: "over" });
    this.frame = el("div", { class: "frame" }, this.picture, this.boxes, this.blank, this.over);
    this.caption = el("figcaption");
    this.strip = el("div", { class: "thumbnails", role: "group", "aria-label": "Views of this moment" });
    this.node = el("figure", { class: "view stage" }, this.frame, el("div", { class: "below" }, this.caption, this.strip));
    this.record = null;
    this.isLive = false;
    this.done = null;
    this.drawn = null; // the view whose boxes are drawn
    new ResizeObserver(() => this.drawn && this.drawBoxes(this.drawn)).observe(this.frame);
    this.picture.addEventListener("error", () => this.arrived("The view is missing, or was left out of a saved file."));
    this.picture.addEventListener("load", () => this.arrived(""));
  }

  // The views of a record; the one that shows most comes first.
  show(record, heading) {
    if (record === this.record && !this.isLive) return;
    this.isLive = false;
    this.node.classList.remove("is-live");
    this.record = record;
    if (!record) {
      this.strip.hidden = true;
      this.caption.replaceChildren();
      this.missing("No view so far.");
      this.node.classList.add("is-empty");
      return;
    }
    const off = (view) => view.heading === null ? 0 : Math.abs(((view.heading - heading + 540) % 360) - 180);
    const best = record.views.reduce((one, other) => {
      const [a, b] = [rank(one), rank(other)];
      return b > a || (a === b && off(other) < off(one)) ? other : one;
    });
    const choices = record.views.map((view, number) => {
      const label = [direction(view) || view.caption, view.boxes.length ? `${view.boxes.length} found` : ""].filter(Boolean).join(", ");
      const small = el("img", { src: this.addressOf(record, number), alt: `View ${number + 1}: ${label}`, width: 64, height: Math.round((64 * view.height) / view.width), loading: "lazy" });
      return button(small, { class: view.boxes.length ? "noted" : null, title: label }, () => this.choose(number));
    });
    this.strip.hidden = choices.length < 2;
    this.strip.replaceChildren(...choices);
    this.choose(record.views.indexOf(best));
  }

  choose(number) {
    this.node.classList.remove("is-empty");
    const view = this.record.views[number];
    [...this.strip.children].forEach((choice, index) => choice.setAttribute("aria-pressed", String(index === number)));
    this.blank.hidden = true;
    this.picture.hidden = false;
    this.picture.width = view.width;
    this.picture.height = view.height;
    this.picture.src = this.addressOf(this.record, number);
    this.picture.alt = view.alt;
    this.drawBoxes(view);
    const sort = { closer: "Looked closer ", road: "Down the road ", look: "" }[view.purpose];
    const found = view.boxes.map(scored).join(", ");
    refill(
      this.caption,
      el("b", {}, sort),
      direction(view),
      view.fov === null ? null : el("span", { class: "dim" }, `, ${view.fov.toFixed(0)}\u00b0 wide`),
      view.caption ? el("span", { class: "line" }, view.caption) : null,
      found ? el("span", { class: "line" }, `Found: ${found}`) : null,
    );
  }

  // Where somebody looks around by hand; tells when the picture is there.
  live(address, words, done) {
    this.isLive = true;
    this.node.classList.remove("is-empty");
    this.node.classList.add("is-live");
    this.done = done;
    this.clear();
    this.picture.style.objectPosition = "";
    if (!this.picture.naturalWidth) this.missing("The view is on its way.");
    this.picture.src = address;
    this.picture.alt = `You look ${words}`;
    refill(this.caption, el("b", {}, "You look "), words);
  }

  arrived(fault) {
    if (fault) this.missing(this.isLive ? "There is no view in this direction." : fault);
    this.blank.hidden = !fault;
    this.picture.hidden = Boolean(fault);
    const { done } = this;
    this.done = null;
    if (done) done();
  }

  missing(why) {
    this.picture.hidden = true;
    this.clear();
    this.blank.textContent = why;
    this.blank.hidden = false;
  }

  // The part of a view that is shown, with what was found in it in the middle.
  cropOf(view) {
    const [w, h] = [Math.min(view.width, view.height * SHAPE), Math.min(view.height, view.width / SHAPE)];
    const middle = (low, high, whole) => view.boxes.length ? view.boxes.reduce((sum, { box }) => sum + box[low] + box[high], 0) / (2 * view.boxes.length) : whole / 2;
    const from = (centre, part, whole) => Math.min(Math.max(centre - part / 2, 0), whole - part);
    return { x: from(middle(0, 2, view.width), w, view.width), y: from(middle(1, 3, view.height), h, view.height), w, h };
  }

  clear() {
    this.drawn = null;
    this.boxes.replaceChildren();
  }

  drawBoxes(view) {
    this.drawn = view;
    const { x, y: top, w, h } = this.cropOf(view);
    const share = (start, part, whole) => (whole > part ? (100 * start) / (whole - part) : 50);
    this.picture.style.objectPosition = `${share(x, w, view.width)}% ${share(top, h, view.height)}%`;
    const size = (LABEL_PX * w) / (this.frame.clientWidth || w);
    this.boxes.setAttribute("viewBox", `${x} ${top} ${w} ${h}`);
    this.boxes.setAttribute("font-size", size);
    this.boxes.replaceChildren(
      ...view.boxes.flatMap((box) => {
        const [x0, y0, x1, y1] = box.box;
        const text = scored({ ...box, label: box.label.slice(0, 20) });
        const wide = (0.7 + 0.62 * text.length) * size;
        const y = y0 > top + 1.5 * size ? y0 - 1.4 * size : y1;
        const left = Math.max(Math.min(x0, x + w - wide), x);
        return [
          draw("rect", { x: x0, y: y0, width: Math.max(x1 - x0, 0), height: Math.max(y1 - y0, 0) }),
          draw("rect", { class: "plate", x: left, y, width: wide, height: 1.4 * size }),
          draw("text", { x: left + 0.35 * size, y: y + 1.02 * size }, text),
        ];
      }),
    );
  }
}
