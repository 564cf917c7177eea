// SPDX-License-Identifier: GPL-3.0-or-later

/* The interactive flame graph. Its data, in the element #profile:
 *
 *   title, subtitle    texts
 *   weight             name of the weight, such as "samples"
 *   kinds              names of the kinds of functions
 *   functions          [name, binary, index into kinds, …] flat, three per function
 *   files              {function: "file:line"}: known source locations
 *   nodes              [function, depth, total, …] flat, three per node, in depth-first order
 *   icicle, heavy      how the page opens
 *   colors             "kind" or a hue
 *
 * The tree (flamegraph-tree.js) is laid out once per order. The cost of a picture depends on its pixels and levels, not
 * on the number of nodes. Nodes of a level are sorted by x. Neighbors that are narrower than a pixel are skipped by
 * binary search and drawn as one fog, in the colors of the nodes in it. */

(function () {
  "use strict";

  const profile = JSON.parse(document.getElementById("profile").textContent);
  const byId = (id) => document.getElementById(id);
  const chart = byId("chart"), extent = byId("extent"), canvas = byId("canvas"), tip = byId("tip");
  const context = canvas.getContext("2d");

  // --- the tree ---

  const nFunctions = profile.functions.length / 3;
  const isKernel = new Uint8Array(nFunctions), isPlace = new Uint8Array(nFunctions);
  const trees = { single: FlameTree.build(profile.nodes), merged: null };
  let tree = trees.single;
  let kernelBefore = [], placesBefore = []; // per level: weight of such nodes before each node

  const nameOf = (node) => profile.functions[3 * tree.function_[node]];
  const binaryOf = (node) => profile.functions[3 * tree.function_[node] + 1];
  const kindOf = (node) => profile.kinds[profile.functions[3 * tree.function_[node] + 2]];
  const oneLine = (text) => text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, " ");
  const cut = (text, length) => (text.length > length ? text.slice(0, length) + "\u2026" : text);

  function sumBefore(has) {
    return tree.levels.map((level) => {
      const before = new Float64Array(level.length + 1);
      level.forEach((node, i) => (before[i + 1] = before[i] + (has[tree.function_[node]] ? tree.total[node] : 0)));
      return before;
    });
  }

  function layOut() {
    const byName = (a, b) => {
      const left = nameOf(a), right = nameOf(b);
      return left < right ? -1 : left > right ? 1 : a - b;
    };
    const byWeight = (a, b) => tree.total[b] - tree.total[a] || byName(a, b);
    FlameTree.layOut(tree, state.heavy ? byWeight : byName);
    kernelBefore = sumBefore(isKernel);
    placesBefore = sumBefore(isPlace);
    indexMatches();
  }

  function classifyFunctions() {
    for (let i = 0; i < nFunctions; i++) {
      const kind = profile.kinds[profile.functions[3 * i + 2]];
      isKernel[i] = kind === "kernel" ? 1 : 0;
      isPlace[i] = FlameColors.isPlace(kind) ? 1 : 0;
    }
  }

  // --- state ---

  const state = {
    zoom: 0,
    history: [],
    cursor: -1,
    hover: null,
    icicle: !!profile.icicle,
    heavy: !!profile.heavy,
    ignoreCase: true,
    isMatch: null, // per function
    matchLevels: null, // per level: nodes that match, by x
    matches: [],
    merge: false,
    deepest: 0, // level of the zoomed node
    fromRoot: 0, // px scrolled away from the root
  };
  let rowHeight = 20, fontSize = 13, charWidth = 8, width = 0, height = 0;
  let fog = []; // nodes merged in the last picture: {depth, first, end, x, width}

  const percent = (value, of) => (of > 0 ? ((100 * value) / of).toFixed(2) : "0.00") + "\u00a0%";
  const grouped = (value) => String(value).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
  const whole = () => (tree.n ? tree.total[0] : 0);
  const lowerBound = (level, x) => FlameTree.lowerBound(tree, level, x);

  // --- colors ---

  let isDark = false;
  const colorOfFunction = new Map();
  const colorOfKind = (kind, share) => FlameColors.hsl(kind, share, profile.colors, isDark);

  /* The kind to draw. A function without file and name is gray, like an unknown one. */
  function lookOf(function_) {
    const [name, binary, kind] = profile.functions.slice(3 * function_, 3 * function_ + 3);
    return profile.kinds[kind] === "user" && !binary && name.startsWith("[") ? "marker" : profile.kinds[kind];
  }

  function colorOf(node) {
    const key = tree.function_[node];
    let color = colorOfFunction.get(key);
    if (!color) colorOfFunction.set(key, (color = colorOfKind(lookOf(key), FlameColors.hash(nameOf(node)))));
    return color;
  }

  // --- drawing ---

  const FOG_WIDTH = 5; // px; wider fog is split, so that its colors show where each kind is

  let pending = false;
  function redraw() {
    if (pending) return;
    pending = true;
    requestAnimationFrame(() => {
      pending = false;
      draw();
    });
  }

  function measure() {
    const coarse = matchMedia("(pointer: coarse)").matches;
    const root = parseFloat(getComputedStyle(document.documentElement).fontSize) || 14;
    fontSize = Math.round(root * 0.9);
    const ratio = window.devicePixelRatio || 1;
    rowHeight = Math.round(Math.round(fontSize * (coarse ? 1.9 : 1.55)) * ratio) / ratio; // sharp edges
    height = Math.max(chart.clientHeight, 1);
    extent.style.height = extentHeight() + "px";
    width = Math.max(chart.clientWidth, 1);
    canvas.style.width = width + "px";
    canvas.style.height = height + "px";
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    context.setTransform(canvas.width / width, 0, 0, canvas.height / height, 0, 0);
    context.font = `${fontSize}px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace`;
    context.textBaseline = "middle";
    charWidth = context.measureText("MMMMMMMMMM").width / 10;
  }

  const extentHeight = () => Math.max((state.deepest + 1) * rowHeight + 8, height);
  function yOf(depth) {
    const ratio = window.devicePixelRatio || 1;
    const y = (state.icicle ? depth * rowHeight + 4 : extentHeight() - (depth + 1) * rowHeight - 4) - chart.scrollTop;
    return Math.round(y * ratio) / ratio;
  }
  function depthAt(y) {
    const inside = y + chart.scrollTop;
    return Math.floor((state.icicle ? inside - 4 : extentHeight() - 4 - inside) / rowHeight);
  }
  const unit = () => (tree.total[state.zoom] > 0 ? width / tree.total[state.zoom] : 0); // pixels per weight

  function label(name, pixels) {
    const room = Math.floor((pixels - 8) / charWidth);
    if (room < 3) return "";
    const short = name.length > room ? ShortName.of(name, room) : name;
    let text = oneLine(short.length > room ? short.slice(0, room + 1) : short);
    if (/[^\u0020-\u04ff]/.test(text)) {
      while (text.length > 2 && context.measureText(text).width > pixels - 8) text = text.slice(0, -2).replace(/[\ud800-\udbff]$/, "") + "\u2026";
      return text;
    }
    return text.length > room ? text.slice(0, room - 1) + "\u2026" : text;
  }

  function drawNode(node, x, y, pixels, style) {
    const gap = pixels > 3 ? 1 : 0;
    const matched = state.isMatch && state.isMatch[tree.function_[node]];
    context.globalAlpha = state.isMatch && !matched ? 0.32 : node !== state.zoom && style.isAncestor ? 0.6 : 1;
    context.fillStyle = matched ? style.hit : colorOf(node);
    context.fillRect(x, y, pixels - gap, rowHeight - 1);
    const text = label(nameOf(node), pixels);
    if (text) {
      if (!state.isMatch || matched) context.globalAlpha = 1;
      else context.globalAlpha = 0.7;
      context.fillStyle = matched ? style.hitText : style.text;
      context.fillText(text, x + 4, y + rowHeight / 2);
    }
    if (node === state.cursor) {
      context.globalAlpha = 1;
      context.lineWidth = 2;
      context.strokeStyle = style.text;
      context.strokeRect(x + 1, y + 1, Math.max(pixels - gap - 2, 1), rowHeight - 3);
    }
  }

  /* Nodes first … end - 1 of a level, each narrower than a pixel. */
  function drawFog(cloud, y, style) {
    const { depth, first, end, x, width: wide } = cloud, level = tree.levels[depth];
    const last = level[end - 1], sum = tree.x[last] + tree.total[last] - tree.x[level[first]];
    const kernel = (kernelBefore[depth][end] - kernelBefore[depth][first]) / sum;
    const places = (placesBefore[depth][end] - placesBefore[depth][first]) / sum;
    const alpha = state.isMatch ? 0.32 : 1;
    context.globalAlpha = alpha;
    context.fillStyle = places > 0.5 ? style.placeFog : style.userFog;
    context.fillRect(x, y, wide, rowHeight - 1);
    if (kernel > 0) {
      context.globalAlpha = alpha * Math.min(1, kernel);
      context.fillStyle = style.kernelFog;
      context.fillRect(x, y, wide, rowHeight - 1);
    }
  }

  /* Draws matches in fog at their position, a pixel wide, as opaque as their share of it. */
  function drawMatchesInFog(depth, y, style) {
    const matches = state.matchLevels[depth], scale = unit(), from = tree.x[state.zoom];
    const until = from + tree.total[state.zoom];
    context.fillStyle = style.hit;
    let i = lowerBound(matches, from);
    while (i < matches.length && tree.x[matches[i]] < until) {
      const pixel = Math.floor((tree.x[matches[i]] - from) * scale);
      let filled = 0;
      do {
        const wide = tree.total[matches[i]] * scale;
        if (wide < 1) filled += wide;
        i++;
      } while (filled < 1 && i < matches.length && (tree.x[matches[i]] - from) * scale < pixel + 1);
      if (filled === 0) continue;
      context.globalAlpha = Math.min(1, Math.max(0.4, filled));
      context.fillRect(pixel, y, 1, rowHeight - 1);
      if (filled >= 1) i = Math.max(i, lowerBound(matches, from + (pixel + 1) / scale));
    }
  }

  function drawLevel(depth, y, style) {
    const level = tree.levels[depth], scale = unit(), from = tree.x[state.zoom], until = from + tree.total[state.zoom];
    let i = lowerBound(level, from);
    while (i < level.length && tree.x[level[i]] < until) {
      const node = level[i], x = (tree.x[node] - from) * scale, pixels = tree.total[node] * scale;
      if (pixels >= 1) {
        drawNode(node, x, y, pixels, style);
        i++;
        continue;
      }
      const first = i;
      let end = x + pixels;
      for (;;) {
        // All nodes that start in this pixel are in the fog, except a wide one at its end.
        let next = Math.max(lowerBound(level, tree.x[level[i]] + 1 / scale), i + 1);
        let last = next - 1;
        if (last > i && tree.total[level[last]] * scale >= 1) { next = last; last--; }
        end = (tree.x[level[last]] + tree.total[level[last]] - from) * scale;
        i = next;
        if (i >= level.length || tree.x[level[i]] >= until || end - x > FOG_WIDTH) break;
        if (tree.total[level[i]] * scale >= 1 || (tree.x[level[i]] - from) * scale - end > 1) break;
      }
      const cloud = { depth, first, end: i, x, width: Math.max(end - x, 0.7) };
      fog.push(cloud);
      drawFog(cloud, y, style);
    }
    if (state.isMatch) drawMatchesInFog(depth, y, style);
  }

  function draw() {
    const css = getComputedStyle(document.documentElement);
    const style = {
      text: isDark ? "#f5f2ee" : "#171614",
      hit: css.getPropertyValue("--hit").trim(),
      hitText: isDark ? "#171614" : "#ffffff",
      userFog: FlameColors.fog("user", profile.colors, isDark),
      kernelFog: FlameColors.fog("kernel", profile.colors, isDark),
      placeFog: FlameColors.fog("process", profile.colors, isDark),
      isAncestor: false,
    };
    context.globalAlpha = 1;
    context.clearRect(0, 0, width, height);
    fog = [];
    if (!tree.n || !whole()) {
      context.fillStyle = style.text;
      context.fillText("No " + profile.weight + " in this selection.", 12, 24);
      return;
    }
    const zoomDepth = tree.depth[state.zoom];
    style.isAncestor = true;
    for (let node = tree.parent[state.zoom]; node >= 0; node = tree.parent[node]) {
      const y = yOf(tree.depth[node]);
      if (y > -rowHeight && y < height) drawNode(node, 0, y, width, style);
    }
    style.isAncestor = false;
    for (let depth = zoomDepth; depth < tree.levels.length; depth++) {
      const y = yOf(depth);
      if (y > -rowHeight && y < height) drawLevel(depth, y, style);
    }
    context.globalAlpha = 1;
  }

  // --- hit testing ---

  function hit(clientX, clientY) {
    const box = canvas.getBoundingClientRect();
    const x = clientX - box.left, depth = depthAt(clientY - box.top);
    if (x < 0 || x >= width || depth < 0 || depth >= tree.levels.length || !whole()) return null;
    if (depth < tree.depth[state.zoom]) {
      let node = state.zoom;
      while (tree.depth[node] > depth) node = tree.parent[node];
      return { node };
    }
    for (const cloud of fog)
      if (cloud.depth === depth && x >= cloud.x && x < cloud.x + cloud.width) return { cloud };
    const at = tree.x[state.zoom] + x / unit(), level = tree.levels[depth];
    const i = lowerBound(level, at);
    const node = i < level.length && tree.x[level[i]] === at ? level[i] : level[i - 1];
    return node !== undefined && at >= tree.x[node] && at < tree.x[node] + tree.total[node] ? { node } : null;
  }

  function weightText(value) {
    return `${grouped(value)} ${value === 1 ? profile.weight.replace(/s$/, "") : profile.weight}, ${percent(value, whole())}`;
  }

  function fogText(cloud) {
    let sum = 0;
    for (let i = cloud.first; i < cloud.end; i++) sum += tree.total[tree.levels[cloud.depth][i]];
    const count = cloud.end - cloud.first;
    return `${grouped(count)} function${count === 1 ? "" : "s"}, ${percent(sum, whole())}`;
  }

  function describe(node) {
    const binary = binaryOf(node);
    const lines = [cut(nameOf(node), 1500)];
    lines.push((binary ? cut(binary, 200) + " \u00b7 " : "") + kindOf(node));
    const place = profile.files[tree.function_[node]];
    if (place) lines.push(cut(oneLine(place), 300));
    lines.push("total: " + weightText(tree.total[node]));
    lines.push("self: " + weightText(tree.self[node]));
    if (tree.parent[node] >= 0) lines.push("of its caller: " + percent(tree.total[node], tree.total[tree.parent[node]]));
    if (tree.count && tree.count[node] > 1 && kindOf(node) === "process") lines.push(`${grouped(tree.count[node])} processes of that name`);
    if (state.zoom !== 0 && tree.depth[node] > tree.depth[state.zoom])
      lines.push("of the zoomed function: " + percent(tree.total[node], tree.total[state.zoom]));
    return lines;
  }

  function showStatus(text) {
    byId("status").textContent = text;
  }

  function statusOf(node) {
    const binary = binaryOf(node);
    return cut(oneLine(nameOf(node)), 300) + (binary ? ` (${cut(binary, 100)})` : "") + ": " + weightText(tree.total[node]) +
      ", self " + percent(tree.self[node], whole());
  }

  function defaultStatus() {
    showStatus(tree.n && whole() ? statusOf(state.cursor >= 0 ? state.cursor : state.zoom) : "Nothing to show.");
  }

  function showTip(lines, clientX, clientY) {
    tip.replaceChildren();
    lines.forEach((line, i) => {
      const element = document.createElement(i ? "span" : "b");
      element.textContent = line;
      tip.append(element);
    });
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    const left = clientX + 14 + box.width > innerWidth ? clientX - box.width - 10 : clientX + 14;
    const top = clientY + 18 + box.height > innerHeight ? clientY - box.height - 10 : clientY + 18;
    tip.style.left = Math.max(4, Math.min(left, innerWidth - box.width - 4)) + "px";
    tip.style.top = Math.max(4, top) + "px";
  }

  // --- zoom ---

  function scrollTo(depth) {
    const y = yOf(depth);
    if (y < 0 || y + rowHeight > height)
      chart.scrollTop += y < 0 === state.icicle ? y - rowHeight : y - height + 2 * rowHeight;
  }

  function zoomTo(node, remember) {
    if (node === state.zoom || node < 0 || node >= tree.n) return;
    if (remember) state.history.push(state.zoom);
    state.zoom = node;
    state.deepest = FlameTree.deepestBelow(tree, node);
    tip.hidden = true;
    showCrumbs();
    scrollTo(tree.depth[node]);
    defaultStatus();
    redraw();
  }

  function zoomBack() {
    if (state.history.length) zoomTo(state.history.pop(), false);
    else zoomTo(0, false);
    showCrumbs();
  }

  function reset() {
    state.history = [];
    state.cursor = -1;
    zoomTo(0, false);
    showCrumbs();
    defaultStatus();
    redraw();
  }

  function showCrumbs() {
    const crumbs = byId("crumbs");
    crumbs.replaceChildren();
    byId("reset").disabled = byId("back").disabled = state.zoom === 0;
    if (state.zoom === 0) return relayout();
    const path = [];
    for (let node = state.zoom; node >= 0; node = tree.parent[node]) path.unshift(node);
    // Show only the two ends of a very deep path.
    const shown = path.length > 60 ? path.slice(0, 20).concat(-1, path.slice(-39)) : path;
    for (const node of shown) {
      const button = document.createElement("button");
      button.type = "button";
      if (node < 0) {
        button.textContent = `\u2026 ${path.length - 59} more`;
        button.disabled = true;
      } else {
        button.textContent = cut(oneLine(nameOf(node)), 80);
        button.addEventListener("click", () => zoomTo(node, true));
        if (node === state.zoom) button.setAttribute("aria-current", "true");
      }
      crumbs.append(button);
    }
    crumbs.scrollLeft = crumbs.scrollWidth;
    relayout();
  }

  // --- search ---

  /* Functions with that text in their names; if there are none, those that match it as a regular expression. */
  function findFunctions(term) {
    const fold = (text) => (state.ignoreCase ? text.toLowerCase() : text), wanted = fold(term);
    const found = new Uint8Array(nFunctions);
    let expression = null;
    for (let i = 0; i < nFunctions; i++) if (fold(profile.functions[3 * i]).includes(wanted)) found[i] = 1;
    if (found.includes(1)) return found;
    try {
      expression = new RegExp(term, state.ignoreCase ? "i" : "");
    } catch (error) {
      return found; // not a regular expression
    }
    for (let i = 0; i < nFunctions; i++) if (expression.test(profile.functions[3 * i])) found[i] = 1;
    return found;
  }

  function search() {
    const term = byId("search").value;
    state.isMatch = state.matchLevels = null;
    state.matches = [];
    if (term) {
      state.isMatch = findFunctions(term);
      let sum = 0, frames = 0;
      for (let i = 0, covered = 0; i < tree.n; i++) {
        if (!state.isMatch[tree.function_[i]]) continue;
        frames++;
        state.matches.push(i);
        if (i < covered) continue; // inside a match that is counted
        sum += tree.total[i];
        covered = tree.end[i];
      }
      indexMatches();
      byId("matched").textContent = `Matched: ${percent(sum, whole())}`;
      byId("matched").title = `${grouped(sum)} ${profile.weight} in ${grouped(frames)} places; nested ones count once`;
    } else {
      byId("matched").textContent = "";
    }
    relayout();
  }

  function indexMatches() {
    state.matchLevels = state.isMatch && tree.levels.map((level) => level.filter((node) => state.isMatch[tree.function_[node]]));
  }

  function nextMatch(step) {
    if (!state.matches.length) return;
    const at = state.matches.findIndex((node) => node >= state.cursor);
    let i = at < 0 ? 0 : state.matches[at] === state.cursor || step < 0 ? at + step : at;
    i = (i + state.matches.length) % state.matches.length;
    setCursor(state.matches[i]);
  }

  // --- keyboard ---

  function setCursor(node) {
    if (node === undefined || node < 0) return;
    state.cursor = node;
    const inside = tree.x[node] >= tree.x[state.zoom] && tree.x[node] + tree.total[node] <= tree.x[state.zoom] + tree.total[state.zoom];
    if (!inside) {
      let common = state.zoom;
      while (!(common <= node && node < tree.end[common])) common = tree.parent[common];
      zoomTo(common, true);
    }
    scrollTo(tree.depth[node]);
    showStatus(statusOf(node));
    redraw();
  }

  function walk(direction) {
    if (!tree.n) return;
    if (state.cursor < 0) return setCursor(state.zoom);
    const node = state.cursor;
    if (direction === "out") return setCursor(tree.parent[node]);
    if (direction === "in") {
      const below = tree.children[node];
      return below && setCursor(below.reduce((best, child) => (tree.total[child] > tree.total[best] ? child : best)));
    }
    const level = tree.levels[tree.depth[node]], step = direction === "left" ? -1 : 1;
    const next = level[lowerBound(level, tree.x[node]) + step];
    if (next !== undefined && next >= state.zoom && next < tree.end[state.zoom]) setCursor(next);
  }

  function onKey(event) {
    const inSearch = event.target === byId("search");
    const key = event.key;
    if ((key === "f" && (event.ctrlKey || event.metaKey)) || (key === "/" && !inSearch)) {
      byId("search").focus();
      byId("search").select();
    } else if (inSearch) {
      if (key === "Enter") nextMatch(event.shiftKey ? -1 : 1);
      else if (key === "Escape") {
        byId("search").value = "";
        search();
        chart.focus();
      } else return;
    } else if (event.ctrlKey || event.metaKey || event.altKey) {
      return;
    } else if (key === "Escape") {
      if (byId("search").value && state.zoom === 0) {
        byId("search").value = "";
        search();
      } else reset();
    } else if (key === "Home") reset();
    else if (key === "Backspace") zoomBack();
    else if (key === "Enter" && event.target === chart) zoomTo(state.cursor, true);
    else if (key === "ArrowUp") walk(state.icicle ? "out" : "in");
    else if (key === "ArrowDown") walk(state.icicle ? "in" : "out");
    else if (key === "ArrowLeft") walk("left");
    else if (key === "ArrowRight") walk("right");
    else if (key === "n") nextMatch(1);
    else if (key === "N") nextMatch(-1);
    else if (key === "r") reset();
    else if (key === "m") byId("merge").click();
    else if (key === "i") byId("icicle").click();
    else if (key === "l") byId("heavy").click();
    else if (key === "t") byId("theme").click();
    else if (key === "?") byId("keys").click();
    else return;
    event.preventDefault();
  }

  // --- the page ---

  function relayout() {
    const fromRoot = state.fromRoot;
    measure();
    chart.scrollTop = state.icicle ? fromRoot : extentHeight() - height - fromRoot;
    redraw();
  }

  function toRoot() {
    state.fromRoot = 0;
    relayout();
  }

  /* Merges processes with the same name or separates them. Keeps the zoom where the path exists. */
  function setMerge(merge) {
    const path = FlameTree.pathTo(tree, state.zoom);
    state.merge = merge;
    tree = merge ? trees.merged : trees.single;
    state.history = [];
    state.cursor = -1;
    state.zoom = Math.max(FlameTree.follow(tree, path), 0);
    state.deepest = FlameTree.deepestBelow(tree, state.zoom);
    layOut();
    search();
    showCrumbs();
    defaultStatus();
  }

  function prepareMerge() {
    const merged = FlameTree.merge(profile.nodes, nFunctions);
    byId("merge").hidden = merged.count.length === tree.n;
    if (byId("merge").hidden) return;
    trees.merged = FlameTree.build(merged.nodes, merged.count);
    tree = trees.merged;
    state.merge = true;
  }

  function setTheme(choice) {
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    isDark = choice === "dark" || (choice === "auto" && dark);
    document.documentElement.dataset.theme = isDark ? "dark" : "light";
    byId("theme").textContent = "Theme: " + choice;
    byId("theme").dataset.choice = choice;
    colorOfFunction.clear();
    showLegend();
    redraw();
  }

  function showLegend() {
    const words = { user: "user", kernel: "kernel", inline: "inlined", jit: "generated (JIT)", process: "process", thread: "thread",
                    marker: "unknown" };
    const present = new Set();
    for (let i = 0; i < nFunctions; i++) present.add(lookOf(i));
    byId("legend").replaceChildren();
    for (const kind of Object.keys(words)) {
      if (!present.has(kind)) continue;
      const item = document.createElement("li"), swatch = document.createElement("i");
      swatch.style.background = colorOfKind(kind, 0.4);
      item.append(swatch, words[kind]);
      byId("legend").append(item);
    }
  }

  function toggle(id, member, then) {
    byId(id).setAttribute("aria-pressed", String(state[member]));
    byId(id).addEventListener("click", () => {
      state[member] = !state[member];
      byId(id).setAttribute("aria-pressed", String(state[member]));
      then();
    });
  }

  function start() {
    byId("title").textContent = profile.title;
    byId("subtitle").textContent = profile.subtitle || "";
    chart.setAttribute("aria-label", `Flame graph of ${profile.title}: ${grouped(whole())} ${profile.weight} in ` +
      `${grouped(Math.max(profile.nodes.length / 3 - 1, 0))} places. Arrow keys walk, Enter zooms, Home shows everything.`);
    classifyFunctions();
    prepareMerge();
    state.deepest = FlameTree.deepestBelow(tree, 0);
    layOut();
    toggle("merge", "merge", () => setMerge(state.merge));
    toggle("icicle", "icicle", toRoot);
    toggle("heavy", "heavy", () => {
      layOut();
      redraw();
    });
    toggle("ignore-case", "ignoreCase", search);
    byId("search").addEventListener("input", search);
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
    canvas.addEventListener("click", (event) => {
      const found = hit(event.clientX, event.clientY);
      if (!found) return;
      const node = found.cloud ? tree.parent[tree.levels[found.cloud.depth][found.cloud.first]] : found.node;
      state.cursor = -1;
      zoomTo(node, true);
    });
    canvas.addEventListener("pointermove", (event) => {
      const found = hit(event.clientX, event.clientY);
      canvas.style.cursor = found ? "pointer" : "default";
      if (!found) {
        tip.hidden = true;
        return defaultStatus();
      }
      if (event.pointerType !== "touch")
        showTip(found.cloud ? [fogText(found.cloud), "too narrow to show; zoom in"] : describe(found.node), event.clientX, event.clientY);
      showStatus(found.cloud ? fogText(found.cloud) : statusOf(found.node));
    });
    canvas.addEventListener("pointerleave", () => {
      tip.hidden = true;
      defaultStatus();
    });
    chart.addEventListener("scroll", () => {
      tip.hidden = true;
      state.fromRoot = state.icicle ? chart.scrollTop : Math.max(extentHeight() - height - chart.scrollTop, 0);
      redraw();
    });
    document.addEventListener("keydown", onKey);
    new ResizeObserver(relayout).observe(chart);
    setTheme("auto");
    showCrumbs();
    toRoot();
    defaultStatus();
  }

  start();
})();
