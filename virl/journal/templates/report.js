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

  const roundLength = (metres) => {
    const power = 10 ** Math.floor(Math.log10(metres));
    return [5, 2, 1].find((step) => step * power <= metres) * power;
  };

  const place = (group, x, y, size) =>
    group.setAttribute("transform", `translate(${x} ${y}) scale(${size})`);

  const zoomable = (paper) => {
    const chart = paper.querySelector(".chart");
    const whole = chart.viewBox.baseVal;
    const full = { x: whole.x, y: whole.y, w: whole.width, h: whole.height };
    let box = { ...full };
    const scale = chart.querySelector(".scale-bar");

    const draw = () => {
      const pixel = box.w / chart.clientWidth; // metres
      chart.setAttribute("viewBox", `${box.x} ${box.y} ${box.w} ${box.h}`);
      for (const group of chart.querySelectorAll(".scaled")) {
        place(group, group.dataset.x, group.dataset.y, pixel * (chart.clientWidth < 500 ? 0.85 : 1));
      }
      const metres = roundLength(box.w / 5);
      const x = box.x + 14 * pixel;
      const y = box.y + box.h - 14 * pixel;
      scale.querySelector("path").setAttribute("d", `M${x} ${y}h${metres}`);
      place(scale.querySelector("g"), x, y, pixel);
      scale.querySelector("text").textContent = `${metres} m`;
      chart.classList.toggle("near", box.w < full.w);
      chart.dispatchEvent(new CustomEvent("drawn", { detail: { share: box.w / full.w } }));
    };

    // Asked from outside to show a share of the whole map's width, around a point.
    chart.addEventListener("frame", (event) => {
      const { share, x, y } = event.detail;
      const [w, h] = [full.w * share, full.h * share];
      box = share < 1 ? { x: x - w / 2, y: y - h / 2, w, h } : { ...full };
      draw();
    });

    const zoom = (factor, x = box.x + box.w / 2, y = box.y + box.h / 2) => {
      const w = Math.min(Math.max(box.w * factor, full.w / 12), full.w * 2.5);
      const ratio = w / box.w;
      box = { x: x - (x - box.x) * ratio, y: y - (y - box.y) * ratio, w, h: box.h * ratio };
      draw();
    };

    const buttons = paper.querySelector(".zoom");
    buttons.hidden = false;
    buttons.addEventListener("click", (event) => {
      const factor = event.target.dataset.zoom;
      if (factor === undefined) return;
      if (Number(factor)) return zoom(Number(factor));
      box = { ...full };
      draw();
    });

    chart.addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return; // a plain wheel scrolls the page
      event.preventDefault();
      const seen = chart.getBoundingClientRect();
      const x = box.x + ((event.clientX - seen.left) / seen.width) * box.w;
      const y = box.y + ((event.clientY - seen.top) / seen.height) * box.h;
      zoom(Math.exp(event.deltaY / 200), x, y);
    }, { passive: false });

    let held = null;
    let moved = false;
    chart.addEventListener("pointerdown", (event) => {
      held = { x: event.clientX, y: event.clientY };
      moved = false;
    });
    addEventListener("pointermove", (event) => {
      if (!held || (event.pointerType === "touch" && box.w >= full.w)) return;
      const dx = event.clientX - held.x;
      const dy = event.clientY - held.y;
      if (!moved && Math.hypot(dx, dy) < 4) return;
      moved = true;
      const pixel = box.w / chart.clientWidth;
      box = { ...box, x: box.x - dx * pixel, y: box.y - dy * pixel };
      held = { x: event.clientX, y: event.clientY };
      draw();
    });
    for (const end of ["pointerup", "pointercancel"]) addEventListener(end, () => { held = null; });
    chart.addEventListener("click", (event) => { if (moved) event.preventDefault(); }, true);
    chart.addEventListener("dragstart", (event) => event.preventDefault());
    new ResizeObserver(draw).observe(chart);
  };
  document.querySelectorAll(".paper").forEach(zoomable);

  const sort = (table, column, heading) => {
    const down = heading.getAttribute("aria-sort") === "ascending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", down ? "descending" : "ascending");
    const worth = (row) => row.cells[column].dataset.number;
    const words = (row) => row.cells[column].textContent;
    const before = (a, b) => {
      if (worth(a) === undefined && worth(b) === undefined) return words(a).localeCompare(words(b));
      return (worth(a) ?? -Infinity) - (worth(b) ?? -Infinity);
    };
    const rows = [...table.tBodies[0].rows].sort((a, b) => (down ? before(b, a) : before(a, b)));
    table.tBodies[0].append(...rows);
  };

  for (const table of document.querySelectorAll("table.sortable")) {
    [...table.tHead.rows[0].cells].forEach((heading, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...heading.childNodes);
      button.addEventListener("click", () => sort(table, column, heading));
      heading.append(button);
    });
  }
})();
