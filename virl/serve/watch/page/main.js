// The page: runs side by side, told by a server or kept in the page itself.
const kept = document.getElementById("data");
const data = kept ? JSON.parse(kept.textContent) : null;
const runs = document.getElementById("runs");
const panels = new Map();

const addressOf = (number, record, view) =>
  data ? data.pictures[`${number}/${record.seq}/${view}`] || "data:," : `runs/${number}/views/${record.seq}/${view}`;

const open = (number) => {
  const panel = new Panel(number, addressOf);
  panels.set(number, panel);
  runs.append(panel.node);
  return panel;
};

const headline = () => {
  const [first] = panels.values();
  const words = panels.size === 1 ? first.title.textContent : count(panels.size, "run");
  document.getElementById("headline").textContent = words;
  document.title = `${words} \u00b7 virl watch`;
};

const listen = (numbers) => {
  const stream = new EventSource(`events?runs=${numbers.join(",")}`);
  const lost = document.getElementById("lost");
  stream.addEventListener("open", () => { lost.hidden = true; });
  stream.addEventListener("error", () => { lost.hidden = false; });
  stream.addEventListener("told", (event) => {
    const { run, told } = JSON.parse(event.data);
    panels.get(run).add(told);
    headline();
  });
  stream.addEventListener("state", (event) => {
    const state = JSON.parse(event.data);
    panels.get(state.run).state(state);
  });
};

if (data) {
  for (const { run, told } of data.runs) {
    const panel = open(run);
    panel.follows = false;
    panel.add(told);
    panel.go(told.length - 1, true);
  }
  headline();
} else {
  fetch("index").then((reply) => reply.json()).then((index) => {
    const numbers = index.runs.map((one) => one.run);
    numbers.forEach(open);
    headline();
    listen(numbers);
  });
}
