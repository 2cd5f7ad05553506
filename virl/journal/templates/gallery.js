"use strict";
(() => {
  const choice = document.querySelector(".toolbar");
  const list = document.getElementById("runs");
  const cards = [...list.children];
  const search = choice.querySelector("input");
  const order = choice.querySelector("select");
  const said = choice.querySelector("[role=status]");
  choice.hidden = false;

  const before = {
    started: (a, b) => b.dataset.started.localeCompare(a.dataset.started),
    who: (a, b) => a.dataset.who.localeCompare(b.dataset.who),
    steps: (a, b) => b.dataset.steps - a.dataset.steps,
    usd: (a, b) => b.dataset.usd - a.dataset.usd,
  };

  const show = () => {
    const wanted = search.value.trim().toLowerCase();
    for (const card of cards) card.hidden = !card.textContent.toLowerCase().includes(wanted);
    list.append(...cards.sort(before[order.value]));
    const shown = cards.filter((card) => !card.hidden).length;
    said.textContent = shown < cards.length ? `${shown} of ${cards.length} runs` : "";
  };
  search.addEventListener("input", show);
  order.addEventListener("change", show);
})();
