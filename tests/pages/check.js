// What a page must hold at any width and in either colour scheme; gives a list of faults.
const faults = [];
const html = document.documentElement;
const named = (node) => {
  const id = node.id ? `#${node.id}` : "";
  const kind = node.getAttribute("class") ? `.${node.getAttribute("class").trim().replace(/\s+/g, ".")}` : "";
  return `${node.localName}${id}${kind} "${(node.textContent || "").trim().replace(/\s+/g, " ").slice(0, 40)}"`;
};
const isShown = (node) =>
  node.checkVisibility({ opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: true });
const isHidden = (style) => style.position === "absolute" && parseFloat(style.left) < -500; // a skip link
const all = (selector) => [...document.querySelectorAll(selector)].filter(isShown);

// Colours, [0, 255] with alpha in [0, 1].
const context = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d", { willReadFrequently: true });
const colours = new Map();
const rgba = (text) => {
  if (!colours.has(text)) {
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = "#000";
    context.fillStyle = text;
    context.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = context.getImageData(0, 0, 1, 1).data;
    colours.set(text, [r, g, b, a / 255]);
  }
  return colours.get(text);
};
const over = (top, below) => {
  const a = top[3] + below[3] * (1 - top[3]);
  if (!a) return [0, 0, 0, 0];
  return [...[0, 1, 2].map((i) => (top[i] * top[3] + below[i] * below[3] * (1 - top[3])) / a), a];
};
const luminance = (colour) => {
  const [r, g, b] = colour.slice(0, 3).map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const contrast = (one, other) => {
  const [high, low] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (high + 0.05) / (low + 0.05);
};
const seeThrough = (colour, share) => [...colour.slice(0, 3), colour[3] * share];

// The colour behind an element of the page, of its ancestors' backgrounds.
const behind = (node) => {
  let colour = [0, 0, 0, 0];
  for (let one = node; one && colour[3] < 1; one = one.parentElement) {
    const style = getComputedStyle(one);
    if (one.localName === "dialog" || !(one instanceof SVGElement)) colour = over(colour, rgba(style.backgroundColor));
  }
  return over(colour, rgba("Canvas"));
};

// The colour behind words of a drawing: of the shapes drawn before them at their middle.
const behindWords = (text) => {
  const chart = text.ownerSVGElement;
  let outer = chart;
  while (outer.ownerSVGElement) outer = outer.ownerSVGElement;
  let colour = behind(outer.parentElement);
  const own = rgba(getComputedStyle(outer).backgroundColor);
  colour = over(own, colour);
  const box = text.getBoundingClientRect();
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  for (const shape of outer.querySelectorAll("rect, circle, polygon, path, ellipse")) {
    if (!(shape.compareDocumentPosition(text) & Node.DOCUMENT_POSITION_FOLLOWING) || !isShown(shape)) continue;
    const style = getComputedStyle(shape);
    if (style.fill === "none" || style.fill.startsWith("url")) continue;
    const at = new DOMPoint(x, y).matrixTransform(shape.getScreenCTM().inverse());
    const fill = seeThrough(rgba(style.fill), Number(style.fillOpacity) * Number(style.opacity));
    if (shape.isPointInFill(at)) colour = over(fill, colour);
  }
  const style = getComputedStyle(text); // a halo of some width is what stands behind the letters
  if (style.paintOrder.startsWith("stroke") && style.stroke !== "none") colour = over(rgba(style.stroke), colour);
  return colour;
};

const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
const told = new Set();
while (walker.nextNode()) {
  const node = walker.currentNode.parentElement;
  if (!walker.currentNode.data.trim() || ["SCRIPT", "STYLE", "TITLE", "title", "OPTION"].includes(node.nodeName)) continue;
  if (!isShown(node) || told.has(node)) continue;
  told.add(node);
  const style = getComputedStyle(node);
  if (isHidden(style)) continue;
  const drawn = node instanceof SVGElement;
  let opacity = 1;
  for (let one = node; one; one = one.parentElement) opacity *= Number(getComputedStyle(one).opacity);
  const below = drawn ? behindWords(node) : behind(node);
  const ink = over(seeThrough(rgba(drawn ? style.fill : style.color), opacity), below);
  const ratio = contrast(ink, below);
  if (!node.closest("[disabled]") && ratio < 4.495) faults.push(`contrast ${ratio.toFixed(2)}: ${named(node)}`);

  // Words that nobody can see: beyond the window or what clips them, without a region to scroll.
  const range = document.createRange();
  range.selectNodeContents(walker.currentNode);
  const words = range.getBoundingClientRect();
  let clipped = false;
  for (let one = node; one; one = one.parentElement) {
    const kind = getComputedStyle(one);
    if (kind.position === "fixed") break;
    if (/auto|scroll/.test(kind.overflowX)) break;
    if (/hidden|clip/.test(kind.overflowX) && one !== document.body) {
      const box = one.getBoundingClientRect();
      if (box.width < 2) break; // for screen readers only
      clipped = true;
      const ellipsis = kind.textOverflow === "ellipsis" && one.title;
      if ((words.right > box.right + 1.5 || words.left < box.left - 1.5) && !ellipsis) {
        if (!drawn || !node.closest(".chart")) faults.push(`cut by ${named(one)}: ${named(node)}`);
      }
    }
  }
  if (!clipped && words.right > html.clientWidth + 1.5 && !node.closest("[tabindex='0']")) faults.push(`beyond the window: ${named(node)}`);
}

if (html.scrollWidth > html.clientWidth) faults.push(`the page is ${html.scrollWidth - html.clientWidth} px too wide`);

for (const node of all("body *")) {
  const style = getComputedStyle(node);
  if (!/auto|scroll/.test(style.overflowX + style.overflowY)) continue;
  const scrolls = node.scrollWidth > node.clientWidth + 1 || node.scrollHeight > node.clientHeight + 1;
  const inside = node.querySelector("a[href], button, input, summary");
  if (scrolls && node.tabIndex < 0 && !inside) faults.push(`scrolls, but not with the keyboard: ${named(node)}`);
}

// WCAG 2.5.8: links in a sentence are exempt.
const isInSentence = (node) =>
  node.localName === "a" && getComputedStyle(node).display === "inline" &&
  [...node.parentElement.childNodes].some((one) => one !== node && one.nodeType === Node.TEXT_NODE && /\w/.test(one.data));
for (const node of all("a[href], button, input, select, summary, [role=button]")) {
  if (isInSentence(node) || isHidden(getComputedStyle(node))) continue;
  const label = node.closest("label");
  const boxes = [node, label].filter(Boolean).map((one) => one.getBoundingClientRect());
  if (!boxes.some((box) => box.width >= 23.9 && box.height >= 23.9)) {
    faults.push(`target ${boxes[0].width.toFixed(0)}x${boxes[0].height.toFixed(0)}: ${named(node)}`);
  }
}

// Labels of maps: neither over each other nor over a mark.
const apart = (a, b) => a.right <= b.left + 1 || b.right <= a.left + 1 || a.bottom <= b.top + 2 || b.bottom <= a.top + 2;
for (const chart of all("svg.chart")) {
  const labels = [...chart.querySelectorAll(".label:not(.scale)")].filter(isShown);
  const boxes = labels.map((label) => label.getBoundingClientRect());
  labels.forEach((label, i) => {
    for (let j = 0; j < i; j += 1) {
      if (!apart(boxes[i], boxes[j])) faults.push(`labels collide: ${named(label)} and ${named(labels[j])}`);
    }
    for (const mark of chart.querySelectorAll(".seen")) {
      if (isShown(mark) && !apart(boxes[i], mark.getBoundingClientRect())) faults.push(`label over a mark: ${named(label)}`);
    }
  });
}

// Of an only thing there is one, and it says what it is.
for (const node of all("body .moods > span")) {
  if (node.scrollWidth > node.clientWidth + 1) faults.push(`words run out of their column: ${named(node)}`);
}
const ids = [...document.querySelectorAll("[id]")].map((node) => node.id);
const repeated = ids.filter((id, index) => ids.indexOf(id) !== index);
if (repeated.length) faults.push(`ids twice: ${[...new Set(repeated)].slice(0, 5)}`);
if (document.querySelectorAll("main").length !== 1) faults.push("not one main");
if (document.querySelectorAll("h1").length !== 1) faults.push("not one h1");
let before = 0;
for (const heading of all("h1, h2, h3, h4, h5, h6")) {
  const level = Number(heading.localName[1]);
  if (level > before + 1) faults.push(`h${level} after h${before}: ${named(heading)}`);
  before = level;
}
const alts = new Map();
for (const picture of document.querySelectorAll("img")) {
  if (!picture.alt.trim()) faults.push("a picture without alt");
  else if (alts.has(picture.alt)) faults.push(`alt twice: ${picture.alt}`);
  alts.set(picture.alt, true);
}

// Words of people, not of programs, but for what a tab shows as it was sent.
const raw = [...document.querySelectorAll(".raw")];
for (const one of raw) one.hidden = true;
const words = document.body.innerText;
for (const one of raw) one.hidden = false;
for (const wrong of words.match(/[[{]\s*\{?\s*"\w+":|\bNone\b|\bnull\b|\bundefined\b|\bNaN\b|\b(?:1 \w+s for\b|0 usd|1 bedrooms)/g) || []) {
  faults.push(`not for people: ${wrong}`);
}
for (const one of performance.getEntriesByType("resource")) {
  if (!/^(data|file|blob):/.test(one.name)) faults.push(`loads ${one.name}`);
}
return faults;
