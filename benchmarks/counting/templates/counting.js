"use strict";
const { walks, grounds, shapes } = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);

function options(select, names) {
  select.replaceChildren(...names.map((name) => new Option(name, name)));
}

const view = MapView.empty("Map: path walked, true things, things reported", "Show the whole walk");
byId("map").prepend(view.paper);

function drawWalk() {
  const walk = walks.find((one) => one.id === byId("walk").value);
  const reported = walk.counts[byId("case").value];
  const things = Object.entries(walk.things);
  const used = new Set(reported.map((row) => row[4]));
  const shown = things.filter(([name, thing]) => thing[3] || used.has(name));
  const [x0, y0] = walk.path[0];
  const looks = walk.kind === "region" ? walk.path : [];
  view.clear();
  view.add(grounds[walk.city]);
  view.add({
    paths: [
      ...(looks.length ? [] : [{ points: walk.path }]),
      ...reported.filter((row) => row[4]).map(([x, y, , outcome, thing]) => (
        { points: [[x, y], walk.things[thing].slice(0, 2)], kind: `sight ${outcome}` }
      )),
    ],
    marks: [
      ...looks.map(([x, y]) => ({ x, y, kind: "walk", shape: shapes.walk })),
      ...shown.map(([name, [x, y, kind, required]]) => (
        { x, y, kind: `ring truth${required ? "" : " faint"}`, shape: shapes.truth, title: `${name}, ${kind}${used.has(name) ? "" : ", missed"}` }
      )),
      ...reported.map(([x, y, label, outcome, , views]) => (
        { x, y, kind: outcome, shape: shapes[outcome], title: `${label}, ${outcome}, ${views} views` }
      )),
      { x: x0, y: y0, kind: "pin from", shape: shapes.from, title: "start" },
    ],
  });
  view.fit([...walk.path, ...shown.map(([, thing]) => thing), ...reported], { anew: true, margin: 15, least: 40, aspect: 1.8 });
  view.draw();
  for (const line of byId("map").querySelectorAll(".legend li:not(:has(.glyph, rect))")) {
    line.hidden = !view.chart.querySelector(`.${[...line.querySelector("g").classList].join(".")}`);
  }
  const count = (outcome) => reported.filter((row) => row[3] === outcome).length;
  const missed = things.filter(([name, thing]) => thing[3] && !used.has(name)).length;
  byId("sum").textContent = `${walk.kind}, ${walk.path.length} looks around: ${reported.length} things reported, ` +
    `${count("right")} right, ${count("duplicate")} duplicates, ${count("false")} false; ${missed} missed`;
}

if (walks.length) {
  options(byId("walk"), walks.map((walk) => walk.id));
  options(byId("case"), Object.keys(walks[0].counts));
  byId("walk").onchange = byId("case").onchange = drawWalk;
  drawWalk();
}
