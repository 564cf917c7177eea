// SPDX-License-Identifier: GPL-3.0-or-later

/* The interactive flame graph: its state, and what keys and buttons do. The data, in the element #profile:
 *
 *   title, subtitle    texts
 *   weight, unit       name of the weight, such as "samples", and its unit: "count", "ns" or "bytes"
 *   kinds              names of the kinds of functions
 *   functions          [name, binary, index into kinds, …] flat, three per function
 *   files              {function: "file:line"}: known source locations
 *   nodes              [function, depth, total, …] flat, three per node, in depth-first order
 *   waits              [node, …]: functions of the kernel in which threads wait, off the CPU
 *   icicle, heavy      how the page opens
 *   colors             "kind" or a hue */

(function () {
  "use strict";

  const { grouped, percent, oneLine, cut, counted } = FlameText;
  const profile = JSON.parse(document.getElementById("profile").textContent);
  const byId = (id) => document.getElementById(id);
  const chartElement = byId("chart"), canvas = byId("canvas"), tip = byId("tip");

  // --- state ---

  const every = (step) => profile.functions.filter((_, i) => i % 3 === step);
  const names = every(0), binaries = every(1), kinds = every(2).map((kind) => profile.kinds[kind]);
  const isKernel = kinds.map((kind) => kind === "kernel"), isPlace = kinds.map(FlameColors.isPlace);
  const defaults = { matchCase: false, merge: true, hideKernel: false, invert: false, icicle: !!profile.icicle,
                     heavy: !!profile.heavy, table: false, sandwich: -1, zoom: 0, cursor: -1, term: "" };

  const view = {
    ...defaults,
    profile, names, binaries, isPlace,
    tree: null, // what is drawn
    rows: [0, 0], // first and last row of it that are shown
    history: [], // zoomed nodes before
    isMatch: null, // [function], or null without a search
    matches: [], // nodes, heaviest first
    isDark: false,
    isWait: (node) => view.tree.wait[node] * 2 > view.tree.total[node],
    /* The kind to draw. A function without file and name is gray, like an unknown one. */
    lookOf: (f) => (kinds[f] === "user" && !binaries[f] && names[f].startsWith("[") ? "marker" : kinds[f]),
    whole: () => (whole.n ? whole.total[0] : 0),
  };
  const whole = FlameTree.build(profile.nodes, profile.waits);
  const nameOf = (node) => names[view.tree.function_[node]];
  const selected = () => (view.cursor >= 0 ? view.cursor : view.zoom);
  const chart = FlameChart(view, chartElement, byId("extent"), canvas);
  const table = FlameTable(view, byId("functions").querySelector("tbody"), byId("functions").querySelectorAll("th"), pick);

  // --- trees ---

  const trees = new Map();
  const kept = (key, make) => (trees.has(key) ? trees : trees.set(key, make())).get(key);

  /* Top-down, with the processes and the kernel as the switches are. */
  function shapedTree() {
    if (!whole.n || (!view.merge && !view.hideKernel)) return whole;
    return kept(`${view.merge} ${view.hideKernel}`, () =>
      FlameTree.reshape(whole, (f) => view.hideKernel && isKernel[f], (f) => !view.merge && isPlace[f]));
  }

  function wantedTree() {
    const shaped = shapedTree(), key = `${view.merge} ${view.hideKernel} `;
    if (!whole.n) return whole;
    if (view.sandwich >= 0) return kept(key + view.sandwich, () => FlameTree.sandwich(shaped, view.sandwich));
    return view.invert ? kept(key + "inverted", () => FlameTree.invert(shaped)) : shaped;
  }

  let ranks = null; // [function] place of the name in the order of names
  function layOut(tree) {
    const order = view.heavy || view.invert || view.sandwich >= 0 ? "weight" : "name";
    if (tree.order === order) return;
    if (!ranks) {
      ranks = new Uint32Array(names.length);
      const sorted = names.map((_, i) => i).sort((a, b) => (names[a] < names[b] ? -1 : names[a] > names[b] ? 1 : a - b));
      sorted.forEach((f, i) => (ranks[f] = i && names[f] === names[sorted[i - 1]] ? ranks[sorted[i - 1]] : i));
    }
    const byName = (a, b) => ranks[tree.function_[a]] - ranks[tree.function_[b]] || a - b;
    FlameTree.layOut(tree, order === "name" ? byName : (a, b) => tree.total[b] - tree.total[a] || byName(a, b));
    tree.order = order;
    for (const row of tree.rows) {
      row.kernel = sumBefore(tree, row.nodes, isKernel);
      row.places = sumBefore(tree, row.nodes, isPlace);
    }
  }

  /* Weight of the nodes before each one whose functions have the property. */
  function sumBefore(tree, nodes, has) {
    const before = new Float64Array(nodes.length + 1);
    nodes.forEach((node, i) => (before[i + 1] = before[i] + (has[tree.function_[node]] ? tree.total[node] : 0)));
    return before;
  }

  /* Makes the page show the state: the tree, the search, the table, the buttons. */
  function show(zoom, cursor) {
    const tree = wantedTree(), isOther = tree !== view.tree;
    layOut(tree);
    view.tree = tree;
    view.zoom = zoom < tree.n ? zoom : 0;
    view.cursor = cursor < tree.n ? cursor : -1;
    if (isOther) view.history = [];
    view.rows = FlameTree.rowsBelow(tree, view.zoom);
    for (const [id, member] of Object.entries(SWITCHES)) byId(id).setAttribute("aria-pressed", String(view[member]));
    byId("functions").hidden = !view.table;
    byId("icicle").disabled = byId("invert").disabled = view.sandwich >= 0;
    search();
    showCrumbs();
    if (isOther) chart.scrollToRoot();
    if (view.cursor >= 0) chart.scrollTo(FlameTree.rowOf(tree, view.cursor));
    defaultStatus();
  }

  /* Changes a switch, and stays zoomed where the path exists in the other tree. */
  function change(member, value) {
    const functions = FlameTree.pathTo(view.tree, view.zoom).map((node) => view.tree.function_[node]);
    view[member] = value;
    const tree = wantedTree(), isReshaped = member === "merge" || member === "hideKernel";
    if (tree === view.tree) show(view.zoom, view.cursor);
    else show(isReshaped && tree.n ? FlameTree.follow(tree, functions) : 0, -1);
    if (member === "icicle") chart.scrollToRoot();
  }

  function save() {
    const text = FlameState.write(view, defaults);
    if (text !== location.hash.slice(1)) history.replaceState(null, "", "#" + text);
  }

  function load() {
    const state = FlameState.read(location.hash.slice(1), defaults);
    if (state.sandwich >= names.length) state.sandwich = -1;
    if (byId("merge").hidden) state.merge = defaults.merge;
    Object.assign(view, state);
    byId("search").value = view.term;
    show(state.zoom, state.cursor);
  }

  // --- words ---

  const weightText = (value) => `${FlameText.weight(profile, value)}, ${percent(value, view.whole())}`;
  const isReversed = (node) => view.tree.isInverted || FlameTree.sideOf(view.tree, node) === FlameTree.CALLER;

  function fogText(cloud) {
    let sum = 0;
    for (let i = cloud.first; i < cloud.end; i++) sum += view.tree.total[view.tree.rows[cloud.row].nodes[i]];
    return `${counted(cloud.end - cloud.first, "functions")}, ${percent(sum, view.whole())}`;
  }

  function describe(node) {
    const tree = view.tree, f = tree.function_[node], lines = [cut(names[f], 1500)];
    lines.push((binaries[f] ? cut(binaries[f], 200) + " \u00b7 " : "") + kinds[f] + (view.isWait(node) ? ", off the CPU" : ""));
    if (profile.files[f]) lines.push(cut(oneLine(profile.files[f]), 300));
    lines.push("total: " + weightText(tree.total[node]));
    if (!isReversed(node)) lines.push("self: " + weightText(tree.self[node]));
    if (tree.parent[node] >= 0)
      lines.push(`of its ${isReversed(node) ? "callee" : "caller"}: ${percent(tree.total[node], tree.total[tree.parent[node]])}`);
    if (view.merge && tree.count && tree.count[node] > 1 && kinds[f] === "process") lines.push(`${grouped(tree.count[node])} processes of that name`);
    if (view.zoom !== 0 && tree.depth[node] > tree.depth[view.zoom])
      lines.push("of the zoomed function: " + percent(tree.total[node], tree.total[view.zoom]));
    return lines;
  }

  function showStatus(text) {
    byId("status").textContent = text;
  }

  function statusOf(node) {
    const binary = binaries[view.tree.function_[node]];
    return cut(oneLine(nameOf(node)), 300) + (binary ? ` (${cut(binary, 100)})` : "") + ": " + weightText(view.tree.total[node]) +
      (isReversed(node) ? "" : ", self " + percent(view.tree.self[node], view.whole()));
  }

  function defaultStatus() {
    showStatus(view.whole() ? statusOf(selected()) : "Nothing to show.");
  }

  function placeBeside(element, x, y) {
    element.hidden = false;
    const box = element.getBoundingClientRect();
    const left = x + 14 + box.width > innerWidth ? x - box.width - 10 : x + 14;
    const top = y + 18 + box.height > innerHeight ? y - box.height - 10 : y + 18;
    element.style.left = Math.max(4, Math.min(left, innerWidth - box.width - 4)) + "px";
    element.style.top = Math.max(4, top) + "px";
  }

  function showTip(lines, x, y) {
    tip.replaceChildren();
    lines.forEach((line, i) => {
      const element = document.createElement(i ? "span" : "b");
      element.textContent = line;
      tip.append(element);
    });
    placeBeside(tip, x, y);
  }

  // --- zoom ---

  function zoomTo(node, remember = true) {
    if (node === view.zoom || node < 0 || node >= view.tree.n) return;
    if (remember) view.history.push(view.zoom);
    view.zoom = node;
    view.rows = FlameTree.rowsBelow(view.tree, node);
    tip.hidden = true;
    showCrumbs();
    if (node === 0) chart.scrollToRoot();
    chart.scrollTo(FlameTree.rowOf(view.tree, node));
    defaultStatus();
  }

  function zoomBack() {
    if (!view.history.length && view.zoom === 0 && view.sandwich >= 0) return change("sandwich", -1);
    zoomTo(view.history.length ? view.history.pop() : 0, false);
    showCrumbs();
  }

  function reset() {
    view.cursor = -1;
    if (view.sandwich >= 0) return change("sandwich", -1);
    zoomTo(0, false);
    view.history = [];
    showCrumbs();
    defaultStatus();
  }

  function crumb(text, onClick) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = text;
    button.disabled = !onClick;
    if (onClick) button.addEventListener("click", onClick);
    byId("crumbs").append(button);
    return button;
  }

  function showCrumbs() {
    byId("crumbs").replaceChildren();
    byId("reset").disabled = byId("back").disabled = view.zoom === 0 && view.sandwich < 0;
    if (view.sandwich >= 0) {
      crumb("Whole graph", () => change("sandwich", -1));
      if (view.zoom === 0) crumb(`${cut(oneLine(names[view.sandwich]), 80)}: callers above, callees below`, () => {}).setAttribute("aria-current", "true");
    }
    const path = view.zoom === 0 ? [] : FlameTree.pathTo(view.tree, view.zoom);
    // Show only the two ends of a very deep path.
    for (const node of path.length > 60 ? path.slice(0, 20).concat(-1, path.slice(-39)) : path) {
      if (node < 0) crumb(`\u2026 ${path.length - 59} more`, null);
      else {
        const button = crumb(cut(oneLine(nameOf(node)), 80), () => zoomTo(node));
        if (node === view.zoom) button.setAttribute("aria-current", "true");
      }
    }
    byId("crumbs").scrollLeft = byId("crumbs").scrollWidth;
    relayout();
  }

  // --- search ---

  function search() {
    const isMatch = view.term ? FlameSearch.findFunctions(names, view.term, view.matchCase) : null;
    view.isMatch = isMatch;
    view.matches = isMatch ? FlameSearch.findNodes(view.tree, isMatch) : [];
    for (const row of view.tree.rows) row.matches = isMatch ? row.nodes.filter((node) => isMatch[view.tree.function_[node]]) : null;
    byId("matched").textContent = byId("matched").title = "";
    if (isMatch) {
      const { count, sum } = FlameSearch.weigh(shapedTree(), isMatch);
      byId("matched").textContent = count ? `${counted(count, "functions")}, ${percent(sum, view.whole())}` : "No matches";
      byId("matched").title = `${FlameText.weight(profile, sum)} in stacks with such a function`;
    }
    byId("previous").disabled = byId("next").disabled = !view.matches.length;
    if (view.table) {
      table.sum(shapedTree());
      table.show();
    }
    showPosition();
    relayout();
  }

  function showPosition() {
    const at = view.matches.indexOf(view.cursor);
    byId("position").textContent = at >= 0 ? `${grouped(at + 1)}/${grouped(view.matches.length)}` : "";
  }

  function setTerm(term) {
    byId("search").value = view.term = term;
    search();
  }

  function nextMatch(step) {
    if (view.matches.length) setCursor(FlameSearch.next(view.matches, view.cursor, step), true);
  }

  // --- the marked function ---

  const WIDE_ENOUGH = 40; // px of a function that was looked for

  /* Marks a node, and zooms out, or in if it is `sought`, until it can be seen. */
  function setCursor(node, sought) {
    if (node === undefined || node < 0) return;
    let zoom = view.zoom;
    view.cursor = node;
    while (!FlameTree.contains(view.tree, zoom, node)) zoom = view.tree.parent[zoom];
    if (sought && chart.pixelsOf(node, zoom) < WIDE_ENOUGH) {
      zoom = node;
      while (view.tree.parent[zoom] > 0 && chart.pixelsOf(node, view.tree.parent[zoom]) >= WIDE_ENOUGH) zoom = view.tree.parent[zoom];
    }
    zoomTo(zoom);
    chart.scrollTo(FlameTree.rowOf(view.tree, node));
    showStatus(statusOf(node));
    showPosition();
    save();
    chart.redraw();
  }

  /* `away` from the root: up in a flame graph, down in an icicle; in a sandwich up from the callees. */
  function walk(key) {
    const tree = view.tree, node = view.cursor, isUp = key === "ArrowUp";
    if (!view.whole()) return;
    if (node < 0) return setCursor(view.zoom);
    if (key === "ArrowLeft" || key === "ArrowRight") {
      const { nodes } = tree.rows[FlameTree.rowOf(tree, node)];
      const next = nodes[FlameTree.lowerBound(tree, nodes, tree.x[node]) + (key === "ArrowLeft" ? -1 : 1)];
      if (next !== undefined && FlameTree.contains(tree, view.zoom, next)) setCursor(next);
      return;
    }
    const row = FlameTree.rowOf(tree, node) + (isUp === chart.isTopDown() ? -1 : 1);
    const below = (tree.children[node] || []).filter((child) => FlameTree.rowOf(tree, child) === row);
    if (below.length) setCursor(below.reduce((best, child) => (tree.total[child] > tree.total[best] ? child : best)));
    else if (tree.parent[node] >= 0 && FlameTree.rowOf(tree, tree.parent[node]) === row) setCursor(tree.parent[node]);
  }

  /* A function of the table: its heaviest place, or its callers and callees. */
  function pick(f) {
    if (view.sandwich >= 0) return change("sandwich", f);
    const places = FlameSearch.findNodes(view.tree, { [f]: true });
    if (places.length) setCursor(places[0], true);
  }

  // --- what can be done with it ---

  let toCopy = null;
  function copy(text, what) {
    toCopy = text;
    const isDone = document.execCommand("copy"); // works from files and in all browsers, unlike navigator.clipboard
    toCopy = null;
    showStatus(isDone ? `Copied the ${what}.` : "The browser does not allow copying.");
  }

  /* One function per line, innermost first. */
  function stackOf(node) {
    const path = FlameTree.pathTo(view.tree, node).filter((at) => at > 0 || view.sandwich >= 0).map(nameOf);
    return (isReversed(node) ? path : path.reverse()).map(oneLine).join("\n");
  }

  function sandwich() {
    const f = view.tree.n ? view.tree.function_[selected()] : -1;
    if (f >= 0 && !isPlace[f]) change("sandwich", f);
    else showStatus("Select a function first: with the arrow keys, by a search, or in the table.");
  }

  const ACTIONS = [
    { words: "Zoom in", keys: "Enter", run: () => zoomTo(selected()) },
    { id: "sandwich", words: "Callers and callees", keys: "S", run: sandwich },
    { words: "Search this name", keys: "", run: () => setTerm(nameOf(selected())) },
    { id: "copy-name", words: "Copy name", keys: "C", run: () => copy(nameOf(selected()), "name") },
    { id: "copy-stack", words: "Copy stack", keys: "Shift+C", run: () => copy(stackOf(selected()), "stack") },
  ];

  const actionMenu = FlameMenu(byId("menu"), byId("actions"), ACTIONS, (action) => {
    chartElement.focus();
    if (action && view.whole()) action.run();
    save();
  });

  function openMenu(x, y) {
    tip.hidden = true;
    placeBeside(byId("menu"), x, y);
    actionMenu.focus();
  }

  // --- keyboard ---

  const LETTERS = {
    n: () => nextMatch(1), N: () => nextMatch(-1), r: reset, s: sandwich, "?": () => byId("keys").click(),
    c: () => byId("copy-name").click(), C: () => byId("copy-stack").click(), t: () => byId("theme").click(),
    m: () => byId("merge").click(), k: () => byId("kernel").click(), v: () => byId("invert").click(),
    i: () => byId("icicle").click(), l: () => byId("heavy").click(), f: () => byId("table").click(),
  };

  function onKey(event) {
    const { key, target } = event, inSearch = target === byId("search"), isOnControl = target.closest("button, #functions");
    const hasModifier = event.ctrlKey || event.metaKey || event.altKey;
    if ((key === "f" && (event.ctrlKey || event.metaKey)) || (key === "/" && !inSearch)) {
      byId("search").focus();
      byId("search").select();
    } else if (inSearch) {
      if (key === "Enter") nextMatch(event.shiftKey ? -1 : 1);
      else if (key === "Escape") {
        setTerm("");
        chartElement.focus();
      } else return;
    } else if (hasModifier) return;
    else if (key === "Escape" && view.term && view.zoom === 0) setTerm("");
    else if (key === "Escape" || key === "Home") reset();
    else if (key === "Backspace") zoomBack();
    else if (key === "Enter" && !isOnControl) zoomTo(selected());
    else if (key.startsWith("Arrow")) walk(key);
    else if (key === "ContextMenu" || (key === "F10" && event.shiftKey)) openMenu(...chart.pointOf(selected()));
    else if (LETTERS[key]) LETTERS[key]();
    else return;
    event.preventDefault();
  }

  // --- the page ---

  /* Fits the canvas into the window, and saves the state, which everything that calls this has changed. */
  function relayout() {
    chart.fit();
    save();
  }

  function setTheme(choice) {
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    view.isDark = choice === "dark" || (choice === "auto" && dark);
    document.documentElement.dataset.theme = view.isDark ? "dark" : "light";
    byId("theme").textContent = "Theme: " + choice;
    byId("theme").dataset.choice = choice;
    chart.forgetColors();
    showLegend();
    chart.redraw();
  }

  function showLegend() {
    const words = { user: "user", kernel: "kernel", inline: "inlined", jit: "generated (JIT)", wait: "off the CPU",
                    process: "process", thread: "thread", marker: "unknown" };
    const present = new Set(names.map((_, f) => view.lookOf(f)));
    if (profile.waits.length) present.add("wait");
    byId("legend").replaceChildren();
    for (const kind of Object.keys(words)) {
      if (!present.has(kind)) continue;
      const item = document.createElement("li"), swatch = document.createElement("i");
      swatch.style.background = chart.colorOfKind(kind, 0.4);
      item.append(swatch, words[kind]);
      byId("legend").append(item);
    }
  }

  const SWITCHES = { "match-case": "matchCase", merge: "merge", kernel: "hideKernel", invert: "invert", icicle: "icicle",
                     heavy: "heavy", table: "table" };

  function connectButtons() {
    for (const [id, member] of Object.entries(SWITCHES)) byId(id).addEventListener("click", () => change(member, !view[member]));
    byId("search").addEventListener("input", () => setTerm(byId("search").value));
    byId("previous").addEventListener("click", () => nextMatch(-1));
    byId("next").addEventListener("click", () => nextMatch(1));
    byId("reset").addEventListener("click", reset);
    byId("back").addEventListener("click", zoomBack);
    byId("keys").addEventListener("click", () => {
      byId("help").hidden = !byId("help").hidden;
      byId("keys").setAttribute("aria-expanded", String(!byId("help").hidden));
      relayout();
    });
    byId("theme").addEventListener("click", () =>
      setTheme({ auto: "light", light: "dark", dark: "auto" }[byId("theme").dataset.choice]));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => setTheme(byId("theme").dataset.choice));
  }

  function connectPointer() {
    const nodeOf = ({ node, cloud }) => (cloud ? view.tree.parent[view.tree.rows[cloud.row].nodes[cloud.first]] : node);
    canvas.addEventListener("click", (event) => {
      const found = chart.hit(event.clientX, event.clientY);
      if (!found) return;
      view.cursor = -1;
      zoomTo(nodeOf(found));
    });
    canvas.addEventListener("pointermove", (event) => {
      const found = chart.hit(event.clientX, event.clientY);
      canvas.style.cursor = found ? "pointer" : "default";
      if (!found) {
        tip.hidden = true;
        return defaultStatus();
      }
      if (event.pointerType !== "touch" && byId("menu").hidden)
        showTip(found.cloud ? [fogText(found.cloud), "too narrow to show; zoom in"] : describe(found.node), event.clientX, event.clientY);
      showStatus(found.cloud ? fogText(found.cloud) : statusOf(found.node));
    });
    canvas.addEventListener("pointerleave", () => {
      tip.hidden = true;
      defaultStatus();
    });
    canvas.addEventListener("contextmenu", (event) => {
      const found = chart.hit(event.clientX, event.clientY);
      if (!found) return;
      event.preventDefault();
      setCursor(nodeOf(found));
      openMenu(event.clientX, event.clientY);
    });
    byId("functions").addEventListener("contextmenu", (event) => {
      const button = event.target.closest("[data-function]");
      if (!button || view.sandwich >= 0) return;
      event.preventDefault();
      pick(Number(button.dataset.function));
      openMenu(event.clientX, event.clientY);
    });
    chartElement.addEventListener("scroll", () => {
      tip.hidden = true;
    });
    document.addEventListener("keydown", onKey);
    document.addEventListener("copy", (event) => {
      const isOwn = toCopy === null && (event.target.closest("input") || !getSelection().isCollapsed);
      if (isOwn || !view.whole()) return;
      event.clipboardData.setData("text/plain", toCopy === null ? nameOf(selected()) : toCopy);
      event.preventDefault();
    });
  }

  function start() {
    byId("title").textContent = profile.title;
    byId("subtitle").textContent = profile.subtitle || "";
    chartElement.setAttribute("aria-label", `Flame graph: ${profile.title}; ${FlameText.weight(profile, view.whole())} in ` +
      `${counted(Math.max(whole.n - 1, 0), "places")}. Arrow keys walk, Enter zooms, Home shows everything.`);
    byId("merge").hidden = !FlameTree.hasTwins(whole, names.length);
    if (byId("merge").hidden) view.merge = defaults.merge = false;
    byId("kernel").hidden = !isKernel.includes(true);
    connectButtons();
    connectPointer();
    load();
    setTheme("auto");
    addEventListener("hashchange", load);
    new ResizeObserver(relayout).observe(chartElement);
    chartElement.focus({ preventScroll: true });
  }

  start();
})();
