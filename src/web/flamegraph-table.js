// SPDX-License-Identifier: GPL-3.0-or-later

/* The table of functions beside the graph: self and total of each, sorted by a column, filtered by the search. */
function FlameTable(view, body, headings, onPick) {
  "use strict";

  const ROWS = 300; // more are shown on request
  let rows = [], sort = "self", isFalling = true, n = ROWS;

  /* Self and total of each function; a function that is several times in a stack counts once. */
  function sum(tree) {
    const self = new Map(), total = new Map(), isOpen = new Uint8Array(view.names.length), open = [];
    for (let i = 0; i < tree.n; i++) {
      const f = tree.function_[i];
      while (open.length && tree.end[open[open.length - 1]] <= i) isOpen[tree.function_[open.pop()]] = 0;
      if (view.isPlace[f]) continue;
      self.set(f, (self.get(f) || 0) + tree.self[i]);
      if (isOpen[f]) continue;
      isOpen[f] = 1;
      open.push(i);
      total.set(f, (total.get(f) || 0) + tree.total[i]);
    }
    rows = [...total].map(([f, weight]) => ({ f, name: view.names[f], self: self.get(f), total: weight }));
  }

  function compare(a, b) {
    const order = sort === "name" ? (a.name < b.name ? -1 : a.name > b.name ? 1 : 0) : a[sort] - b[sort];
    return (isFalling ? -order : order) || b.total - a.total || a.f - b.f;
  }

  function cell(value) {
    const td = document.createElement("td"), share = document.createElement("span"), whole = view.whole();
    td.className = "n";
    td.style.setProperty("--share", (whole ? (100 * value) / whole : 0) + "%");
    share.textContent = FlameText.percent(value, whole);
    td.append(FlameText.amount(view.profile, value), share);
    return td;
  }

  function rowOf(row) {
    const tr = document.createElement("tr"), name = document.createElement("td"), button = document.createElement("button");
    button.type = "button";
    button.tabIndex = -1;
    button.textContent = FlameText.cut(FlameText.oneLine(row.name), 300);
    button.title = FlameText.cut(row.name, 1000) + "\n" + FlameText.cut(view.binaries[row.f], 200);
    button.addEventListener("click", () => onPick(row.f));
    button.dataset.function = row.f;
    name.append(button);
    tr.append(name, cell(row.self), cell(row.total));
    return tr;
  }

  function more(count) {
    const tr = document.createElement("tr"), td = document.createElement("td"), button = document.createElement("button");
    td.colSpan = 3;
    button.type = "button";
    button.className = "more";
    button.textContent = `${FlameText.grouped(count)} more`;
    button.addEventListener("click", () => {
      n *= 4;
      show();
    });
    td.append(button);
    tr.append(td);
    return tr;
  }

  function show() {
    const shown = rows.filter((row) => !view.isMatch || view.isMatch[row.f]).sort(compare);
    body.replaceChildren(...shown.slice(0, n).map(rowOf));
    if (shown.length > n) body.append(more(shown.length - n));
    const first = body.querySelector("button");
    if (first) first.tabIndex = 0;
    for (const heading of headings) {
      if (heading.dataset.sort === sort) heading.setAttribute("aria-sort", isFalling ? "descending" : "ascending");
      else heading.removeAttribute("aria-sort");
    }
  }

  for (const heading of headings)
    heading.querySelector("button").addEventListener("click", () => {
      isFalling = heading.dataset.sort === sort ? !isFalling : heading.dataset.sort !== "name";
      sort = heading.dataset.sort;
      show();
    });

  /* Up and Down walk through the rows. */
  body.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key], buttons = [...body.querySelectorAll("button")];
    const next = step && buttons[buttons.indexOf(event.target) + step];
    if (step) event.preventDefault();
    if (next) next.focus();
  });

  return { sum, show };
}
