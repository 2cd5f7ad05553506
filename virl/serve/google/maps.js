// Enough of the Maps JavaScript API for a page that shows street view: google.maps.StreetViewPanorama,
// StreetViewService, LatLng, event and importLibrary. It talks to the server that it was loaded from.
(() => {
  "use strict";

  const source = new URL(document.currentScript.src);
  const key = source.searchParams.get("key") || "";
  const maps = ((window.google ??= {}).maps ??= {});
  const DEFAULT_RADIUS_M = 50;
  const MAX_SIDE = 640; // pixels of a view
  const STATUS = { OK: "OK", UNKNOWN_ERROR: "UNKNOWN_ERROR", ZERO_RESULTS: "ZERO_RESULTS" };

  const address = (path, parameters) => {
    const url = new URL(`/maps/api/js/${path}`, source);
    for (const [name, value] of Object.entries({ ...parameters, key })) url.searchParams.set(name, value);
    return url.href;
  };
  const wrapped = (heading) => ((heading % 360) + 360) % 360;

  class LatLng {
    #lat;
    #lng;
    constructor(lat, lng) {
      const given = typeof lat === "object" ? lat : { lat, lng };
      this.#lat = Number(typeof given.lat === "function" ? given.lat() : given.lat);
      this.#lng = Number(typeof given.lng === "function" ? given.lng() : given.lng);
    }
    lat() { return this.#lat; }
    lng() { return this.#lng; }
    equals(other) { return other !== null && this.#lat === other.lat() && this.#lng === other.lng(); }
    toJSON() { return { lat: this.#lat, lng: this.#lng }; }
    toString() { return `(${this.#lat}, ${this.#lng})`; }
    toUrlValue(digits = 6) { return `${+this.#lat.toFixed(digits)},${+this.#lng.toFixed(digits)}`; }
  }

  class Size {
    constructor(width, height) { Object.assign(this, { width, height }); }
  }

  class MVCObject {
    #listeners = new Map();
    addListener(name, handler) {
      const handlers = this.#listeners.get(name) ?? new Set();
      this.#listeners.set(name, handlers.add(handler));
      return { remove: () => handlers.delete(handler) };
    }
    notifyAll(...names) {
      for (const name of names) {
        for (const handler of [...(this.#listeners.get(name) ?? [])]) handler.call(this);
      }
    }
    forget(name) { name === undefined ? this.#listeners.clear() : this.#listeners.delete(name); }
  }

  const event = {
    addListener: (target, name, handler) => target.addListener(name, handler),
    addListenerOnce(target, name, handler) {
      const listener = target.addListener(name, function once() { listener.remove(); handler.call(this); });
      return listener;
    },
    clearInstanceListeners: (target) => target.forget(),
    clearListeners: (target, name) => target.forget(name),
    removeListener: (listener) => listener?.remove(),
    trigger: (target, name) => target.notifyAll(name),
  };

  const described = (panorama) => ({
    copyright: panorama.copyright,
    imageDate: panorama.date,
    links: panorama.links.map((link) => ({ description: link.text, heading: link.heading, pano: link.panoId })),
    location: {
      description: panorama.addressComponents[0]?.longName ?? "",
      latLng: new LatLng(panorama.lat, panorama.lng),
      pano: panorama.panoId,
      shortDescription: panorama.addressComponents[0]?.shortName ?? "",
    },
    tiles: {
      centerHeading: panorama.heading,
      originHeading: panorama.heading,
      originPitch: panorama.tilt - 90,
      tileSize: new Size(panorama.tileWidth, panorama.tileHeight),
      worldSize: new Size(panorama.imageWidth, panorama.imageHeight),
    },
  });

  // Gives the data and a status, never throws: what went wrong is in the status.
  const look = async (wanted) => {
    try {
      const answer = await fetch(address("panorama", wanted));
      if (answer.ok) return { data: described(await answer.json()), status: STATUS.OK };
      const { error } = await answer.json();
      const isKey = error.status === "PERMISSION_DENIED" || error.details?.[0]?.reason === "API_KEY_INVALID";
      if (isKey && typeof window.gm_authFailure === "function") window.gm_authFailure();
      return { data: null, status: answer.status === 404 ? STATUS.ZERO_RESULTS : STATUS.UNKNOWN_ERROR };
    } catch {
      return { data: null, status: STATUS.UNKNOWN_ERROR };
    }
  };
  const near = (position, radius = DEFAULT_RADIUS_M) => ({ ...new LatLng(position).toJSON(), radius });

  class StreetViewService {
    async getPanorama(request, callback) {
      const wanted = request.pano ? { panoId: request.pano } : near(request.location, request.radius);
      const { data, status } = await look(wanted);
      callback?.(data, status);
      if (status !== STATUS.OK && !callback) {
        throw Object.assign(new Error(`STREETVIEW_GET_PANORAMA: ${status}`), { code: status });
      }
      return { data };
    }
  }

  class StreetViewPanorama extends MVCObject {
    #container;
    #image = document.createElement("img");
    #arrows = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    #state = { pano: undefined, position: undefined, links: undefined, status: undefined, location: null };
    #pov = { heading: 0, pitch: 0 };
    #zoom = 1;
    #visible = true;
    #linksControl = true;
    #photographer = { heading: 0, pitch: 0 };
    #asked = 0;

    constructor(container, options = {}) {
      super();
      this.#container = container;
      container.style.position ||= "relative";
      container.style.overflow = "hidden";
      Object.assign(this.#image.style, { width: "100%", height: "100%", objectFit: "cover", display: "none" });
      this.#image.alt = "Street view";
      this.#arrows.setAttribute("viewBox", "-100 -100 200 200");
      Object.assign(this.#arrows.style, {
        position: "absolute", left: "50%", bottom: "0", width: "200px", height: "200px",
        transform: "translateX(-50%) rotateX(60deg)",
      });
      container.replaceChildren(this.#image, this.#arrows);
      this.setOptions(options);
    }

    getPano() { return this.#state.pano; }
    getPosition() { return this.#state.position; }
    getLinks() { return this.#state.links; }
    getStatus() { return this.#state.status; }
    getLocation() { return this.#state.location; }
    getPov() { return { ...this.#pov }; }
    getPhotographerPov() { return { ...this.#photographer }; }
    getZoom() { return this.#zoom; }
    getVisible() { return this.#visible; }

    setOptions(options) {
      if (options.linksControl !== undefined) this.#linksControl = options.linksControl;
      if (options.zoom !== undefined) this.setZoom(options.zoom);
      if (options.pov) this.setPov(options.pov);
      if (options.visible !== undefined) this.setVisible(options.visible);
      if (options.pano) this.setPano(options.pano);
      else if (options.position) this.setPosition(options.position);
    }

    setPano(pano) {
      this.#state.pano = pano;
      this.notifyAll("pano_changed");
      return this.#load({ panoId: pano });
    }

    setPosition(position) {
      this.#state.position = new LatLng(position);
      this.notifyAll("position_changed");
      return this.#load(near(position));
    }

    setPov(pov) {
      this.#pov = { heading: pov.heading ?? this.#pov.heading, pitch: pov.pitch ?? this.#pov.pitch };
      if (pov.zoom !== undefined) this.#zoom = pov.zoom;
      this.notifyAll("pov_changed");
      this.#draw();
    }

    setZoom(zoom) {
      this.#zoom = zoom;
      this.notifyAll("zoom_changed");
      this.#draw();
    }

    setVisible(visible) {
      this.#visible = visible;
      this.#container.style.visibility = visible ? "" : "hidden";
      this.notifyAll("visible_changed");
    }

    async #load(wanted) {
      const turn = ++this.#asked;
      const { data, status } = await look(wanted);
      if (turn !== this.#asked) return; // asked for another since
      const before = this.#state.pano;
      this.#state.status = status;
      if (data === null) {
        this.#state.links = undefined;
        this.notifyAll("status_changed");
        return;
      }
      const { location, links, tiles } = data;
      Object.assign(this.#state, { pano: location.pano, position: location.latLng, links, location });
      this.#photographer = { heading: tiles.originHeading, pitch: tiles.originPitch };
      if (before !== location.pano) this.notifyAll("pano_changed");
      this.notifyAll("position_changed", "links_changed", "status_changed");
      this.#draw();
    }

    #draw() {
      if (this.#state.status !== STATUS.OK) return;
      const width = Math.min(Math.max(this.#container.clientWidth, 16), MAX_SIDE);
      const height = Math.min(Math.max(this.#container.clientHeight, 16), MAX_SIDE);
      this.#image.src = address("view", {
        pano: this.#state.pano,
        size: `${width}x${height}`,
        heading: wrapped(this.#pov.heading),
        pitch: Math.min(Math.max(this.#pov.pitch, -90), 90),
        fov: Math.min(Math.max(180 / 2 ** this.#zoom, 10), 120),
      });
      this.#image.style.display = "block";
      this.#arrows.replaceChildren(...(this.#linksControl ? this.#state.links.map((link) => this.#arrow(link)) : []));
    }

    // As on Google's page: a path with the role of a button, turned by its heading as seen from the view.
    #arrow(link) {
      const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
      path.setAttribute("role", "button");
      path.setAttribute("aria-label", `Go ${Math.round(link.heading)} degrees: ${link.description}`);
      path.setAttribute("d", "M0 -90 L-18 -62 L-8 -66 L-8 -44 L8 -44 L8 -66 L18 -62 Z");
      path.setAttribute("transform", `rotate(${wrapped(link.heading - this.#pov.heading)})`);
      path.setAttribute("fill", "white");
      path.setAttribute("stroke", "black");
      path.style.cursor = "pointer";
      path.addEventListener("click", () => this.setPano(link.pano));
      return path;
    }
  }

  // A page may hold a map beside its panorama: it knows where it is and which panorama belongs to it, and draws nothing.
  class GoogleMap extends MVCObject {
    #state = { center: undefined, zoom: undefined };
    #streetView;
    #container;

    constructor(container, options = {}) {
      super();
      this.#container = container;
      this.setOptions(options);
    }

    getDiv() { return this.#container; }
    getCenter() { return this.#state.center; }
    getZoom() { return this.#state.zoom; }
    getStreetView() { return (this.#streetView ??= new StreetViewPanorama(document.createElement("div"))); }

    setOptions(options) {
      if (options.center) this.setCenter(options.center);
      if (options.zoom !== undefined) this.setZoom(options.zoom);
      if (options.streetView) this.setStreetView(options.streetView);
    }

    setCenter(center) {
      this.#state.center = new LatLng(center);
      this.notifyAll("center_changed");
    }

    setZoom(zoom) {
      this.#state.zoom = zoom;
      this.notifyAll("zoom_changed");
    }

    setStreetView(panorama) {
      this.#streetView = panorama;
      this.notifyAll("streetview_changed");
    }
  }

  const library = {
    Map: GoogleMap, LatLng, MVCObject, Size, StreetViewPanorama, StreetViewService, event,
    StreetViewPreference: { BEST: "best", NEAREST: "nearest" },
    StreetViewSource: { DEFAULT: "default", GOOGLE: "google", OUTDOOR: "outdoor" },
    StreetViewStatus: STATUS,
  };
  Object.assign(maps, library, { importLibrary: async () => library, version: "virl" });

  const callback = source.searchParams.get("callback");
  const call = callback?.split(".").reduce((holder, name) => holder?.[name], window);
  if (typeof call === "function") call();
})();
