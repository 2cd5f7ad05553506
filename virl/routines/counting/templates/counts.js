
(() => {
  const { kinds, finds, heat } = JSON.parse(document.getElementById("data").textContent);
  document.documentElement.classList.add("scripted");
  const chart = document.getElementById("chart");
  const byId = new Map(finds.map((find, index) => [`thing-${find.id}`, index]));
  const shown = new Set(kinds.map((_, kind) => kind));
  for (const note of document.querySelectorAll(".needs-script")) note.remove();

  const make = (name, className, text = "") => {
    const made = document.createElement(name);
    if (className) made.className = className;
    made.textContent = text;
    return made;
  };

  // Heat: the level follows the zoom.
  const region = chart?.querySelector(".region .path");
  const layer = region && MapView.node("g", { id: "heat", "clip-path": "url(#inside)" });
  const levels = document.querySelector(".levels");
  const ramp = document.querySelector(".ramp");
  const ZOOM = [1, 0.45, 0.2]; // map widths at which the levels begin, of the whole map's
  let level = heat.length ? 0 : -1;
  let hot = heat.length > 0;

  // The heat lies on the ground, and ends where the region does.
  if (layer) {
    const inside = MapView.node("polygon", { points: region.getAttribute("points") });
    const clip = MapView.node("clipPath", { id: "inside" }, inside);
    (chart.querySelector(".casing") || chart.querySelector(".names")).before(clip, layer);
  }

  const total = (cell) => [...shown].reduce((sum, kind) => sum + cell[3 + kind], 0);
  const density = (cell) => total(cell) / cell[2];

  const classes = (most) => {
    const power = 10 ** Math.floor(Math.log10(most / 5));
    const step = [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].map((times) => times * power).find((width) => width * 5 >= most);
    return [0, 1, 2, 3, 4, 5].map((number) => number * step);
  };

  const drawHeat = () => {
    if (!layer || !heat.length) return;
    layer.replaceChildren();
    ramp.hidden = !hot;
    for (const button of levels.querySelectorAll("button")) {
      button.setAttribute("aria-pressed", String(button.dataset.level === (hot ? String(level) : "")));
    }
    if (!hot) return;
    const { width, cells } = heat[level];
    const filled = cells.filter((cell) => total(cell));
    const ends = classes(Math.max(...filled.map(density), 0.01));
    const radius = width / Math.sqrt(3);
    for (const cell of filled) {
      const corners = [30, 90, 150, 210, 270, 330].map((degrees) => {
        const angle = degrees * Math.PI / 180;
        return `${(cell[0] + radius * Math.cos(angle)).toFixed(1)},${(cell[1] + radius * Math.sin(angle)).toFixed(1)}`;
      });
      const shade = `h${Math.min(5, 1 + Math.floor(density(cell) / ends[1]))}`;
      const parts = [...shown].filter((kind) => cell[3 + kind]).map((kind) => `${cell[3 + kind]} × ${kinds[kind]}`);
      const title = `${density(cell).toFixed(1)} per hectare: ${parts.join(", ")} in ${Math.round(10000 * cell[2]).toLocaleString("en")} m²`;
      layer.append(MapView.node("polygon", { points: corners.join(" "), class: shade }, MapView.node("title", {}, title)));
    }
    const words = (number) => String(Number(number.toPrecision(3)));
    ramp.querySelector("ol").replaceChildren(...ends.slice(0, 5).map((from, number) =>
      make("li", `h${number + 1}`, `${words(from)}–${words(ends[number + 1])}`)));
    ramp.querySelector("span").textContent = `things per hectare, in hexagons of ${width} m`;
  };

  const hottest = (number) => heat[number].cells.reduce((best, cell) => total(cell) > total(best) ? cell : best);

  if (levels && heat.length) {
    levels.hidden = false;
    levels.append(make("span", "", "Heat map"));
    heat.forEach(({ name }, number) => {
      const button = make("button", "", name);
      button.dataset.level = number;
      button.addEventListener("click", () => {
        hot = true;
        const [x, y] = hottest(number);
        chart.parentNode.view.frame(ZOOM[number], x, y);
        drawHeat();
      });
      levels.append(button);
    });
    const off = make("button", "", "Off");
    off.dataset.level = "";
    off.addEventListener("click", () => { hot = false; drawHeat(); });
    levels.append(off);
  }
  chart?.classList.toggle("covered", Boolean(region));
  chart?.addEventListener("drawn", (event) => {
    if (!heat.length) return;
    const share = event.detail.share;
    const now = share > 0.7 ? 0 : share > 0.3 ? 1 : 2;
    if (now === level && layer.childElementCount) return;
    level = now;
    drawHeat();
  });

  // Which kinds are shown.
  for (const box of document.querySelectorAll(".kinds input")) {
    box.disabled = kinds.length < 2;
    box.addEventListener("change", () => {
      const kind = Number(box.dataset.kind);
      shown[box.checked ? "add" : "delete"](kind);
      for (const item of document.querySelectorAll(`.thing.kind-${kind}, .find[data-kind="${kind}"]`)) {
        item.toggleAttribute("hidden", !box.checked);
      }
      drawHeat();
    });
  }

  // A thing, with its views and the reasons.
  const dialog = document.getElementById("look");
  let current = -1;

  const duration = (seconds) => {
    const minutes = Math.floor(seconds / 60);
    return minutes ? `${minutes} min ${Math.round(seconds % 60)} s` : `${seconds.toFixed(0)} s`;
  };

  const picture = (source, className, alt) => {
    if (!source) return make("span", "gone", "The picture is missing.");
    const image = make("img", className);
    image.alt = alt;
    image.loading = "lazy";
    image.onerror = () => image.replaceWith(make("span", "gone", `${source} is not beside this page.`));
    image.src = source;
    return image;
  };

  const told = (find, sight) => {
    const item = make("li");
    const words = make("div", "words");
    const when = sight.step === null ? "" : `Step ${sight.step}, ${duration(sight.seconds)} after the start. `;
    const where = `From panorama ${sight.pano}, ${sight.metres.toFixed(1)} m away, looking to ${sight.heading.toFixed(0)}°, ${sight.fov.toFixed(0)}° wide.`;
    words.append(make("p", "", `${when}${where} Score ${(100 * sight.score).toFixed(0)} %.`), make("p", "why", sight.why));
    if (!sight.pictures.length) words.append(make("p", "gone", "No picture is kept of this view."));
    const looks = [["crop", find.title], ["view", `The view with ${find.title} marked`]];
    const tile = document.querySelector(`#thing-${find.id} img`)?.src;
    item.append(...sight.pictures.map((source, number) => picture(source === null ? tile : source, ...looks[number])), words);
    return item;
  };

  const show = (index) => {
    const find = finds[index];
    current = index;
    document.getElementById("look-title").textContent = find.title;
    dialog.querySelector(".facts-line").textContent =
      `${find.lat.toFixed(6)}, ${find.lng.toFixed(6)}, ±${find.sigma.toFixed(1)} m · confidence ${(100 * find.confidence).toFixed(0)} % · ` +
      `${find.sights.length} view${find.sights.length === 1 ? "" : "s"} · ${find.id}`;
    dialog.querySelector(".joined").replaceChildren(...find.joined.map((line) => make("li", "", line)));
    dialog.querySelector(".sights").replaceChildren(...find.sights.map((sight) => told(find, sight)));
    for (const mark of document.querySelectorAll(".thing.shown")) mark.classList.remove("shown");
    document.querySelector(`.thing[href="#thing-${find.id}"]`)?.classList.add("shown");
    if (!dialog.open) dialog.showModal();
    dialog.scrollTop = 0;
  };

  const turn = (by) => {
    for (let index = current + by; index >= 0 && index < finds.length; index += by) {
      if (shown.has(finds[index].kind)) return history.replaceState(null, "", `#thing-${finds[index].id}`), show(index);
    }
  };

  const follow = () => {
    const index = byId.get(decodeURIComponent(location.hash.slice(1)));
    if (index !== undefined) show(index);
  };
  addEventListener("hashchange", follow);
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.('a[href^="#thing-"]');
    if (link && link.getAttribute("href") === location.hash) follow();
  });
  dialog.addEventListener("click", (event) => {
    const by = event.target.dataset.turn;
    if (by) return turn(Number(by));
    if (event.target === dialog || "close" in event.target.dataset) dialog.close();
  });
  dialog.addEventListener("keydown", (event) => {
    if (event.key === "ArrowLeft") turn(-1);
    if (event.key === "ArrowRight") turn(1);
  });
  dialog.addEventListener("close", () => history.replaceState(null, "", location.pathname + location.search));
  follow();
})();
