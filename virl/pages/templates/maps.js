"use strict";
// A map in metres, x to the east and y to the south: `virl.pages.map_svg` or a script draws it, `MapView` pans,
// zooms, sets labels where they have room, goes through its time, and takes what comes while it is shown.
const MapView = (() => {
  // The radius of a mark, or its corners, in pixels around its place. Python reads them from here.
  const SHAPES = {
    "dot": 2.6, "spot": 5, "small": 7, "disc": 10, "ring": 13.5, "round": 5.5, "square": "-5,-5 5,-5 5,5 -5,5",
    "plate": "-9,-9 9,-9 9,9 -9,9", "hexagon": "-11,0 -5.5,-9.6 5.5,-9.6 11,0 5.5,9.6 -5.5,9.6", "lozenge": "0,-12.5 12.5,0 0,12.5 -12.5,0",
    "cross": "-6.5,-4 -4,-6.5 0,-2.5 4,-6.5 6.5,-4 2.5,0 6.5,4 4,6.5 0,2.5 -4,6.5 -6.5,4 -2.5,0",
    "pair": "-23,0 -15,-10 15,-10 23,0 15,10 -15,10", "trio": "-36,0 -28,-10 28,-10 36,0 28,10 -28,10",
    "diamond": "0,-7 7,0 0,7 -7,0", "triangle": "0,-6.5 6.3,5 -6.3,5",
    "pin": "0,0 -7.6,-12.2 -8.7,-14.7 -9,-17.5 -8.4,-20.1 -7.1,-22.5 -5.1,-24.4 -2.7,-25.6 0,-26 2.7,-25.6 5.1,-24.4 7.1,-22.5 8.4,-20.1 9,-17.5 8.7,-14.7 7.6,-12.2"
  };
  const [EDGES_UP_TO_M, PHONE_PX, SMALLER, MARGIN_M, LEAST_M] = [2.2, 500, 0.85, 45, 180];
  const [SYMBOLS_UP_TO_M, SYMBOL_ROOM, MOST_MOVED, SAME_NAME] = [6, 28, 150, 150];
  const [NEAR, MOST_SIGNS, MOST_LABELS, PAIR_LETTERS] = [[20, 30, 45, 60], 3, 2, 6];
  const [BUTTONS, ASIDES] = [[46, 122], [15, -15, 19, -19]];
  const SHIFTS = [0, 12, 18, 25, 33, 44, 58].flatMap((away) => Array.from({ length: away ? 8 : 1 }, (_, turn) => [
    away * Math.sin((turn * Math.PI) / 4), -away * Math.cos((turn * Math.PI) / 4),
  ]));
  let symbolSets = 0;
  const FAN = "M0 0L-24-24A34 34 0 0 1 24-24z";

  const node = (name, attributes = {}, ...children) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) if (value !== null && value !== undefined) made.setAttribute(key, value);
    made.append(...children.filter((child) => child !== null && child !== undefined));
    return made;
  };
  const roundLength = (metres) => {
    const power = 10 ** Math.floor(Math.log10(metres));
    return [5, 2, 1].find((step) => step * power <= metres) * power;
  };
  const pointsOf = (points) => points.map((point) => point.slice(0, 2).join(",")).join(" ");
  const meet = (a, b) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
  const lengths = new WeakMap();
  const lengthOf = (text) => {
    if (!lengths.get(text)) lengths.set(text, text.getComputedTextLength());
    return lengths.get(text);
  };

  class MapView {
    static node = node;

    constructor(paper) {
      this.paper = paper;
      this.chart = paper.querySelector(".chart");
      const { x, y, width, height } = this.chart.viewBox.baseVal;
      this.whole = { x, y, w: width, h: height };
      this.asked = this.laid = this.whole;
      this.box = { ...this.whole };
      this.time = Infinity;
      this.tracks = [];
      this.pick = null; // called with a mark that was chosen
      this.focus = null; // what zooming goes to, where it is not the middle
      this.listen();
    }

    // An empty map with the name of its drawing, and of the button that shows all; without that it has none.
    static empty(label, whole = "") {
      const paper = document.createElement("div");
      paper.className = "paper";
      const groups = ["ground", "symbols", "names", "trails", "marks", "scale-bar"].map((name) => node("g", { class: name }));
      groups.at(-1).append(node("path"), node("g", { class: "scaled" }, node("text", { class: "label scale", y: -6 })));
      const zoom = document.createElement("div");
      zoom.className = "zoom";
      for (const [sign, factor, words] of [["+", 0.66, "Zoom in"], ["\u2212", 1.5, "Zoom out"], ["\u2922", 0, whole]]) {
        const button = document.createElement("button");
        Object.assign(button, { type: "button", textContent: sign, ariaLabel: words });
        button.dataset.zoom = factor;
        zoom.append(button);
      }
      paper.append(node("svg", { class: "chart", viewBox: "0 0 400 300", role: "img", "aria-label": label }, ...groups));
      if (whole) paper.append(zoom);
      return new MapView(paper);
    }

    // Ways between points as layers of the ground, of one width at any zoom.
    static roads(data) {
      return [["casing", 1], ["road", 0]].map(([kind, edge]) => ({ kind, data, metres: 0, least: 5, edge }));
    }

    // A slider below the map that goes through its time; `told` is called with each time that is shown.
    slider(word, told) {
      const input = Object.assign(document.createElement("input"), { type: "range", min: 0, max: 0 });
      const output = document.createElement("output");
      const label = document.createElement("label");
      label.className = "slider";
      label.append(`${word} `, input, " ", output);
      this.paper.after(label);
      this.go = (time) => {
        input.value = time;
        output.textContent = `${time} of ${input.max}`;
        this.show(time);
        told(time);
      };
      this.lasts = (last) => {
        input.max = last;
        this.go(last);
      };
      input.addEventListener("input", () => this.go(Number(input.value)));
    }

    group(name) {
      return this.chart.querySelector(`:scope > .${name}`);
    }

    clear() {
      this.tracks = [];
      for (const name of ["ground", "symbols", "names", "trails", "marks"]) this.group(name).replaceChildren();
    }

    // More of what a map is made of, as `virl.pages.maps` writes it.
    add({ layers = [], names = [], symbols = [], paths = [], marks = [] }) {
      symbolSets += 1;
      for (const { name, shape, places } of symbols) {
        const [id, size] = [`${name}-set-${symbolSets}`, { viewBox: "-9 -9 18 18", markerWidth: 18, markerHeight: 18 }];
        const made = node("path", { class: "symbol", "marker-start": `url(#${id})`, "marker-mid": `url(#${id})` });
        made.dataset.all = places.join(" ");
        this.group("symbols").append(node("marker", { id, ...size }, node("path", { class: `glyph at-${name}`, d: shape })), made);
      }
      this.group("ground").append(...layers.map(({ kind, data, ...sizes }) => {
        const made = node("path", { class: kind, d: data, "fill-rule": "evenodd" });
        Object.assign(made.dataset, sizes);
        return made;
      }));
      this.group("names").append(...names.map(({ text, kind, x, y, turn, room }) => {
        const group = node("g", { class: "scaled" }, node("text", { class: `name ${kind}-name no-room`, y: 4, transform: `rotate(${turn})` }, text));
        Object.assign(group.dataset, { x, y, room });
        return group;
      }));
      this.group("trails").append(...paths.map((path) => this.track(path).node));
      this.group("marks").append(...marks.map((mark) => this.markOf(mark)));
    }

    // A path; a timed one, whose points end in a time, is drawn up to now, and the rest faintly.
    track({ points, kind = "main", label = "", time, isTimed = false }) {
      const lines = ["path ghost", "path halo", "path"].map((name) => node("polyline", { class: name }));
      const made = node("g", { class: `trail ${kind}` }, label ? node("title", {}, label) : null, ...(isTimed ? lines : lines.slice(1)));
      if (typeof time === "number") made.dataset.time = time;
      const track = { node: made, lines, points, isTimed };
      this.tracks.push(track);
      this.drawTrack(track);
      return track;
    }

    drawTrack({ lines, points, isTimed }) {
      const past = isTimed ? points.filter((point) => point[2] <= this.time) : points;
      lines[0].setAttribute("points", pointsOf(points));
      for (const line of lines.slice(1)) line.setAttribute("points", pointsOf(past));
    }

    markOf({ x, y, kind, title = "", shape = "disc", sign = "", label = "", heading, time }) {
      const known = SHAPES[shape];
      const seen = typeof known === "number" ? node("circle", { class: "seen", r: known }) : node("polygon", { class: "seen", points: known });
      const group = node(
        "g", { class: "scaled" },
        heading === null || heading === undefined ? null : node("path", { class: "sector", d: FAN, transform: `rotate(${heading})` }),
        node("path", { class: "leader" }),
        node(
          "g", { class: ["dot", "ring", "pin"].includes(shape) || kind === "agent" ? "body fixed" : "body" },
          node("circle", { class: "hit", r: 12 }), seen,
          sign ? node("text", { class: sign.length > 2 ? "sign long" : "sign", y: shape === "pin" ? -13.2 : 3.8 }, sign) : null,
          label ? node("text", { class: "label" }, label.length > 28 ? `${label.slice(0, 28).replace(/\s\S*$/, "")}\u2026` : label) : null,
        ),
      );
      Object.assign(group.dataset, { x, y });
      const made = node("g", { class: `mark ${kind}${this.pick ? " can-pick" : ""}` }, title ? node("title", {}, title) : null, group);
      if (typeof time === "number") made.dataset.time = time;
      return made;
    }

    // Put a mark elsewhere, such as somebody who walks; who has zoomed in and not panned keeps it in sight.
    move(mark, x, y, heading) {
      const { box, whole } = this;
      this.focus = [x, y];
      if (box.w < whole.w && !this.isPanned) this.box = { ...box, x: x - box.w / 2, y: y - box.h / 2 };
      Object.assign(mark.querySelector(".scaled").dataset, { x, y });
      mark.querySelector(".sector")?.setAttribute("transform", `rotate(${heading})`);
    }

    // What was there at a time; all of it by default.
    show(time = Infinity) {
      this.time = time;
      for (const track of this.tracks) if (track.isTimed) this.drawTrack(track);
      for (const timed of this.chart.querySelectorAll("[data-time]")) timed.classList.toggle("later", Number(timed.dataset.time) > time);
      this.draw();
    }

    // Make room for some points: the whole map grows only when they leave it, or is laid out anew.
    fit(points, { anew = false, margin = MARGIN_M, least = LEAST_M, aspect = 4 / 3 } = {}) {
      if (!points.length) return;
      const [xs, ys] = [points.map((point) => point[0]), points.map((point) => point[1])];
      const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
      const { whole } = this;
      const [edge, isWhole] = [margin / 2, this.box.w >= whole.w];
      const isInside = left > whole.x + edge && right < whole.x + whole.w - edge && top > whole.y + edge && bottom < whole.y + whole.h - edge;
      if (isInside && this.isLaid && !anew) return;
      const w = Math.max(right - left + 2 * margin, (bottom - top + 2 * margin) * aspect, least);
      this.whole = { x: (left + right - w) / 2, y: (top + bottom - w / aspect) / 2, w, h: w / aspect };
      this.asked = this.laid = this.whole;
      if (isWhole || anew || !this.isLaid) this.box = { ...this.whole };
      this.isLaid = true;
    }

    // Show a share of the whole map's width around a point.
    frame(share, x, y) {
      const [w, h] = [this.whole.w * share, this.whole.h * share];
      this.box = share < 1 ? { x: x - w / 2, y: y - h / 2, w, h } : { ...this.whole };
      this.draw();
    }

    zoom(factor, x, y) {
      const { box, whole } = this;
      if (x === undefined) [x, y] = this.focus || [box.x + box.w / 2, box.y + box.h / 2];
      this.isPanned = false;
      const w = Math.min(Math.max(box.w * factor, whole.w / 12), whole.w * 2.5);
      const ratio = w / box.w;
      this.box = { x: x - (x - box.x) * ratio, y: y - (y - box.y) * ratio, w, h: box.h * ratio };
      this.draw();
    }

    // Show more ground around where the drawing has another shape than the map.
    fill() {
      const { chart, asked: { x, y, w, h } } = this;
      const ratio = chart.clientWidth / chart.clientHeight;
      if (Math.abs(ratio * this.laid.h / this.laid.w - 1) < 0.01) return;
      const [isWhole, across] = [this.box.w >= this.whole.w, Math.max(w, h * ratio)];
      this.whole = this.laid = { x: x + (w - across) / 2, y: y + (h - across / ratio) / 2, w: across, h: across / ratio };
      this.box = isWhole ? { ...this.whole } : { ...this.box, h: this.box.w / ratio };
    }

    // Show more ground above and to the left where a pin or a number would stand below the buttons.
    clearButtons() {
      const { chart, laid, cleared } = this;
      if (laid === cleared?.laid && chart.clientWidth === cleared.width) return;
      this.cleared = { laid, width: chart.clientWidth };
      const shown = [...this.group("marks").querySelectorAll(".fixed:has(polygon), .body:has(.sign, .label)")].map((body) => body.parentNode.dataset);
      const steps = this.paper.querySelector(".zoom") ? [0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3] : [];
      const wholes = steps.map((more) => ({ x: laid.x - 0.8 * more * laid.w, y: laid.y - 0.8 * more * laid.h, w: laid.w * (1 + more), h: laid.h * (1 + more) }));
      const isFree = ({ x, y, w }) => !shown.some((one) => (one.x - x) / w * chart.clientWidth < BUTTONS[0] + 12 && (one.y - y) / w * chart.clientWidth < BUTTONS[1] + 28);
      const isWhole = this.box.w >= this.whole.w;
      this.whole = wholes.find(isFree) || laid;
      if (isWhole) this.box = { ...this.whole };
    }

    draw() {
      const { chart } = this;
      if (!chart.clientWidth) return; // hidden: drawn when it is shown
      this.fill();
      this.clearButtons();
      const { box, whole } = this;
      const pixel = box.w / chart.clientWidth; // metres
      const size = chart.clientWidth < PHONE_PX ? SMALLER : 1;
      chart.setAttribute("viewBox", `${box.x} ${box.y} ${box.w} ${box.h}`);
      for (const road of chart.querySelectorAll(".casing, .road")) {
        const { metres, least, edge } = road.dataset;
        road.setAttribute("stroke-width", Math.max(metres, least * pixel) + 2 * edge * pixel);
      }
      for (const houses of chart.querySelectorAll(".house")) houses.classList.toggle("far", pixel > EDGES_UP_TO_M);
      const foot = 14 + (this.paper.querySelector(".credit")?.offsetHeight || 0);
      const [x, y] = [box.x + 14 * pixel, box.y + box.h - foot * pixel];
      const metres = roundLength(box.w / 5);
      const bar = this.group("scale-bar");
      bar.querySelector("path").setAttribute("d", `M${x} ${y}h${metres}`);
      bar.querySelector("text").textContent = metres < 1000 ? `${metres} m` : `${metres / 1000} km`;
      Object.assign(bar.querySelector(".scaled").dataset, { x, y });
      for (const group of chart.querySelectorAll(".scaled")) {
        group.setAttribute("transform", `translate(${group.dataset.x} ${group.dataset.y}) scale(${pixel * size})`);
      }
      this.paper.classList.toggle("near", box.w < whole.w);
      this.moveApart(pixel * size);
      this.placeWords(pixel, size, foot);
      chart.dispatchEvent(new CustomEvent("drawn", { detail: { share: box.w / whole.w } }));
    }

    // Each label beside its mark where nothing is in the way, results and what is drawn last first; then names.
    placeWords(pixel, size, foot) {
      const { chart, box } = this;
      const [right, bottom] = [chart.clientWidth, chart.clientHeight];
      const at = (group) => [(group.dataset.x - box.x) / pixel, (group.dataset.y - box.y) / pixel];
      const isIn = (room) => room[0] > 0 && room[1] > 0 && room[2] < right && room[3] < bottom;
      const taken = [[0, 0, ...BUTTONS], [right - 40, 0, right, 54], [0, bottom - foot - 24, 150, bottom]];
      const labels = [];
      for (const group of this.group("marks").querySelectorAll(".scaled")) {
        const [x, y] = at(group);
        if (x < -50 || y < -50 || x > right + 50 || y > bottom + 50) continue;
        const [seen, label] = [group.querySelector(".seen"), group.querySelector(".label")];
        if (!seen.getClientRects().length) continue;
        const { x: left, y: top, width, height } = seen.getBBox();
        const [dx, dy] = group.shift || [0, 0];
        const sides = [left + dx, top + dy, left + width + dx, top + height + dy].map((side) => side * size);
        taken.push([x + sides[0] - 2 * size, y + sides[1] - 2 * size, x + sides[2] + 2 * size, y + sides[3] + 2 * size]);
        const isResult = group.closest(".pin.enter, .pick") !== null;
        if (label) labels.push({ label, isResult, x: x + dx * size, y: y + dy * size, sides: [left, top, left + width, top + height] });
      }
      const crossed = this.alongWays(pixel);
      for (const { label, x, y, sides: [l, t, r, b] } of labels.reverse().sort((a, b) => b.isResult - a.isResult)) {
        label.classList.remove("no-room", "to-right", "to-left");
        const length = lengthOf(label) * size;
        const middle = (t + b) / 2 + 4;
        const places = [
          [0, b + 17, 0.5], [0, t - 7, 0.5], [r + 5, middle, 0], [l - 5, middle, 1],
          [r, b + 17, 0], [l, b + 17, 1], [r, t - 7, 0], [l, t - 7, 1],
        ];
        let best = null;
        for (const [dx, dy, share] of places) {
          const [start, base] = [x + dx * size - share * length, y + dy * size];
          const room = [start - 3 * size, base - 13 * size, start + length + 3 * size, base + 5 * size];
          if (!isIn(room) || taken.some((other) => meet(room, other))) continue;
          const count = crossed.filter(([u, v]) => meet(room, [u, v, u, v])).length;
          if (!best || count < best.count) best = { room, dx, dy, share, count };
        }
        label.classList.toggle("no-room", !best);
        if (!best) continue;
        taken.push(best.room);
        label.setAttribute("x", best.dx);
        label.setAttribute("y", best.dy);
        label.classList.toggle("to-right", best.share === 0);
        label.classList.toggle("to-left", best.share === 1);
      }
      this.placeNames(pixel, size, at, isIn, taken, crossed.map(([u, v]) => [u - 3, v - 3, u + 3, v + 3]));
      this.placeSymbols(pixel, size, at, isIn, taken);
    }

    // First the names of streets that a path goes along, beside it; no other name stands on a path.
    placeNames(pixel, size, at, isIn, taken, crossed) {
      const isFree = (room) => isIn(room) && !taken.some((other) => meet(room, other));
      const fitting = [];
      for (const group of this.group("names").children) {
        const name = group.firstChild;
        name.classList.remove("no-room");
        const [[x, y], length] = [at(group), lengthOf(name) * size];
        name.classList.add("no-room");
        if (length >= group.dataset.room / pixel) continue;
        const turn = (Number(/-?[\d.]+/.exec(name.getAttribute("transform"))[0]) * Math.PI) / 180;
        const [half, count] = [7.5 * size, Math.max(2, Math.ceil(length / (15 * size)))];
        const roomsAt = (aside) => Array.from({ length: count }, (_, part) => {
          const away = half - length / 2 + ((length - 2 * half) * part) / (count - 1);
          const [u, v] = [x + away * Math.cos(turn) - aside * size * Math.sin(turn), y + away * Math.sin(turn) + aside * size * Math.cos(turn)];
          return [u - half, v - half, u + half, v + half];
        });
        const isWalked = name.matches(".street-name") && roomsAt(0).some((room) => isIn(room) && crossed.some((other) => meet(room, other)));
        fitting.push({ name, x, y, roomsAt, isWalked });
      }
      taken.push(...crossed);
      const written = [];
      for (const { name, x, y, roomsAt, isWalked } of fitting.sort((a, b) => b.isWalked - a.isWalked)) {
        const isTold = written.some((one) => one.text === name.textContent && Math.hypot(one.x - x, one.y - y) < SAME_NAME * size);
        const aside = isTold ? undefined : (isWalked ? ASIDES : [0]).find((one) => roomsAt(one).every(isFree));
        name.classList.toggle("no-room", aside === undefined);
        if (aside === undefined) continue;
        written.push({ text: name.textContent, x, y });
        name.setAttribute("y", 4 + aside);
        taken.push(...roomsAt(aside));
      }
    }

    // A symbol for places, at most one in a few pixels, wherever no word is in the way.
    placeSymbols(pixel, size, at, isIn, taken) {
      const [gap, half, cells, seen] = [SYMBOL_ROOM * size, 7 * size, new Map(), new Set()];
      for (const path of this.group("symbols")?.querySelectorAll(".symbol") || []) {
        path.places ||= path.dataset.all.split(" ").map((place) => place.split(",").map(Number));
        const shown = pixel > SYMBOLS_UP_TO_M ? [] : path.places.filter(([east, south]) => {
          const [x, y] = at({ dataset: { x: east, y: south } });
          const [column, row] = [Math.floor(x / gap), Math.floor(y / gap)];
          for (const i of [-1, 0, 1]) {
            for (const j of [-1, 0, 1]) {
              const near = cells.get(`${column + i} ${row + j}`);
              if (near && Math.hypot(near[0] - x, near[1] - y) < gap) return false;
            }
          }
          const room = [x - half, y - half, x + half, y + half];
          if (isIn(room) && taken.some((other) => meet(room, other))) return false;
          cells.set(`${column} ${row}`, [x, y]);
          if (isIn([x, y, x, y])) seen.add(path.previousSibling.firstChild.classList[1]);
          return true;
        });
        path.setAttribute("d", shown.length ? `M${shown.join(" ")}h0` : "");
        path.setAttribute("stroke-width", pixel * size);
      }
      for (const glyph of this.paper.parentNode?.querySelectorAll(":scope > .legend .glyph") || []) {
        glyph.closest("li").hidden = !seen.has(glyph.classList[1]);
      }
    }

    // Numbered marks close together are joined; of others, those that would cover a more important one are moved.
    moveApart(pixel) {
      const marks = [...this.group("marks").querySelectorAll(":scope > .mark:not(.group, .off)")].reverse();
      const stateOf = () => [pixel, ...marks.map((mark) => mark.getAttribute("class"))].join();
      if (marks.length > MOST_MOVED || stateOf() === this.apartAt) return;
      for (const near of NEAR) {
        this.join(marks, near * pixel);
        if (this.place(pixel)) break;
      }
      this.apartAt = stateOf();
    }

    // One mark for all of a kind that are nearer than `near` metres; `marks` has the most important first.
    join(marks, near) {
      for (const old of this.group("marks").querySelectorAll(":scope > .group")) old.remove();
      const sets = [];
      for (const mark of marks) {
        mark.classList.remove("joined");
        const [{ x, y }, kind] = [mark.querySelector(".scaled").dataset, mark.getAttribute("class")];
        const isNumbered = mark.querySelector(".body:not(.fixed) .sign") !== null;
        const known = isNumbered && sets.find((one) => one.kind === kind && Math.hypot(one.x - x, one.y - y) < near);
        if (known) known.members.push(mark);
        else sets.push({ kind: isNumbered ? kind : "", x, y, members: [mark] });
      }
      for (const { members } of sets.filter((one) => one.members.length > 1)) {
        members[0].after(this.groupOf(members));
        for (const mark of members) mark.classList.add("joined");
      }
    }

    groupOf(members) {
      const text = (mark, css) => mark.querySelector(css)?.textContent || "";
      const ranked = members.map((mark) => [text(mark, ".sign"), mark]).sort(([a], [b]) => a.length - b.length || a.localeCompare(b)).map(([, mark]) => mark);
      const signs = ranked.map((mark) => text(mark, ".sign"));
      const made = members[0].cloneNode(true);
      made.classList.add("group");
      const [sign, seen] = [made.querySelector(".sign"), made.querySelector(".seen")];
      sign.textContent = signs.length > MOST_SIGNS ? `${signs[0]} +${signs.length - 1}` : signs.join(", ");
      sign.classList.remove("long");
      seen.replaceWith(node("polygon", { class: "seen", points: SHAPES[sign.textContent.length > PAIR_LETTERS ? "trio" : "pair"] }));
      made.querySelector("title").textContent = `${signs.join(", ")}: ${ranked.map((mark) => text(mark, "title")).join("; ")}`;
      if (made.ariaLabel) made.ariaLabel = text(made, "title");
      made.querySelector(".sector")?.remove();
      const named = ranked.filter((mark) => text(mark, ".label"));
      const isSame = new Set(named.map((mark) => text(mark, ".label"))).size === 1;
      const labels = isSame ? [text(named[0], ".label")] : named.map((mark) => `${text(mark, ".sign")} ${text(mark, ".label")}`);
      const more = labels.length > MOST_LABELS ? [`${labels.length - 1} more`] : labels.slice(1);
      const label = made.querySelector(".label");
      if (label) label.textContent = [...labels.slice(0, 1), ...more].join(" \u00b7 ");
      return made;
    }

    // Marks that would cover a more important one, drawn later, are moved off it; true if all have room.
    place(pixel) {
      const bodies = [...this.group("marks").querySelectorAll(":scope > :not(.joined, .off) .body")].reverse();
      const boxed = bodies.map((body) => {
        const { x, y, width, height } = body.querySelector(".seen").getBBox();
        const [u, v] = [body.parentNode.dataset.x / pixel, body.parentNode.dataset.y / pixel];
        return { body, box: [u + x - 2, v + y - 2, u + x + width + 2, v + y + height + 2] };
      });
      const taken = boxed.filter(({ body }) => body.matches(".fixed") && body.querySelector("polygon")).map(({ box }) => box);
      let hasRoom = true;
      for (const { body, box } of boxed.filter(({ body: one }) => !one.matches(".fixed"))) {
        const moved = SHIFTS.map(([x, y]) => [box[0] + x, box[1] + y, box[2] + x, box[3] + y]);
        const found = moved.findIndex((room) => !taken.some((other) => meet(room, other)));
        hasRoom &&= found >= 0;
        const free = Math.max(0, found);
        taken.push(moved[free]);
        body.parentNode.shift = SHIFTS[free];
        body.setAttribute("transform", `translate(${SHIFTS[free]})`);
        body.parentNode.querySelector(".leader").setAttribute("d", `M0 0L${SHIFTS[free]}`);
      }
      return hasRoom;
    }

    // Points of the paths in pixels, close enough together that none passes through a label unseen.
    alongWays(pixel) {
      return [...this.chart.querySelectorAll("polyline.path:not(.halo, .ghost)")].flatMap((way) => {
        const points = [...way.points].map((point) => [(point.x - this.box.x) / pixel, (point.y - this.box.y) / pixel]);
        return points.flatMap(([x, y], index) => {
          const [u, v] = points[index + 1] || [x, y];
          const parts = Math.min(200, Math.ceil(Math.hypot(u - x, v - y) / 6)) || 1;
          return Array.from({ length: parts }, (_, part) => [x + ((u - x) * part) / parts, y + ((v - y) * part) / parts]);
        });
      });
    }

    // Marks lie close together: of those that a finger covers, the one it meant.
    nearestTo(event) {
      let [nearest, best] = [Infinity, null];
      for (const hit of this.chart.querySelectorAll(".mark .hit")) {
        const { x, y, width, height } = hit.getBoundingClientRect();
        const away = Math.hypot(x + width / 2 - event.clientX, y + height / 2 - event.clientY);
        if (width && away < nearest) [nearest, best] = [away, hit.closest(".mark")];
      }
      return best;
    }

    listen() {
      const { chart, paper } = this;
      const buttons = paper.querySelector(".zoom");
      if (buttons) buttons.hidden = false;
      buttons?.addEventListener("click", (event) => {
        const factor = event.target.dataset.zoom;
        if (factor !== undefined) return Number(factor) ? this.zoom(Number(factor)) : this.frame(1);
      });
      chart.addEventListener("wheel", (event) => {
        if (!event.ctrlKey) return; // a plain wheel scrolls the page
        event.preventDefault();
        const seen = chart.getBoundingClientRect();
        const x = this.box.x + ((event.clientX - seen.left) / seen.width) * this.box.w;
        const y = this.box.y + ((event.clientY - seen.top) / seen.height) * this.box.h;
        this.zoom(Math.exp(event.deltaY / 200), x, y);
      }, { passive: false });

      let held = null;
      let moved = false;
      chart.addEventListener("pointerdown", (event) => {
        held = { x: event.clientX, y: event.clientY };
        moved = false;
      });
      addEventListener("pointermove", (event) => {
        const { box, whole } = this;
        if (!held || (event.pointerType === "touch" && box.w >= whole.w)) return;
        const [dx, dy] = [event.clientX - held.x, event.clientY - held.y];
        if (!moved && Math.hypot(dx, dy) < 4) return;
        moved = this.isPanned = true;
        const pixel = box.w / chart.clientWidth;
        this.box = { ...box, x: box.x - dx * pixel, y: box.y - dy * pixel };
        held = { x: event.clientX, y: event.clientY };
        this.draw();
      });
      for (const end of ["pointerup", "pointercancel"]) addEventListener(end, () => { held = null; });
      chart.addEventListener("click", (event) => {
        const mark = event.target.closest(".mark");
        const nearest = mark && event.detail ? this.nearestTo(event) : mark; // a key has no place
        const href = nearest?.getAttribute("href");
        if (moved || (href && nearest !== mark)) event.preventDefault();
        if (moved || !nearest) return;
        if (href && nearest !== mark) location.assign(href);
        else if (this.pick) this.pick(nearest);
      }, true);
      chart.addEventListener("dragstart", (event) => event.preventDefault());
      new ResizeObserver(() => this.draw()).observe(chart);
      // Words that were drawn before their letters came are drawn again.
      document.fonts.addEventListener("loadingdone", () => {
        for (const text of chart.querySelectorAll("text")) {
          lengths.delete(text);
          text.textContent = `${text.textContent}`;
        }
        this.draw();
      });
    }
  }

  for (const paper of document.querySelectorAll(".paper")) paper.view = new MapView(paper);
  return MapView;
})();
