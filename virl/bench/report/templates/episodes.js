"use strict";
const { maps, episodes } = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";

for (const map of Object.values(maps)) {
  map.at = new Map(map.nodes.map((node, index) => [node, [map.x[index] / 10, map.y[index] / 10]]));
}

let outcome = "";
let current = 0;

function element(name, attributes = {}, text = "") {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.textContent = text;
  return made;
}

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
    const start = html("small", "", episode.instruction || "(no instruction)");
    start.title = start.textContent;
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

function line(map, nodes) {
  return (nodes || []).map((node) => map.at.get(node)).filter(Boolean).map((point) => point.join(",")).join(" ");
}

function frame(points) {
  if (!points.length) return { left: 0, top: 0, width: 1, height: 1 };
  const xs = points.map((point) => point[0]), ys = points.map((point) => point[1]);
  const span = Math.max(Math.max(...xs) - Math.min(...xs), Math.max(...ys) - Math.min(...ys), 8);
  const margin = span * 0.12;
  return {
    left: Math.min(...xs) - margin, top: Math.min(...ys) - margin,
    width: Math.max(...xs) - Math.min(...xs) + 2 * margin || 1,
    height: Math.max(...ys) - Math.min(...ys) + 2 * margin || 1,
  };
}

function drawMap(episode) {
  const svg = byId("map");
  const map = maps[episode.scan || ""];
  svg.replaceChildren();
  if (!map) return;
  const path = episode.path || [], gold = episode.gold || [];
  const points = [...path, ...gold].map((node) => map.at.get(node)).filter(Boolean);
  const box = frame(points);
  svg.setAttribute("viewBox", `${box.left} ${box.top} ${box.width} ${box.height}`);
  const streets = [];
  for (let i = 0; i < map.links.length; i += 2) {
    const [a, b] = [map.links[i], map.links[i + 1]];
    streets.push(`M${map.x[a] / 10} ${map.y[a] / 10}L${map.x[b] / 10} ${map.y[b] / 10}`);
  }
  svg.append(element("path", { class: "street", d: streets.join("") }));
  svg.append(element("polyline", { class: "goldpath", points: line(map, gold) }));
  svg.append(element("polyline", { class: "walkedpath", points: line(map, path) }));
  const size = svg.getBoundingClientRect();
  if (!size.width) return; // hidden: drawn when the window changes
  const unit = Math.max(box.width / (size.width || 1), box.height / (size.height || 1));
  const circle = (node, name, radius, width) => {
    const point = map.at.get(node);
    if (!point) return;
    svg.append(element("circle", {
      class: name, cx: point[0], cy: point[1], r: radius * unit, "stroke-width": width * unit,
    }));
  };
  circle(gold[gold.length - 1], "targetmark", 10, 4);
  circle(path.length ? path[0] : gold[0], "startmark", 6, 2.5);
  circle(path[path.length - 1], "endmark", 6, 1.5);
  drawScale(svg, box, unit);
  svg.dataset.unit = unit;
}

function drawScale(svg, box, unit) {
  const wanted = 120 * unit, power = 10 ** Math.floor(Math.log10(wanted));
  const metres = [5, 2, 1].map((times) => times * power).find((length) => length <= wanted);
  const size = svg.getBoundingClientRect();
  const left = box.left + box.width / 2 - (size.width / 2 - 14) * unit;
  const bottom = box.top + box.height / 2 + (size.height / 2 - 14) * unit;
  svg.append(element("path", { class: "scale", d: `M${left} ${bottom}h${metres}`, "stroke-width": 2 * unit }));
  svg.append(element("text", { class: "scale", x: left, y: bottom - 6 * unit, "font-size": 12 * unit }, `${metres} m`));
}

function step(index) {
  const episode = episodes[current];
  const moves = episode.moves || [];
  const svg = byId("map");
  svg.querySelector(".atmark")?.remove();
  mark(byId("moves"), index - 1);
  const node = index > 0 ? moves[index - 1].node : (episode.path || [])[0];
  const point = maps[episode.scan || ""]?.at.get(node);
  byId("at").textContent = `${index} of ${moves.length}`;
  byId("step").value = index;
  const unit = Number(svg.dataset.unit);
  if (!point || !unit) return;
  svg.append(element("circle", { class: "atmark", cx: point[0], cy: point[1], r: 11 * unit, "stroke-width": 3 * unit }));
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
    const action = html("span", "", move.action);
    if (last > first) action.append(html("span", "times", `\u00d7 ${last - first + 1}`));
    button.append(html("span", "", last > first ? `${first + 1}\u2013${last + 1}.` : `${first + 1}.`), action, why);
    Object.assign(button.dataset, { index: first, last });
    button.onclick = () => step(last + 1);
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
  byId("step").max = (episode.moves || []).length;
  step((episode.moves || []).length);
  mark(byId("list"), index);
  history.replaceState(null, "", `#${encodeURIComponent(episode.id)}`);
}

byId("step").oninput = (event) => step(Number(event.target.value));
document.querySelector("input[type=search]").oninput = fillList;
addEventListener("resize", () => { drawMap(episodes[current]); step(Number(byId("step").value)); });
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
