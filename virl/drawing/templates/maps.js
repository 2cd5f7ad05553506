"use strict";
(() => {
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
})();
