// SPDX-License-Identifier: GPL-3.0-or-later

/* Draws the shown part of a tree on the canvas, and finds what is at a point of it.
 *
 * The cost of a picture depends on its pixels and rows, not on the number of nodes: nodes of a row are sorted by x.
 * Neighbors that are narrower than a pixel are skipped by binary search and drawn as one fog, in the colors of the nodes in
 * it. `view` has the state of the page (flamegraph.js) and the functions of the profile. */
function FlameChart(view, chart, extent, canvas) {
  "use strict";

  const FOG_WIDTH = 5; // px; wider fog is split, so that its colors show where each kind is
  const context = canvas.getContext("2d");
  let rowHeight = 20, charWidth = 8, width = 0, height = 0;
  let clouds = []; // nodes merged in the last picture: {row, first, end, x, width}
  let pending = false;

  // --- colors ---

  const colors = new Map();
  const colorOfKind = (kind, share) => FlameColors.hsl(kind, share, view.profile.colors, view.isDark);

  function colorOf(node) {
    const f = view.tree.function_[node], isWait = view.isWait(node), key = isWait ? -1 - f : f;
    let color = colors.get(key);
    if (!color) colors.set(key, (color = colorOfKind(isWait ? "wait" : view.lookOf(f), FlameColors.hash(view.names[f]))));
    return color;
  }

  // --- geometry ---

  const isTopDown = () => view.icicle || view.sandwich >= 0;
  const extentHeight = () => Math.max((view.rows[1] - view.rows[0] + 1) * rowHeight + 8, height);
  const unit = () => (view.tree.total[view.zoom] > 0 ? width / view.tree.total[view.zoom] : 0); // pixels per weight

  function yOf(row) {
    const ratio = window.devicePixelRatio || 1, at = row - view.rows[0];
    const y = (isTopDown() ? at * rowHeight + 4 : extentHeight() - (at + 1) * rowHeight - 4) - chart.scrollTop;
    return Math.round(y * ratio) / ratio;
  }

  function rowAt(y) {
    const inside = y + chart.scrollTop;
    return view.rows[0] + Math.floor((isTopDown() ? inside - 4 : extentHeight() - 4 - inside) / rowHeight);
  }

  const isInSight = (row) => yOf(row) > -rowHeight && yOf(row) < height;

  function measure() {
    const coarse = matchMedia("(pointer: coarse)").matches, ratio = window.devicePixelRatio || 1;
    const fontSize = Math.round((parseFloat(getComputedStyle(document.documentElement).fontSize) || 14) * 0.9);
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

  // Pixels scrolled away from the root, or in a sandwich from its top; the same when the window gets another size.
  let fromRoot = 0;

  function keepScroll() {
    fromRoot = isTopDown() ? chart.scrollTop : Math.max(extentHeight() - height - chart.scrollTop, 0);
  }

  function fit() {
    const kept = fromRoot;
    measure();
    chart.scrollTop = isTopDown() ? kept : extentHeight() - height - kept;
    redraw();
  }

  function scrollToRoot() {
    fromRoot = view.tree.base ? Math.max(0, (view.tree.base - view.rows[0] + 1) * rowHeight - height / 2) : 0;
    fit();
  }

  function scrollTo(row) {
    const y = yOf(row);
    if (y < 0 || y + rowHeight > height) chart.scrollTop += y < 0 ? y - 2 * rowHeight : y - height + 3 * rowHeight;
    keepScroll();
  }

  chart.addEventListener("scroll", () => {
    keepScroll();
    redraw();
  });

  // --- drawing ---

  function label(name, pixels) {
    const room = Math.floor((pixels - 8) / charWidth);
    if (room < 3) return "";
    const short = name.length > room ? ShortName.of(name, room) : name;
    let text = FlameText.oneLine(short.length > room ? short.slice(0, room + 1) : short);
    if (/[^\u0020-\u04ff]/.test(text)) {
      while (text.length > 2 && context.measureText(text).width > pixels - 8)
        text = text.slice(0, -2).replace(/[\ud800-\udbff]$/, "") + "\u2026";
      return text;
    }
    return text.length > room ? text.slice(0, room - 1) + "\u2026" : text;
  }

  function drawNode(node, x, y, pixels, style) {
    const gap = pixels > 3 ? 1 : 0, f = view.tree.function_[node];
    const matched = view.isMatch && view.isMatch[f];
    context.globalAlpha = view.isMatch && !matched ? 0.32 : node !== view.zoom && style.isAncestor ? 0.6 : 1;
    context.fillStyle = matched ? style.hit : colorOf(node);
    context.fillRect(x, y, pixels - gap, rowHeight - 1);
    const text = label(view.names[f], pixels);
    if (text) {
      context.globalAlpha = view.isMatch && !matched ? 0.7 : 1;
      context.fillStyle = matched ? style.hitText : style.text;
      context.fillText(text, x + 4, y + rowHeight / 2);
    }
    if (node === view.cursor || (node === 0 && view.sandwich >= 0)) outline(x, y, Math.max(pixels - gap, 2), style);
  }

  function outline(x, y, pixels, style) {
    context.globalAlpha = 1;
    context.lineWidth = 2;
    context.strokeStyle = style.text;
    context.strokeRect(x + 1, y + 1, Math.max(pixels - 2, 1), rowHeight - 3);
  }

  /* Nodes first … end - 1 of a row, each narrower than a pixel. */
  function drawFog(cloud, y, style) {
    const { first, end, x, width: wide } = cloud, { nodes, kernel, places } = view.tree.rows[cloud.row];
    const last = nodes[end - 1], sum = view.tree.x[last] + view.tree.total[last] - view.tree.x[nodes[first]];
    const kernelShare = (kernel[end] - kernel[first]) / sum, alpha = view.isMatch ? 0.32 : 1;
    context.globalAlpha = alpha;
    context.fillStyle = (places[end] - places[first]) / sum > 0.5 ? style.placeFog : style.userFog;
    context.fillRect(x, y, wide, rowHeight - 1);
    if (kernelShare > 0) {
      context.globalAlpha = alpha * Math.min(1, kernelShare);
      context.fillStyle = style.kernelFog;
      context.fillRect(x, y, wide, rowHeight - 1);
    }
  }

  /* Draws matches in fog at their position, a pixel wide, as opaque as their share of it. */
  function drawMatchesInFog(row, y, style) {
    const tree = view.tree, matches = tree.rows[row].matches, scale = unit(), from = tree.x[view.zoom];
    const until = from + tree.total[view.zoom];
    context.fillStyle = style.hit;
    let i = FlameTree.lowerBound(tree, matches, from);
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
      if (filled >= 1) i = Math.max(i, FlameTree.lowerBound(tree, matches, from + (pixel + 1) / scale));
    }
  }

  function drawRow(row, y, style) {
    const tree = view.tree, { nodes } = tree.rows[row], scale = unit(), from = tree.x[view.zoom];
    const until = from + tree.total[view.zoom];
    let i = FlameTree.lowerBound(tree, nodes, from);
    while (i < nodes.length && tree.x[nodes[i]] < until) {
      const node = nodes[i], x = (tree.x[node] - from) * scale, pixels = tree.total[node] * scale;
      if (pixels >= 1) {
        drawNode(node, x, y, pixels, style);
        i++;
        continue;
      }
      const first = i;
      let end = x + pixels;
      for (;;) {
        // All nodes that start in this pixel are in the fog, except a wide one at its end.
        let next = Math.max(FlameTree.lowerBound(tree, nodes, tree.x[nodes[i]] + 1 / scale), i + 1);
        let last = next - 1;
        if (last > i && tree.total[nodes[last]] * scale >= 1) { next = last; last--; }
        end = (tree.x[nodes[last]] + tree.total[nodes[last]] - from) * scale;
        i = next;
        if (i >= nodes.length || tree.x[nodes[i]] >= until || end - x > FOG_WIDTH) break;
        if (tree.total[nodes[i]] * scale >= 1 || (tree.x[nodes[i]] - from) * scale - end > 1) break;
      }
      const cloud = { row, first, end: i, x, width: Math.max(end - x, 0.7) };
      clouds.push(cloud);
      drawFog(cloud, y, style);
    }
    if (view.isMatch) drawMatchesInFog(row, y, style);
  }

  /* A marked node that is part of fog. */
  function drawNarrowMark(style) {
    const tree = view.tree, node = view.cursor;
    if (node < 0 || !FlameTree.contains(tree, view.zoom, node) || tree.total[node] * unit() >= 1) return;
    outline((tree.x[node] - tree.x[view.zoom]) * unit() - 2, yOf(FlameTree.rowOf(tree, node)), 6, style);
  }

  function draw() {
    const tree = view.tree, fogOf = (kind) => FlameColors.fog(kind, view.profile.colors, view.isDark);
    const style = {
      text: view.isDark ? "#f5f2ee" : "#171614",
      hit: getComputedStyle(document.documentElement).getPropertyValue("--hit").trim(),
      hitText: view.isDark ? "#171614" : "#ffffff",
      userFog: fogOf("user"),
      kernelFog: fogOf("kernel"),
      placeFog: fogOf("process"),
      isAncestor: true,
    };
    context.globalAlpha = 1;
    context.clearRect(0, 0, width, height);
    clouds = [];
    if (!tree.n || !tree.total[0]) {
      context.fillStyle = style.text;
      context.fillText("No " + view.profile.weight + " in this selection.", 12, 24);
      return;
    }
    for (let node = tree.parent[view.zoom]; node >= 0; node = tree.parent[node]) {
      const row = FlameTree.rowOf(tree, node);
      if (isInSight(row)) drawNode(node, 0, yOf(row), width, style);
    }
    style.isAncestor = false;
    for (let row = view.rows[0]; row <= view.rows[1]; row++)
      if (tree.rows[row].depth >= tree.depth[view.zoom] && isInSight(row)) drawRow(row, yOf(row), style);
    drawNarrowMark(style);
    context.globalAlpha = 1;
  }

  function redraw() {
    if (pending) return;
    pending = true;
    requestAnimationFrame(() => {
      pending = false;
      draw();
    });
  }

  // --- what is at a point ---

  /* {node}, or {cloud} of nodes that are too narrow, or null. */
  function hit(clientX, clientY) {
    const tree = view.tree, box = canvas.getBoundingClientRect(), x = clientX - box.left, row = rowAt(clientY - box.top);
    if (x < 0 || x >= width || row < view.rows[0] || row > view.rows[1] || !tree.n || !tree.total[0]) return null;
    const { nodes, depth } = tree.rows[row];
    if (depth < tree.depth[view.zoom]) return { node: FlameTree.pathTo(tree, view.zoom)[depth] };
    for (const cloud of clouds) if (cloud.row === row && x >= cloud.x && x < cloud.x + cloud.width) return { cloud };
    const at = tree.x[view.zoom] + x / unit(), i = FlameTree.lowerBound(tree, nodes, at);
    const node = i < nodes.length && tree.x[nodes[i]] === at ? nodes[i] : nodes[i - 1];
    return node !== undefined && at >= tree.x[node] && at < tree.x[node] + tree.total[node] ? { node } : null;
  }

  /* The middle of a node's visible part, in the window. */
  function pointOf(node) {
    const tree = view.tree, box = canvas.getBoundingClientRect(), isAbove = !FlameTree.contains(tree, view.zoom, node);
    const x = isAbove ? 0 : (tree.x[node] - tree.x[view.zoom]) * unit(), wide = isAbove ? width : tree.total[node] * unit();
    return [box.left + x + Math.min(wide / 2, 120), box.top + yOf(FlameTree.rowOf(tree, node)) + rowHeight / 2];
  }

  const pixelsOf = (node, zoom) => (view.tree.total[zoom] > 0 ? (width * view.tree.total[node]) / view.tree.total[zoom] : 0);

  return { fit, redraw, hit, pointOf, pixelsOf, scrollToRoot, scrollTo, isTopDown, colorOfKind, forgetColors: () => colors.clear() };
}
