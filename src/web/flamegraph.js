// SPDX-License-Identifier: GPL-3.0-or-later

/* The interactive flame graph. Its data, in the element #profile:
 *
 *   title, subtitle    texts
 *   weight             what is counted, e.g. "samples"
 *   kinds              names of the kinds of functions
 *   functions          [name, binary, index into kinds, …] flat, three per function
 *   nodes              [function, depth, total, …] flat, three per node, in the order of a walk from the root
 *   icicle, heavy      how the page opens
 *   colors             "kind" or a hue
 *
 * The tree is laid out once per order. A picture of any zoom costs about as many steps as it has pixels
 * times levels, however many nodes there are: per level, nodes are sorted by x, and neighbours that are narrower than
 * a pixel are skipped by binary search and drawn as one grey fog. */

(function () {
  "use strict";

  const profile = JSON.parse(document.getElementById("profile").textContent);
  const byId = (id) => document.getElementById(id);
  const chart = byId("chart"), extent = byId("extent"), canvas = byId("canvas"), tip = byId("tip");
  const context = canvas.getContext("2d");

  // --- the tree ---

  const nNodes = profile.nodes.length / 3;
  const nFunctions = profile.functions.length / 3;
  const nodeFunction = new Uint32Array(nNodes);
  const nodeDepth = new Uint32Array(nNodes);
  const nodeTotal = new Float64Array(nNodes);
  const nodeSelf = new Float64Array(nNodes);
  const nodeParent = new Int32Array(nNodes).fill(-1);
  const nodeEnd = new Uint32Array(nNodes); // first node behind the subtree
  const nodeX = new Float64Array(nNodes);
  const children = new Array(nNodes);
  let levels = []; // per depth: nodes by x
  let maxDepth = 0;

  const nameOf = (node) => profile.functions[3 * nodeFunction[node]];
  const binaryOf = (node) => profile.functions[3 * nodeFunction[node] + 1];
  const kindOf = (node) => profile.kinds[profile.functions[3 * nodeFunction[node] + 2]];
  const oneLine = (text) => text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, " ");
  const cut = (text, length) => (text.length > length ? text.slice(0, length) + "\u2026" : text);

  function buildTree() {
    const open = [];
    for (let i = 0; i < nNodes; i++) {
      nodeFunction[i] = profile.nodes[3 * i];
      const depth = (nodeDepth[i] = profile.nodes[3 * i + 1]);
      nodeTotal[i] = nodeSelf[i] = profile.nodes[3 * i + 2];
      maxDepth = Math.max(maxDepth, depth);
      while (open.length > depth) nodeEnd[open.pop()] = i;
      if (depth > 0) {
        const parent = open[depth - 1];
        nodeParent[i] = parent;
        nodeSelf[parent] -= nodeTotal[i];
        (children[parent] = children[parent] || []).push(i);
      }
      open.push(i);
    }
    while (open.length) nodeEnd[open.pop()] = nNodes;
  }

  function layOut() {
    const byName = (a, b) => {
      const left = nameOf(a), right = nameOf(b);
      return left < right ? -1 : left > right ? 1 : a - b;
    };
    const byWeight = (a, b) => nodeTotal[b] - nodeTotal[a] || byName(a, b);
    levels = nNodes ? [[0]] : [];
    for (let depth = 0; depth < levels.length; depth++) {
      const next = [];
      for (const node of levels[depth]) {
        let x = nodeX[node];
        if (!children[node]) continue;
        children[node].sort(state.heavy ? byWeight : byName);
        for (const child of children[node]) {
          nodeX[child] = x;
          x += nodeTotal[child];
          next.push(child);
        }
      }
      if (next.length) levels.push(next);
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
    matchPrefix: null, // per level: weight that matches before each node
    matches: [],
  };
  let rowHeight = 20, fontSize = 13, charWidth = 8, width = 0, height = 0;
  let fog = []; // what the last picture merged: {depth, first, end, x, width}

  const percent = (value, of) => (of > 0 ? ((100 * value) / of).toFixed(2) : "0.00") + "\u00a0%";
  const grouped = (value) => String(value).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
  const whole = () => (nNodes ? nodeTotal[0] : 0);

  function lowerBound(level, x) {
    let low = 0, high = level.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (nodeX[level[middle]] < x) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  // --- colours ---

  const HUES = { user: [18, 34], kernel: [206, 16], inline: [56, 8], jit: [130, 24],
                 process: [262, 24], thread: [290, 20], root: [0, 0], marker: [0, 0] };
  const SCHEMES = { hot: [18, 34], red: [0, 12], orange: [28, 10], yellow: [50, 8], green: [120, 24], mem: [112, 24],
                    aqua: [176, 14], blue: [210, 16], io: [206, 26], purple: [280, 24], grey: null };
  const PLAIN = { root: true, marker: true, process: true, thread: true }; // no scheme changes these
  let isDark = false;
  const colorOfFunction = new Map();

  function hash(text) {
    let value = 2166136261;
    for (let i = 0; i < Math.min(text.length, 256); i++) value = Math.imul(value ^ text.charCodeAt(i), 16777619);
    return (value >>> 0) / 4294967296;
  }

  function hsl(kind, share) {
    const scheme = kind in PLAIN || profile.colors === "kind" || !(profile.colors in SCHEMES) ? HUES[kind] : SCHEMES[profile.colors];
    const [hue, span] = scheme || [0, 0];
    const grey = !scheme || kind === "root" || kind === "marker";
    const saturation = grey ? 3 : kind in PLAIN ? 22 : isDark ? 48 : 74;
    const lightness = isDark ? 27 + 10 * ((share * 7) % 1) : (hue > 200 ? 70 : 62) + 12 * ((share * 7) % 1);
    return `hsl(${Math.round(hue + span * share)} ${saturation}% ${Math.round(lightness)}%)`;
  }

  function colorOf(node) {
    const key = nodeFunction[node];
    let color = colorOfFunction.get(key);
    if (!color) colorOfFunction.set(key, (color = hsl(kindOf(node), hash(nameOf(node)))));
    return color;
  }

  // --- drawing ---

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
    rowHeight = Math.round(fontSize * (coarse ? 1.9 : 1.55));
    const ratio = window.devicePixelRatio || 1;
    height = Math.max(chart.clientHeight, 1);
    extent.style.height = Math.max((maxDepth + 1) * rowHeight + 8, height) + "px";
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

  const extentHeight = () => Math.max((maxDepth + 1) * rowHeight + 8, height);
  const yOf = (depth) =>
    (state.icicle ? depth * rowHeight + 4 : extentHeight() - (depth + 1) * rowHeight - 4) - chart.scrollTop;
  function depthAt(y) {
    const inside = y + chart.scrollTop;
    return Math.floor((state.icicle ? inside - 4 : extentHeight() - 4 - inside) / rowHeight);
  }
  const unit = () => (nodeTotal[state.zoom] > 0 ? width / nodeTotal[state.zoom] : 0); // pixels per weight

  function label(name, pixels) {
    const room = Math.floor((pixels - 8) / charWidth);
    if (room < 3) return "";
    let text = oneLine(name.length > room ? name.slice(0, room + 1) : name);
    if (/[^\u0020-\u04ff]/.test(text)) {
      while (text.length > 2 && context.measureText(text).width > pixels - 8) text = text.slice(0, -2).replace(/[\ud800-\udbff]$/, "") + "\u2026";
      return text;
    }
    return text.length > room ? text.slice(0, room - 1) + "\u2026" : text;
  }

  function drawNode(node, x, y, pixels, style) {
    const gap = pixels > 3 ? 1 : 0;
    const matched = state.isMatch && state.isMatch[nodeFunction[node]];
    context.globalAlpha = state.isMatch && !matched ? 0.32 : node !== state.zoom && style.isAncestor ? 0.6 : 1;
    context.fillStyle = matched ? style.hit : colorOf(node);
    context.fillRect(x, y, pixels - gap, rowHeight - 1);
    if (kindOf(node) === "kernel") {
      context.fillStyle = style.kernel;
      context.fillRect(x, y, pixels - gap, 2);
    }
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

  function drawLevel(depth, y, style) {
    const level = levels[depth], scale = unit(), from = nodeX[state.zoom], until = from + nodeTotal[state.zoom];
    let i = lowerBound(level, from);
    while (i < level.length && nodeX[level[i]] < until) {
      const node = level[i], x = (nodeX[node] - from) * scale, pixels = nodeTotal[node] * scale;
      if (pixels >= 1) {
        drawNode(node, x, y, pixels, style);
        i++;
        continue;
      }
      const first = i;
      let end = x + pixels;
      for (;;) {
        // Whatever begins within this pixel is in the fog, wide ones at its end excepted.
        let next = Math.max(lowerBound(level, nodeX[level[i]] + 1 / scale), i + 1);
        let last = next - 1;
        if (last > i && nodeTotal[level[last]] * scale >= 1) { next = last; last--; }
        end = (nodeX[level[last]] + nodeTotal[level[last]] - from) * scale;
        i = next;
        if (i >= level.length || nodeX[level[i]] >= until) break;
        if (nodeTotal[level[i]] * scale >= 1 || (nodeX[level[i]] - from) * scale - end > 1) break;
      }
      const wide = Math.max(end - x, 0.7), prefix = state.matchPrefix && state.matchPrefix[depth];
      const share = prefix ? ((prefix[i] - prefix[first]) * scale) / wide : 0;
      context.globalAlpha = state.isMatch ? 0.32 : 1;
      context.fillStyle = style.fog;
      context.fillRect(x, y, wide, rowHeight - 1);
      if (share > 0) {
        // As strong as the share that matches, but never so weak that nobody sees it.
        context.globalAlpha = Math.min(1, Math.max(0.25, share));
        context.fillStyle = style.hit;
        context.fillRect(x, y, wide, rowHeight - 1);
      }
      fog.push({ depth, first, end: i, x, width: wide });
    }
  }

  function draw() {
    const css = getComputedStyle(document.documentElement);
    const style = {
      text: isDark ? "#f5f2ee" : "#171614",
      hit: css.getPropertyValue("--hit").trim(),
      hitText: isDark ? "#171614" : "#ffffff",
      kernel: isDark ? "#7fb2f0" : "#1c4f8f",
      fog: isDark ? "#5c5955" : "#b9b4ac",
      isAncestor: false,
    };
    context.globalAlpha = 1;
    context.clearRect(0, 0, width, height);
    fog = [];
    if (!nNodes || !whole()) {
      context.fillStyle = style.text;
      context.fillText("No " + profile.weight + " in this selection.", 12, 24);
      return;
    }
    const zoomDepth = nodeDepth[state.zoom];
    style.isAncestor = true;
    for (let node = nodeParent[state.zoom]; node >= 0; node = nodeParent[node]) {
      const y = yOf(nodeDepth[node]);
      if (y > -rowHeight && y < height) drawNode(node, 0, y, width, style);
    }
    style.isAncestor = false;
    for (let depth = zoomDepth; depth < levels.length; depth++) {
      const y = yOf(depth);
      if (y > -rowHeight && y < height) drawLevel(depth, y, style);
    }
    context.globalAlpha = 1;
  }

  // --- what stands where ---

  function hit(clientX, clientY) {
    const box = canvas.getBoundingClientRect();
    const x = clientX - box.left, depth = depthAt(clientY - box.top);
    if (x < 0 || x >= width || depth < 0 || depth >= levels.length || !whole()) return null;
    if (depth < nodeDepth[state.zoom]) {
      let node = state.zoom;
      while (nodeDepth[node] > depth) node = nodeParent[node];
      return { node };
    }
    for (const cloud of fog)
      if (cloud.depth === depth && x >= cloud.x && x < cloud.x + cloud.width) return { cloud };
    const at = nodeX[state.zoom] + x / unit(), level = levels[depth];
    const i = lowerBound(level, at);
    const node = i < level.length && nodeX[level[i]] === at ? level[i] : level[i - 1];
    return node !== undefined && at >= nodeX[node] && at < nodeX[node] + nodeTotal[node] ? { node } : null;
  }

  function weightText(value) {
    return `${grouped(value)} ${profile.weight}, ${percent(value, whole())}`;
  }

  function fogText(cloud) {
    let sum = 0;
    for (let i = cloud.first; i < cloud.end; i++) sum += nodeTotal[levels[cloud.depth][i]];
    const count = cloud.end - cloud.first;
    return `${grouped(count)} function${count === 1 ? "" : "s"}, ${percent(sum, whole())}`;
  }

  function describe(node) {
    const binary = binaryOf(node);
    const lines = [cut(nameOf(node), 1500)];
    lines.push((binary ? cut(binary, 200) + " \u00b7 " : "") + kindOf(node));
    lines.push("total: " + weightText(nodeTotal[node]));
    lines.push("self: " + weightText(nodeSelf[node]));
    if (nodeParent[node] >= 0) lines.push("of its caller: " + percent(nodeTotal[node], nodeTotal[nodeParent[node]]));
    if (state.zoom !== 0 && nodeDepth[node] > nodeDepth[state.zoom])
      lines.push("of what is zoomed: " + percent(nodeTotal[node], nodeTotal[state.zoom]));
    return lines;
  }

  function showStatus(text) {
    byId("status").textContent = text;
  }

  function statusOf(node) {
    const binary = binaryOf(node);
    return cut(oneLine(nameOf(node)), 300) + (binary ? ` (${cut(binary, 100)})` : "") + ": " + weightText(nodeTotal[node]) +
      ", self " + percent(nodeSelf[node], whole());
  }

  function defaultStatus() {
    showStatus(nNodes && whole() ? statusOf(state.cursor >= 0 ? state.cursor : state.zoom) : "Nothing to show.");
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
    if (node === state.zoom || node < 0 || node >= nNodes) return;
    if (remember) state.history.push(state.zoom);
    state.zoom = node;
    tip.hidden = true;
    showCrumbs();
    scrollTo(nodeDepth[node]);
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
    for (let node = state.zoom; node >= 0; node = nodeParent[node]) path.unshift(node);
    // Of a very deep path, the two ends.
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

  function search() {
    const term = byId("search").value;
    const fold = (text) => (state.ignoreCase ? text.toLowerCase() : text);
    state.isMatch = state.matchPrefix = null;
    state.matches = [];
    if (term) {
      const wanted = fold(term);
      state.isMatch = new Uint8Array(nFunctions);
      for (let i = 0; i < nFunctions; i++)
        state.isMatch[i] = fold(profile.functions[3 * i]).includes(wanted) ? 1 : 0;
      let sum = 0, frames = 0;
      for (let i = 0, covered = 0; i < nNodes; i++) {
        if (!state.isMatch[nodeFunction[i]]) continue;
        frames++;
        state.matches.push(i);
        if (i < covered) continue; // inside a match that is counted already
        sum += nodeTotal[i];
        covered = nodeEnd[i];
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
    if (!state.isMatch) return;
    state.matchPrefix = levels.map((level) => {
      const prefix = new Float64Array(level.length + 1);
      level.forEach((node, i) => (prefix[i + 1] = prefix[i] + (state.isMatch[nodeFunction[node]] ? nodeTotal[node] : 0)));
      return prefix;
    });
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
    const inside = nodeX[node] >= nodeX[state.zoom] && nodeX[node] + nodeTotal[node] <= nodeX[state.zoom] + nodeTotal[state.zoom];
    if (!inside) {
      let common = state.zoom;
      while (!(common <= node && node < nodeEnd[common])) common = nodeParent[common];
      zoomTo(common, true);
    }
    scrollTo(nodeDepth[node]);
    showStatus(statusOf(node));
    redraw();
  }

  function walk(direction) {
    if (!nNodes) return;
    if (state.cursor < 0) return setCursor(state.zoom);
    const node = state.cursor;
    if (direction === "out") return setCursor(nodeParent[node]);
    if (direction === "in") {
      const below = children[node];
      return below && setCursor(below.reduce((best, child) => (nodeTotal[child] > nodeTotal[best] ? child : best)));
    }
    const level = levels[nodeDepth[node]], step = direction === "left" ? -1 : 1;
    const next = level[lowerBound(level, nodeX[node]) + step];
    if (next !== undefined && next >= state.zoom && next < nodeEnd[state.zoom]) setCursor(next);
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
    else if (key === "i") byId("icicle").click();
    else if (key === "l") byId("heavy").click();
    else if (key === "t") byId("theme").click();
    else if (key === "?") byId("keys").click();
    else return;
    event.preventDefault();
  }

  // --- the page ---

  function relayout() {
    const bottom = chart.scrollHeight - chart.scrollTop - chart.clientHeight;
    measure();
    if (!state.icicle) chart.scrollTop = extentHeight() - height - bottom;
    redraw();
  }

  function toRoot() {
    measure();
    chart.scrollTop = state.icicle ? 0 : extentHeight();
    redraw();
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
                    marker: "not known" };
    const present = new Set();
    for (let i = 0; i < nFunctions; i++) present.add(profile.kinds[profile.functions[3 * i + 2]]);
    byId("legend").replaceChildren();
    for (const kind of Object.keys(words)) {
      if (!present.has(kind)) continue;
      const item = document.createElement("li"), swatch = document.createElement("i");
      swatch.style.background = hsl(kind, 0.4);
      if (kind === "kernel") swatch.style.borderTop = `3px solid ${isDark ? "#7fb2f0" : "#1c4f8f"}`;
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
      `${grouped(Math.max(nNodes - 1, 0))} places. Arrow keys walk, Enter zooms, Home shows everything.`);
    layOut();
    toggle("icicle", "icicle", toRoot);
    toggle("heavy", "heavy", () => {
      layOut();
      indexMatches();
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
      const node = found.cloud ? nodeParent[levels[found.cloud.depth][found.cloud.first]] : found.node;
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
      redraw();
    });
    document.addEventListener("keydown", onKey);
    new ResizeObserver(relayout).observe(chart);
    setTheme("auto");
    showCrumbs();
    toRoot();
    defaultStatus();
  }

  buildTree();
  start();
})();
