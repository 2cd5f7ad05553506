"use strict";
const { maps, episodes } = JSON.parse(document.getElementById("data").textContent);
const SHOWN = 70; // characters of an instruction in the list, chosen: two lines
const byId = (id) => document.getElementById(id);

for (const map of Object.values(maps)) {
  map.at = new Map(map.nodes.map((node, index) => [node, [map.x[index] / 10, map.y[index] / 10]]));
}

let outcome = "";
let current = 0;

function html(name, className, text = "") {
  const made = document.createElement(name);
  if (className) made.className = className;
  made.textContent = text;
  return made;
}

function matches(episode) {
  const wanted = document.querySelector("input[type=search]").value.trim().toLowerCase();
  return (!outcome || episode.outcome === outcome) &&
    (!wanted || episode.id.toLowerCase() === wanted || (episode.instruction || "").toLowerCase().includes(wanted));
}

function fillList() {
  const items = episodes.flatMap((episode, index) => {
    if (!matches(episode)) return [];
    const button = html("button", "bare");
    button.append(html("span", `dot ${episode.outcome}`));
    const words = html("div");
    const whole = episode.instruction || "(no instruction)";
    const start = html("small", "", whole.length > SHOWN ? `${whole.slice(0, SHOWN).replace(/\s+\S*$/, "")} …` : whole);
    start.title = whole;
    words.append(html("span", "", episode.id), start);
    button.append(words);
    button.dataset.index = index;
    button.setAttribute("aria-label", `Episode ${episode.id}, ${episode.outcome}`);
    button.onclick = () => show(index);
    const item = html("li");
    item.append(button);
    return [item];
  });
  byId("list").replaceChildren(...items);
  mark(byId("list"), current);
}

function mark(list, index) {
  for (const button of list.querySelectorAll("button")) {
    const [first, last] = [Number(button.dataset.index), Number(button.dataset.last ?? button.dataset.index)];
    button.setAttribute("aria-current", String(first <= index && index <= last));
  }
}

function countFilters() {
  for (const button of document.querySelectorAll(".filters button")) {
    const kind = button.dataset.outcome;
    const count = episodes.filter((episode) => !kind || episode.outcome === kind).length;
    button.querySelector("span").textContent = count;
    button.hidden = kind !== "" && count === 0;
    button.onclick = () => { outcome = kind; pressFilters(); fillList(); };
  }
  pressFilters();
}

function pressFilters() {
  for (const button of document.querySelectorAll(".filters button")) {
    button.setAttribute("aria-pressed", String(button.dataset.outcome === outcome));
  }
}

const view = MapView.empty("Map: gold path and path walked", "Show both paths");
byId("map").prepend(view.paper);
view.slider("step", told);
const here = view.markOf({ x: 0, y: 0, kind: "agent", shape: "spot" });

function drawMap(episode) {
  const map = maps[episode.scan || ""];
  const moves = episode.moves || [];
  view.clear();
  if (!map) return;
  const at = (nodes) => (nodes || []).map((node) => map.at.get(node)).filter(Boolean);
  const [gold, path] = [at(episode.gold), at(episode.path)];
  const ends = at([(episode.path || [])[0], ...moves.map((move) => move.node)]);
  const walked = moves.length ? ends.map((point, time) => [...point, time]) : path.map((point) => [...point, 0]);
  const streets = [];
  for (let i = 0; i < map.links.length; i += 2) {
    const [a, b] = [map.links[i], map.links[i + 1]];
    streets.push(`M${map.x[a] / 10} ${map.y[a] / 10}L${map.x[b] / 10} ${map.y[b] / 10}`);
  }
  const marks = [[gold.at(-1), "ring gold", "ring"], [path[0] || gold[0], "from", "pin"], [path.at(-1), "walked", "pin"]];
  view.add({
    ...map.ground,
    layers: map.ground.layers.length ? map.ground.layers : MapView.roads(streets.join("")),
    paths: [{ points: gold, kind: "gold" }, { points: walked, kind: "walked", isTimed: true }],
    marks: marks.filter(([point]) => point).map(([[x, y], kind, shape]) => ({ x, y, kind, shape })),
  });
  if (walked.length) view.group("marks").append(here);
  const shown = [...gold, ...path];
  const spans = [0, 1].map((axis) => shown.map((point) => point[axis])).map((values) => Math.max(...values) - Math.min(...values));
  view.fit(shown, { anew: true, margin: Math.max(...spans, 8) * 0.12, least: 8, aspect: 1.6 });
}

