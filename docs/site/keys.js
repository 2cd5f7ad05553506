"use strict";
// What the theme leaves out: boxes that scroll take the focus, and no two lists of links have one name.
const mend = () => {
  for (const box of document.querySelectorAll("pre > code, .md-typeset__scrollwrap, .md-typeset__table")) {
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
