"use strict";
const { walks } = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);

function draw(parent, name, attributes = {}, text = "") {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.textContent = text;
  parent.append(made);
  return made;
}

function options(select, names) {
  select.replaceChildren(...names.map((name) => new Option(name, name)));
}

function frame(points) {
  const xs = points.map((point) => point[0]), ys = points.map((point) => point[1]);
  const margin = 15;
  const left = Math.min(...xs) - margin, top = Math.min(...ys) - margin;
  return { left, top, width: Math.max(...xs) + margin - left, height: Math.max(...ys) + margin - top };
}

function drawScale(svg, box, unit, size) {
  const wanted = 120 * unit, power = 10 ** Math.floor(Math.log10(wanted));
  const metres = [5, 2, 1].map((times) => times * power).find((length) => length <= wanted);
  const left = box.left + box.width / 2 - (size.width / 2 - 14) * unit;
  const bottom = box.top + box.height / 2 + (size.height / 2 - 14) * unit;
  draw(svg, "path", { class: "scale", d: `M${left} ${bottom}h${metres}`, "stroke-width": 2 * unit });
  draw(svg, "text", { class: "soft", x: left, y: bottom - 6 * unit, "font-size": 12 * unit }, `${metres} m`);
}

function drawWalk() {
  const walk = walks.find((one) => one.id === byId("walk").value);
  const reported = walk.counts[byId("case").value];
  const things = Object.entries(walk.things);
  const used = new Set(reported.map((row) => row[4]));
  const shown = things.filter(([name, thing]) => thing[3] || used.has(name));
  const svg = byId("map"), size = svg.getBoundingClientRect();
  const box = frame([...walk.path, ...shown.map(([, thing]) => thing), ...reported]);
  const unit = Math.max(box.width / (size.width || 1), box.height / (size.height || 1));
  svg.setAttribute("viewBox", `${box.left} ${box.top} ${box.width} ${box.height}`);
  svg.replaceChildren();
  if (walk.kind === "region") {
    for (const [x, y] of walk.path) draw(svg, "circle", { cx: x, cy: y, r: 1.5 * unit, class: "walked", "stroke-width": 2 * unit });
  } else {
    draw(svg, "polyline", { class: "walked", points: walk.path.join(" "), "stroke-width": 4 * unit });
  }
  draw(svg, "circle", { class: "startmark", cx: walk.path[0][0], cy: walk.path[0][1], r: 5 * unit, "stroke-width": 2 * unit });
  for (const [name, [x, y, kind, required]] of shown) {
    const mark = draw(svg, "circle", {
      class: required ? "required-mark" : "other-mark", cx: x, cy: y, r: 8 * unit, "stroke-width": 2 * unit,
      ...(required ? {} : { "stroke-dasharray": `${3 * unit} ${3 * unit}` }),
    });
    draw(mark, "title", {}, `${name}, ${kind}${used.has(name) ? "" : ", missed"}`);
  }
  for (const [x, y, label, outcome, thing, views] of reported) {
    if (thing) {
      const [tx, ty] = walk.things[thing];
      draw(svg, "path", { class: `link-${outcome}`, d: `M${x} ${y}L${tx} ${ty}`, "stroke-width": 1.5 * unit });
    }
    const mark = draw(svg, "circle", { class: `mark-${outcome}`, cx: x, cy: y, r: 4 * unit });
    draw(mark, "title", {}, `${label}, ${outcome}, ${views} views`);
  }
  drawScale(svg, box, unit, size);
  const count = (outcome) => reported.filter((row) => row[3] === outcome).length;
  const missed = things.filter(([name, thing]) => thing[3] && !used.has(name)).length;
  byId("sum").textContent = `${walk.kind}, ${walk.path.length} looks around: ${reported.length} things reported, ` +
    `${count("right")} right, ${count("duplicate")} duplicates, ${count("false")} false; ${missed} missed`;
}

if (walks.length) {
  options(byId("walk"), walks.map((walk) => walk.id));
  options(byId("case"), Object.keys(walks[0].counts));
  byId("walk").onchange = byId("case").onchange = drawWalk;
  addEventListener("resize", drawWalk);
  drawWalk();
}
