"use strict";
// Nodes are made here and nowhere else: text goes in as text, never as markup.
const SVG = "http://www.w3.org/2000/svg";

const fill = (node, attributes, children) => {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child !== null));
  return node;
};
const el = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
const draw = (tag, attributes = {}, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

const refill = (node, ...children) => node.replaceChildren(...children.filter((child) => child !== null));

const button = (label, attributes, act) => {
  const made = el("button", { type: "button", ...attributes }, label);
  made.addEventListener("click", act);
  return made;
};

// Letters that many systems lack come from the server, all in one style: those of a word belong together.
const LETTERS = /[\u0590-\u1dff\u2c00-\udfff\ufb1d-\ufdff\ufe70-\u{2ffff}]/gu;
const MOST_LETTERS = 3000; // fits into an address
const letters = new Set();
const bringLetters = (text) => {
  const before = letters.size;
  for (const letter of text.match(LETTERS) || []) if (letters.size < MOST_LETTERS) letters.add(letter);
  if (letters.size === before) return;
  const codes = [...letters].map((letter) => letter.codePointAt(0).toString(16)).join(".");
  const made = el("link", { class: "letters", rel: "stylesheet", href: `letters.css?codes=${codes}` });
  const older = document.querySelectorAll("link.letters");
  made.addEventListener("load", () => older.forEach((old) => old.remove()));
  document.head.append(made);
};

const count = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;
const dollars = (usd) => (usd >= 1 || usd === 0 ? `$${usd.toFixed(2)}` : `$${usd.toFixed(4)}`);
const metres = (length) => (length < 1000 ? `${length.toFixed(0)} m` : `${(length / 1000).toFixed(1)} km`);
const lasting = (seconds) => {
  if (seconds < 60) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
};
const POINTS = ["north", "northeast", "east", "southeast", "south", "southwest", "west", "northwest"];
const compass = (heading) => POINTS[Math.round(heading / 45) % 8];
const turned = (heading) => ((heading % 360) + 360) % 360;
