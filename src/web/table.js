// SPDX-License-Identifier: GPL-3.0-or-later
// Sorts a flat table by the column whose heading is pressed. Trees (class "tree") keep their order.
(function () {
  "use strict";
  for (const table of document.querySelectorAll("table:not(.tree)")) {
    const body = table.tBodies[0];
    [...table.tHead.rows[0].cells].forEach((heading, column) => {
      heading.addEventListener("click", () => {
        const numeric = heading.classList.contains("n");
        const before = heading.getAttribute("aria-sort");
        const falling = before ? before === "ascending" : numeric;
        for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
        heading.setAttribute("aria-sort", falling ? "descending" : "ascending");
        const key = (row) => (numeric ? Number(row.cells[column].dataset.value) : row.cells[column].textContent);
        const rows = [...body.rows].map((row) => [key(row), row]);
        rows.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0) * (falling ? -1 : 1));
        body.replaceChildren(...rows.map(([, row]) => row));
      });
    });
  }
})();
