// The page: runs side by side, or all in a grid; told by a server or kept in the page itself.
const INDEX_MS = 3000; // how often the list of runs is asked for while it is shown
const kept = document.getElementById("data");
const data = kept ? JSON.parse(kept.textContent) : null;
const runs = document.getElementById("runs");
const panels = new Map();
const grid = new Grid();
let stream = null;
let index = [];

const addressOf = (number, record, view) =>
  data ? data.pictures[data.views[`${number}/${record.seq}/${view}`]] || "data:," : `runs/${number}/views/${record.seq}/${view}`;

const mapOf = async (number) => {
  if (data) return data.maps[number];
  const text = await (await fetch(`runs/${number}/map`)).text();
  bringLetters(text);
  return JSON.parse(text);
};

const headline = () => {
  const [first] = panels.values();
  const words = count(panels.size || index.length, "run");
  document.getElementById("headline").textContent = panels.size === 1 ? first.title.textContent : words;
  document.title = `${panels.size === 1 ? first.who.textContent : words} \u00b7 virl watch`;
};

const close = () => {
  if (stream) stream.close();
  stream = null;
  for (const panel of panels.values()) panel.timeline.stop();
  panels.clear();
  runs.replaceChildren();
};

const listen = (numbers) => {
  stream = new EventSource(`events?runs=${numbers.join(",")}`);
  const lost = document.getElementById("lost");
  stream.addEventListener("open", () => { lost.hidden = true; });
  stream.addEventListener("error", () => { lost.hidden = false; });
  stream.addEventListener("told", (event) => {
    const { run, told } = JSON.parse(event.data);
    bringLetters(event.data);
    panels.get(run).add(told);
    headline();
  });
  stream.addEventListener("state", (event) => {
    const state = JSON.parse(event.data);
    panels.get(state.run).state(state);
  });
};

const replay = (numbers) => {
  for (const number of numbers) {
    const panel = panels.get(number);
    panel.follows = false;
    panel.add(data.runs[number]);
    panel.go(panel.records.length - 1, true);
  }
};

// What the address names, or the only run.
const wanted = () => {
  const known = index.map((one) => one.run);
  const named = (/^#run=([\d,]+)$/.exec(location.hash) || ["", ""])[1].split(",").filter(Boolean).map(Number);
  const chosen = named.filter((number) => known.includes(number)).slice(0, MOST_PANELS);
  return known.length > 1 ? chosen : known;
};

const show = () => {
  close();
  const numbers = wanted();
  document.getElementById("all").hidden = numbers.length === 0 || numbers.length === index.length;
  if (!numbers.length) {
    runs.append(grid.node);
    grid.show(index);
  }
  for (const number of numbers) {
    const panel = new Panel(number, addressOf, index.find((one) => one.run === number));
    panels.set(number, panel);
    runs.append(panel.node);
  }
  if (data) replay(numbers);
  else if (numbers.length) listen(numbers);
  headline();
};

const refresh = async () => {
  if (!panels.size) {
    const reply = await fetch("index").catch(() => null);
    document.getElementById("lost").hidden = Boolean(reply && reply.ok);
    if (reply && reply.ok) {
      const isFirst = !index.length;
      const text = await reply.text();
      bringLetters(text);
      index = JSON.parse(text).runs;
      if (isFirst) show();
      else if (!panels.size) grid.show(index);
      headline();
    }
  }
  setTimeout(refresh, INDEX_MS);
};

addEventListener("hashchange", show);
if (data) {
  index = data.index;
  show();
} else {
  refresh();
}
