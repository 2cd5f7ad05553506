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
