"use strict";
(() => {
  // What an address leads to is unfolded, with all that it lies in.
  const unfold = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    const own = target.querySelector(":scope > details");
    for (let folded = own || target; folded; folded = folded.parentElement.closest("details")) {
      if (folded.localName === "details") folded.open = true;
    }
    target.scrollIntoView();
  };
  addEventListener("hashchange", unfold);
  unfold();
  const contents = document.querySelector(".contents details");
  if (contents) contents.open = matchMedia("(min-width: 64rem)").matches;
  for (const scripted of document.querySelectorAll(".log-tools")) scripted.hidden = false;

  // The log: narrowed by words and kinds, and gone through by keys.
  const log = document.getElementById("log");
  const search = document.querySelector(".log-tools input");
  const kinds = [...document.querySelectorAll("[data-of-kind]")];
  const narrow = () => {
    const wanted = search.value.trim().toLowerCase();
    const off = new Set(kinds.filter((kind) => kind.ariaPressed === "false").map((kind) => kind.dataset.ofKind));
    for (const entry of log.querySelectorAll(".entry")) {
      entry.hidden = off.has(entry.dataset.kind) || !entry.textContent.toLowerCase().includes(wanted);
    }
    for (const group of log.querySelectorAll(".group")) {
      group.hidden = !group.querySelector(".entry:not([hidden])");
      if (wanted) group.firstElementChild.open = true;
    }
  };
  search?.addEventListener("input", narrow);
  for (const kind of kinds) {
    kind.addEventListener("click", () => {
      kind.ariaPressed = String(kind.ariaPressed === "false");
      narrow();
    });
  }
  const isTyping = (event) => event.target.matches("input, textarea, select") || document.querySelector("dialog[open]");
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return;
    if (event.key === "/" && search) {
      event.preventDefault();
      search.focus();
    }
    const by = { j: 1, k: -1 }[event.key];
    if (!by) return;
    const all = [...document.querySelectorAll("#log summary:not(.tab > summary), .find > a")].filter((one) => one.getClientRects().length);
    const next = all[all.indexOf(document.activeElement) + by] || (by > 0 ? all[0] : null);
    next?.focus();
    next?.scrollIntoView({ block: "center" });
  });

  const COARSE_PX = 320; // pictures less wide are not enlarged
  // The filmstrip: the view that is pointed at, or was chosen last, stands large above, and its spot is marked.
  const shown = document.getElementById("shown");
  const film = document.querySelector(".film");
  if (!shown || !film) return;
  const first = shown.firstElementChild;
  const figures = [...film.querySelectorAll("figure")];
  let chosen = figures.find((figure) => "again" in figure.dataset);
  chosen?.querySelector(".frame").replaceWith(first.querySelector(".frame").cloneNode(true));
  const marksOf = (figure) => document.querySelectorAll(`a.mark[href="#${figure.dataset.of}"]`);
  // Names of boxes are 11 pixels high, however large the picture is, and inside what is shown of it.
  const scale = () => {
    for (const boxes of shown.querySelectorAll(".boxes")) {
      const pixel = 1 / boxes.getScreenCTM().a;
      const [frame, edge] = [boxes.closest(".frame").getBoundingClientRect(), 4];
      boxes.setAttribute("font-size", 11 * pixel);
      for (const name of boxes.querySelectorAll("text")) {
        name.removeAttribute("dx");
        const { left, right } = name.getBoundingClientRect();
        const off = Math.max(frame.left + edge - left, 0) - Math.max(right - frame.right + edge, 0);
        if (off) name.setAttribute("dx", off * pixel);
      }
    }
  };
  new ResizeObserver(scale).observe(shown);
  let now = null;
  const show = (figure) => {
    if (!figure || figure === now) return;
    for (const mark of now ? marksOf(now) : []) mark.classList.remove("shown");
    now = figure;
    for (const mark of marksOf(figure)) mark.classList.add("shown");
    const large = figure.cloneNode(true);
    large.classList.remove("chosen");
    // The same picture stands in the row below, and no two may be called the same.
    for (const picture of large.querySelectorAll("img")) picture.alt = `Large: ${picture.alt}`;
    large.querySelector(".frame").tabIndex = -1;
    const { naturalWidth = COARSE_PX } = figure.querySelector("img") || {};
    large.classList.toggle("coarse", naturalWidth > 0 && naturalWidth < COARSE_PX);
    shown.replaceChildren(large);
    scale();
  };
  const choose = (figure) => {
    for (const other of figures) {
      other.classList.toggle("chosen", other === figure);
      other.querySelector(".frame").tabIndex = other === figure ? 0 : -1;
    }
    chosen = figure;
    show(figure);
  };
  for (const figure of figures) {
    const frame = figure.querySelector(".frame");
    frame.setAttribute("role", "button");
    frame.setAttribute("aria-label", `Show large: ${frame.querySelector("img")?.alt || "a view"}`);
    frame.tabIndex = -1;
    frame.addEventListener("click", () => choose(figure));
    frame.addEventListener("mouseenter", () => show(figure));
    frame.addEventListener("mouseleave", () => show(chosen));
  }
  film.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const next = figures[figures.indexOf(chosen) + by];
    if (!next) return;
    event.preventDefault();
    choose(next);
    next.querySelector(".frame").focus({ preventScroll: true });
    next.scrollIntoView({ block: "nearest", inline: "center" });
  });
  for (const mark of document.querySelectorAll("a.mark")) {
    const of = figures.filter((figure) => mark.getAttribute("href") === `#${figure.dataset.of}`);
    const best = of.find((figure) => figure.classList.contains("big")) || of[0];
    mark.addEventListener("mouseenter", () => show(best));
    mark.addEventListener("mouseleave", () => show(chosen));
    mark.addEventListener("focus", () => show(best));
  }
  shown.addEventListener("click", () => shown.parentElement.classList.toggle("whole"));
  if (chosen) choose(chosen);
})();
