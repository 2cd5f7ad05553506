"use strict";

/* What the web mover calls: virl.start, virl.go, virl.arrows, virl.click. Each gives a promise. */
const virl = (() => {
  const EVENTS = ["pano_changed", "position_changed", "links_changed", "status_changed"];
  let panorama = null;
  let shown = null; // the last panorama that was shown in full
  let waiting = null; // what go or click waits for

  /* Loads the Maps JavaScript API and puts a panorama on the page. */
  async function start() {
    const { mapsJs, key } = settings; // put before this script by the server
    await new Promise((resolve, reject) => {
      window.virlMapsLoaded = resolve;
      window.gm_authFailure = () => {
        const fault = new Error("the key was refused");
        reject(fault);
        if (waiting) waiting.reject(fault);
      };
      const script = document.createElement("script");
      const query = new URLSearchParams({ ...(key && { key }), v: "quarterly", callback: "virlMapsLoaded" });
      script.src = `${mapsJs}?${query}`;
      script.onerror = () => reject(new Error("the script did not load"));
      script.onload = () => { if (!window.google?.maps) script.onerror(); }; // a reply that is no such script
      document.head.append(script);
    });
    panorama = new google.maps.StreetViewPanorama(document.getElementById("panorama"), { visible: true });
    for (const name of EVENTS) panorama.addListener(name, () => notice(name));
  }

  /* Shows a panorama, unless it is shown already. */
  function go(pano, heading) {
    panorama.setPov({ heading, pitch: 0 });
    return shown && shown.pano === pano ? Promise.resolve(shown) : move(() => panorama.setPano(pano));
  }

  /* Clicks on an arrow, by its place among all arrows. */
  function click(index) {
    return move(() => drawnArrows()[index].dispatchEvent(new MouseEvent("click", { bubbles: true })));
  }

  /* The transforms of the arrows drawn, and the heading that they are turned against. */
  async function arrows(milliseconds) {
    const end = performance.now() + milliseconds;
    while (!drawnArrows().length && performance.now() < end) await new Promise((next) => setTimeout(next, 50));
    const transforms = drawnArrows().map((arrow) => arrow.getAttribute("transform") || arrow.style.transform);
    return { transforms, heading: panorama.getPov().heading };
  }

  function drawnArrows() {
    return [...document.querySelectorAll("#panorama path[role=button]")];
  }

  function move(set) {
    shown = null;
    return new Promise((resolve, reject) => {
      waiting = { resolve, reject, seen: new Set() };
      set();
    });
  }

  /* Position and links come in events of their own; the panorama is shown once both have come. */
  function notice(name) {
    if (!waiting) return;
    waiting.seen.add(name);
    const status = panorama.getStatus();
    if (name === "status_changed" && status && status !== "OK") return settle((it) => it.reject(new Error(status)));
    if (waiting.seen.has("position_changed") && waiting.seen.has("links_changed") && panorama.getPosition()) {
      shown = {
        pano: panorama.getPano(),
        lat: panorama.getPosition().lat(),
        lng: panorama.getPosition().lng(),
        links: (panorama.getLinks() || []).filter(Boolean).map(({ pano, heading }) => ({ pano, heading })),
      };
      settle((it) => it.resolve(shown));
    }
  }

  function settle(end) {
    const one = waiting;
    waiting = null;
    end(one);
  }

  return { start, go, click, arrows };
})();
