// SPDX-License-Identifier: GPL-3.0-or-later
// Sorts a flat table by the column whose heading is pressed, and hides rows without the text of the filter. Trees (class
// "tree") keep their order, and the callers of rows that they show.
(function () {
  "use strict";
  const tables = [...document.querySelectorAll("table")];

  function sort(table, heading, column) {
    const body = table.tBodies[0], numeric = heading.classList.contains("n"), before = heading.getAttribute("aria-sort");
    const falling = before ? before === "ascending" : numeric;
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", falling ? "descending" : "ascending");
    const key = (row) => (numeric ? Number(row.cells[column].dataset.value) : row.cells[column].textContent);
    const rows = [...body.rows].map((row) => [key(row), row]);
    rows.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0) * (falling ? -1 : 1));
    body.replaceChildren(...rows.map(([, row]) => row));
  }

  const texts = new WeakMap(); // of rows
  function textOf(row) {
    if (!texts.has(row)) texts.set(row, row.textContent.toLowerCase());
    return texts.get(row);
  }

  const depthOf = (row) => Number(row.querySelector(".name")?.style.getPropertyValue("--depth") || 0);

  /* Returns the number of rows that match. */
  function filter(table, term) {
    const rows = [...table.tBodies[0].rows].reverse(), isTree = table.classList.contains("tree");
    let count = 0, above = 0; // rows of less depth are callers of one that is shown
    for (const row of rows) {
      const matches = textOf(row).includes(term), depth = isTree ? depthOf(row) : 0;
      row.hidden = !matches && depth >= above;
      if (!row.hidden) above = depth;
      count += matches;
    }
    return count;
  }

  function addFilter() {
    const line = document.createElement("p"), input = document.createElement("input"), output = document.createElement("output");
    line.className = "filter";
    input.type = "search";
    input.placeholder = "Filter";
    input.title = "Show only rows with this text ( / )";
    input.setAttribute("aria-label", "Filter rows");
    output.setAttribute("aria-live", "polite");
    line.append(input, output);
    tables[0].parentNode.before(line);
    input.addEventListener("input", () => {
      const term = input.value.toLowerCase(), count = tables.reduce((sum, table) => sum + filter(table, term), 0);
      output.textContent = !term ? "" : count === 0 ? "No matches" : `${count} ${count === 1 ? "row" : "rows"}`;
    });
    document.addEventListener("keydown", (event) => {
      if (event.key !== "/" || event.target === input) return;
      event.preventDefault();
      input.focus();
    });
  }

  for (const table of tables.filter((table) => !table.classList.contains("tree")))
    [...table.tHead.rows[0].cells].forEach((heading, column) => heading.addEventListener("click", () => sort(table, heading, column)));
  if (tables.length) addFilter();
})();
