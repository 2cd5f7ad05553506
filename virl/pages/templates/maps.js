"use strict";
(() => {
  const roundLength = (metres) => {
    const power = 10 ** Math.floor(Math.log10(metres));
    return [5, 2, 1].find((step) => step * power <= metres) * power;
  };

  const place = (group, x, y, size) =>
    group.setAttribute("transform", `translate(${x} ${y}) scale(${size})`);

  // Where a label may stand beside its mark: its anchor, and the share of it that is left of that.
  const SIDES = [
    [0, 28, 0.5], [0, -18, 0.5], [17, 4, 0], [-17, 4, 1], [12, 24, 0], [-12, 24, 1], [12, -14, 0], [-12, -14, 1],
  ];
  const meet = (a, b) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
  const lengths = new WeakMap();

  // Points of the ways, close enough together that none passes through a label unseen.
  const alongWays = (chart, box, pixel) =>
    [...chart.querySelectorAll("polyline.path:not(.halo)")].flatMap((way) => {
      const points = [...way.points].map((point) => [(point.x - box.x) / pixel, (point.y - box.y) / pixel]);
      return points.flatMap(([x, y], index) => {
        const [u, v] = points[index + 1] || [x, y];
        const parts = Math.min(200, Math.ceil(Math.hypot(u - x, v - y) / 6)) || 1;
        return Array.from({ length: parts }, (_, part) => [x + ((u - x) * part) / parts, y + ((v - y) * part) / parts]);
      });
    });

  // Each label beside its mark where nothing is in the way, those drawn last first; without room it is hidden.
  const placeLabels = (chart, box, pixel) => {
    const labels = [...chart.querySelectorAll(".scaled > .label:not(.scale)")].reverse();
    const size = chart.clientWidth < 500 ? 0.85 : 1;
    const at = (group) => [(group.dataset.x - box.x) / pixel, (group.dataset.y - box.y) / pixel];
    const [right, bottom] = [chart.clientWidth, chart.clientHeight];
    const taken = [[0, 0, 46, 122], [right - 40, 0, right, 54], [0, bottom - 38, 150, bottom]];
    for (const mark of chart.querySelectorAll(".scaled > .seen")) {
      const [x, y] = at(mark.parentNode);
      const radius = (Number(mark.getAttribute("r")) || 8) * size + 1;
      taken.push([x - radius, y - radius, x + radius, y + radius]);
    }
    const ways = labels.length ? alongWays(chart, box, pixel) : [];
    for (const label of labels) {
      label.classList.remove("no-room", "to-right", "to-left");
      if (!lengths.get(label)) lengths.set(label, label.getComputedTextLength());
      const [x, y] = at(label.parentNode);
      const length = lengths.get(label) * size;
      let best = null;
      for (const [dx, dy, share] of SIDES) {
        const [left, base] = [x + dx * size - share * length, y + dy * size];
        const room = [left - 3, base - 13 * size, left + length + 3, base + 5 * size];
        const isInside = room[0] > 0 && room[1] > 0 && room[2] < right && room[3] < bottom;
        if (!isInside || taken.some((other) => meet(room, other))) continue;
        const crossed = ways.filter(([u, v]) => meet(room, [u, v, u, v])).length;
        if (!best || crossed < best.crossed) best = { room, dx, dy, share, crossed };
      }
      label.classList.toggle("no-room", !best);
      if (!best) continue;
      taken.push(best.room);
      label.setAttribute("x", best.dx);
      label.setAttribute("y", best.dy);
      label.classList.toggle("to-right", best.share === 0);
      label.classList.toggle("to-left", best.share === 1);
    }
  };

  // Marks lie close together: of those that a finger covers, the one it meant.
  const nearestTo = (chart, event) => {
    let [nearest, best] = [Infinity, null];
    for (const hit of chart.querySelectorAll("a .hit")) {
      const { x, y, width, height } = hit.getBoundingClientRect();
      const away = Math.hypot(x + width / 2 - event.clientX, y + height / 2 - event.clientY);
      if (width && away < nearest) [nearest, best] = [away, hit.closest("a")];
    }
    return best;
  };

  const zoomable = (paper) => {
    const chart = paper.querySelector(".chart");
    const whole = chart.viewBox.baseVal;
    const full = { x: whole.x, y: whole.y, w: whole.width, h: whole.height };
    let box = { ...full };
    const scale = chart.querySelector(".scale-bar");

    const draw = () => {
      if (!chart.clientWidth) return; // hidden: drawn when it is shown
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
      placeLabels(chart, box, pixel);
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
    chart.addEventListener("click", (event) => {
      const link = event.target.closest("a");
      const nearest = link && event.detail && nearestTo(chart, event); // a key has no place
      if (moved || (nearest && nearest !== link)) event.preventDefault();
      if (!moved && nearest && nearest !== link) location.hash = nearest.getAttribute("href");
    }, true);
    chart.addEventListener("dragstart", (event) => event.preventDefault());
    new ResizeObserver(draw).observe(chart);
  };
  document.querySelectorAll(".paper").forEach(zoomable);
})();
