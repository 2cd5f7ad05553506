// The theme's buttons to copy code are no landmarks of a page.
new MutationObserver(() => {
  for (const bar of document.querySelectorAll("nav.md-code__nav:not([role])")) bar.setAttribute("role", "none");
}).observe(document.body, { childList: true, subtree: true });
