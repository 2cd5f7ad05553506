"use strict";
(() => {
  const [choice, chips] = document.querySelectorAll(".toolbar");
  const list = document.getElementById("runs");
  const cards = [...list.children];
  const search = choice.querySelector("input");
  const order = choice.querySelector("select");
  const said = choice.querySelector("[role=status]");
  choice.hidden = chips.hidden = false;

  const before = {
    started: (a, b) => b.dataset.started.localeCompare(a.dataset.started),
    who: (a, b) => a.dataset.who.localeCompare(b.dataset.who),
    steps: (a, b) => b.dataset.steps - a.dataset.steps,
    usd: (a, b) => b.dataset.usd - a.dataset.usd,
  };

  const chosen = { who: new Set(), city: new Set(), status: new Set() };

  const show = () => {
    const wanted = search.value.trim().toLowerCase();
    for (const card of cards) {
      const isChosen = Object.entries(chosen).every(([field, values]) => !values.size || values.has(card.dataset[field]));
      card.hidden = !isChosen || !card.textContent.toLowerCase().includes(wanted);
    }
    list.append(...cards.sort(before[order.value]));
    const shown = cards.filter((card) => !card.hidden).length;
    said.textContent = shown < cards.length ? `${shown} of ${cards.length} runs` : "";
  };

  // A chip for each agent, city and end, where there are several.
  for (const [field, label] of [["who", "Agents"], ["city", "Cities"], ["status", "Ends"]]) {
    const counts = new Map();
    for (const { dataset } of cards) counts.set(dataset[field], (counts.get(dataset[field]) || 0) + 1);
    if (counts.size < 2) continue;
    const group = document.createElement("div");
    group.setAttribute("role", "group");
    group.ariaLabel = label;
    for (const [value, count] of [...counts].sort()) {
      const chip = Object.assign(document.createElement("button"), { type: "button", textContent: `${value} ${count}`, ariaPressed: "false" });
      chip.addEventListener("click", () => {
        if (!chosen[field].delete(value)) chosen[field].add(value);
        chip.ariaPressed = String(chosen[field].has(value));
        show();
      });
      group.append(chip);
    }
    chips.append(group);
  }
  search.addEventListener("input", show);
  order.addEventListener("change", show);
})();
