"use strict";
(() => {
  const unfold = () => {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    const folded = target && target.closest("details");
    if (folded && !folded.open) {
      folded.open = true;
      target.scrollIntoView();
    }
  };
  addEventListener("hashchange", unfold);
  unfold();

  // The contents: open where they stand beside the story, narrowed by words, and gone through by keys.
  const contents = document.querySelector(".contents");
  if (contents) {
    contents.querySelector("details").open = matchMedia("(min-width: 64rem)").matches;
    for (const hidden of contents.querySelectorAll("[hidden]")) hidden.hidden = false;
    const items = [...contents.querySelectorAll("li")];
    contents.querySelector("input").addEventListener("input", (event) => {
      const wanted = event.target.value.trim().toLowerCase();
      for (const item of items) item.hidden = !item.textContent.toLowerCase().includes(wanted);
    });
    const links = [...contents.querySelectorAll("li a")];
    let current = null; // until the reader scrolls on
    addEventListener("wheel", () => { current = null; }, { passive: true });
    addEventListener("keydown", (event) => {
      const by = { j: 1, k: -1 }[event.key];
      if (!by || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.target.matches("input, textarea, select") || document.querySelector("dialog[open]")) return;
      const tops = links.map((link) => document.querySelector(link.getAttribute("href")).getBoundingClientRect().top);
      const above = tops.filter((top) => top < 40).length - 1;
      const from = current ?? (by > 0 ? above : tops.filter((top) => top < 0).length);
      const next = Math.min(Math.max(from + by, 0), links.length - 1);
      if (current !== null) links[current].removeAttribute("aria-current");
      current = next;
      links[next].setAttribute("aria-current", "true");
      links[next].scrollIntoView({ block: "nearest" });
      const target = document.querySelector(links[next].getAttribute("href"));
      target.scrollIntoView();
      target.tabIndex = -1;
      target.focus({ preventScroll: true });
    });
  }

  for (const figure of document.querySelectorAll(".view")) {
    const frame = figure.querySelector(".frame");
    const toggle = () => frame.setAttribute("aria-expanded", figure.classList.toggle("large"));
    figure.classList.add("zoomable");
    frame.tabIndex = 0;
    frame.setAttribute("role", "button");
    frame.setAttribute("aria-expanded", "false");
    frame.addEventListener("click", toggle);
    frame.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      toggle();
    });
  }
})();
