"use strict";
(() => {
  const sort = (table, column, heading) => {
    const down = heading.getAttribute("aria-sort") === "ascending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", down ? "descending" : "ascending");
    const worth = (row) => row.cells[column].dataset.number;
    const words = (row) => row.cells[column].textContent;
    const before = (a, b) => {
      if (worth(a) === undefined && worth(b) === undefined) return words(a).localeCompare(words(b));
      return (worth(a) ?? -Infinity) - (worth(b) ?? -Infinity);
    };
    const rows = [...table.tBodies[0].rows].sort((a, b) => (down ? before(b, a) : before(a, b)));
    table.tBodies[0].append(...rows);
  };

  for (const table of document.querySelectorAll("table.sortable")) {
    [...table.tHead.rows[0].cells].forEach((heading, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...heading.childNodes);
      button.addEventListener("click", () => sort(table, column, heading));
      heading.append(button);
    });
  }
})();