// What was decided up to a step, and where that led.
function told(index) {
  const episode = episodes[current];
  mark(byId("moves"), index - 1);
  const node = index > 0 ? episode.moves[index - 1].node : (episode.path || [])[0];
  const point = maps[episode.scan || ""]?.at.get(node);
  if (point) view.move(here, ...point);
  view.draw();
}

// Moves in a row that are the same for the same reason, with the ways that meet where the first is made.
function stretches(episode) {
  const ways = waysAt(maps[episode.scan || ""]);
  const rows = [];
  (episode.moves || []).forEach((move, index) => {
    const from = index ? episode.moves[index - 1].node : (episode.path || [])[0];
    const meet = ways.get(from) || 0;
    const last = rows[rows.length - 1];
    const told = [move.action, move.reason, move.asked, ...(move.refused || [])].join("\n");
    if (last && last.told === told && !(move.refused || []).length) Object.assign(last, { last: index, crossings: last.crossings + (meet > 2) });
    else rows.push({ move, first: index, last: index, told, meet, crossings: Number(meet > 2) });
  });
  return rows;
}

// How many ways meet at each node.
function waysAt(map) {
  const ways = new Map();
  for (const end of map ? map.links : []) ways.set(map.nodes[end], (ways.get(map.nodes[end]) || 0) + 1);
  return ways;
}

function placeOf({ first, last, meet, crossings }) {
  if (first === last) return meet > 2 ? `at a crossing of ${meet} ways` : "";
  return crossings ? `over ${crossings} crossing${crossings === 1 ? "" : "s"}` : "";
}

function fillMoves(episode) {
  const items = stretches(episode).map((row) => {
    const { move, first, last } = row;
    const button = html("button", "bare");
    const asked = move.asked ? `asked: ${move.asked}` : "";
    const why = html("span", "", [placeOf(row), move.reason, asked].filter(Boolean).join("; "));
    for (const reply of move.refused || []) why.append(html("span", "refused", `refused: ${reply}`));
    const isId = /^[\w-]{20,}$/.test(move.action); // of a viewpoint: its beginning tells it from others
    const action = html("span", "", isId ? `to ${move.action.slice(0, 6)}` : move.action.replaceAll("_", " "));
    if (isId) action.title = move.action;
    if (last > first) action.append(html("span", "times", `\u00d7 ${last - first + 1}`));
    button.append(html("span", "", last > first ? `${first + 1}\u2013${last + 1}.` : `${first + 1}.`), action, why);
    Object.assign(button.dataset, { index: first, last });
    button.onclick = () => view.go(last + 1);
    const item = html("li");
    item.append(button);
    return item;
  });
  byId("moves").replaceChildren(...items);
}

function show(index) {
  current = index;
  const episode = episodes[index];
  if (!episode) return;
  byId("name").textContent = `Episode ${episode.id}`;
  byId("outcome").textContent = [episode.outcome, episode.scan].filter(Boolean).join(" · ");
  byId("instruction").textContent = episode.instruction || "(no instruction)";
  byId("note").textContent = episode.note || "";
  const figures = Object.entries(episode.figures || {}).map(([name, value]) => {
    const pair = html("div");
    pair.append(html("dt", "", name), html("dd", "", value));
    return pair;
  });
  byId("figures").replaceChildren(...figures);
  drawMap(episode);
  fillMoves(episode);
  view.lasts((episode.moves || []).length);
  mark(byId("list"), index);
  history.replaceState(null, "", `#${encodeURIComponent(episode.id)}`);
}

document.querySelector("input[type=search]").oninput = fillList;
addEventListener("keydown", (event) => {
  if (event.target.matches("input") || event.ctrlKey || event.metaKey || event.altKey) return;
  const shown = episodes.map((_, index) => index).filter((index) => matches(episodes[index]));
  const place = shown.indexOf(current);
  if (event.key === "j" && place < shown.length - 1) show(shown[place + 1]);
  if (event.key === "k" && place > 0) show(shown[place - 1]);
});

countFilters();
fillList();
if (episodes.length) {
  const asked = decodeURIComponent(location.hash.slice(1));
  show(Math.max(0, episodes.findIndex((episode) => episode.id === asked)));
}
