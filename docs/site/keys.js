"use strict";
// What the theme leaves out: cells name their column on phones, boxes that scroll take the focus, the search has a name,
// and no two lists of links have the same one.
const mend = () => {
  for (const table of document.querySelectorAll(".md-typeset table:not([class])")) {
    const heads = [...(table.tHead?.rows[0]?.cells || [])].map((head) => head.textContent);
    for (const cell of table.querySelectorAll("td:not(:first-child)")) cell.dataset.label = heads[cell.cellIndex] || "";
  }
  for (const search of document.querySelectorAll("[role=dialog]")) search.ariaLabel = "Search";
  for (const box of document.querySelectorAll("pre > code, .md-typeset__scrollwrap, .md-typeset__table, .md-typeset table")) {
    if (box.scrollWidth > box.clientWidth && !box.hasAttribute("tabindex")) box.tabIndex = 0;
  }
  for (const buttons of document.querySelectorAll(".md-code__nav:not([role])")) buttons.setAttribute("role", "none");
  const known = new Set();
  for (const list of document.querySelectorAll("nav[aria-label], nav[aria-labelledby]")) {
    const own = list.ariaLabel || document.getElementById(list.getAttribute("aria-labelledby"))?.textContent.trim();
    let name = own;
    while (known.has(name)) name += ", more";
    known.add(name);
    if (name === own) continue;
    list.removeAttribute("aria-labelledby");
    list.ariaLabel = name;
  }
};
addEventListener("load", mend);
addEventListener("resize", mend);
new MutationObserver(mend).observe(document.body, { childList: true, subtree: true });
