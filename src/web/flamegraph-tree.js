// SPDX-License-Identifier: GPL-3.0-or-later

/* The tree of the flame graph, as columns. Nodes are in depth-first order, so that parents come first and
 * a subtree is a range: from its node to before `end` of it. */
const FlameTree = (function () {
  "use strict";

  /* Merges children of one function below the same node, which differ only in process or thread. Takes and returns
   * [function, depth, total, …]; `count` is the number of nodes that a node was merged from. */
  function merge(nodes, nFunctions) {
    const n = nodes.length / 3, known = new Map(), path = [];
    const parent = [], below = [], depth = [], total = [], count = [], name = [];
    for (let i = 0; i < n; i++) {
      const at = nodes[3 * i + 1], above = at > 0 ? path[at - 1] : -1;
      const key = (above + 1) * nFunctions + nodes[3 * i];
      let node = known.get(key);
      if (node === undefined) {
        node = name.length;
        known.set(key, node);
        name.push(nodes[3 * i]);
        depth.push(at);
        total.push(0);
        count.push(0);
        below.push([]);
        parent.push(above);
        if (above >= 0) below[above].push(node);
      }
      total[node] += nodes[3 * i + 2];
      count[node]++;
      path[at] = node;
    }
    const merged = [], counts = [], open = n ? [0] : [];
    while (open.length) {
      const node = open.pop();
      merged.push(name[node], depth[node], total[node]);
      counts.push(count[node]);
      for (let i = below[node].length; i > 0; i--) open.push(below[node][i - 1]);
    }
    return { nodes: merged, count: counts };
  }

  function build(nodes, count) {
    const n = nodes.length / 3, open = [];
    const tree = {
      n,
      function_: new Uint32Array(n),
      depth: new Uint32Array(n),
      total: new Float64Array(n),
      self: new Float64Array(n),
      parent: new Int32Array(n).fill(-1),
      end: new Uint32Array(n), // first node after the subtree
      x: new Float64Array(n),
      children: new Array(n),
      count, // number of merged nodes; undefined: all 1
      levels: [], // per depth: nodes by x
    };
    for (let i = 0; i < n; i++) {
      const depth = (tree.depth[i] = nodes[3 * i + 1]);
      tree.function_[i] = nodes[3 * i];
      tree.total[i] = tree.self[i] = nodes[3 * i + 2];
      while (open.length > depth) tree.end[open.pop()] = i;
      if (depth > 0) {
        const parent = open[depth - 1];
        tree.parent[i] = parent;
        tree.self[parent] -= tree.total[i];
        (tree.children[parent] = tree.children[parent] || []).push(i);
      }
      open.push(i);
    }
    while (open.length) tree.end[open.pop()] = n;
    return tree;
  }

  function layOut(tree, compare) {
    tree.levels = tree.n ? [[0]] : [];
    for (let depth = 0; depth < tree.levels.length; depth++) {
      const next = [];
      for (const node of tree.levels[depth]) {
        let x = tree.x[node];
        if (!tree.children[node]) continue;
        tree.children[node].sort(compare);
        for (const child of tree.children[node]) {
          tree.x[child] = x;
          x += tree.total[child];
          next.push(child);
        }
      }
      if (next.length) tree.levels.push(next);
    }
  }

  /* The first node of a level at or right of `x`. */
  function lowerBound(tree, level, x) {
    let low = 0, high = level.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (tree.x[level[middle]] < x) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /* The node with the same path in another tree, or the last common one. */
  function follow(tree, functions) {
    let node = tree.n ? 0 : -1;
    for (const wanted of functions.slice(1)) {
      const next = (tree.children[node] || []).find((child) => tree.function_[child] === wanted);
      if (next === undefined) break;
      node = next;
    }
    return node;
  }

  function pathTo(tree, node) {
    const path = [];
    for (let at = node; at >= 0; at = tree.parent[at]) path.unshift(tree.function_[at]);
    return path;
  }

  function deepestBelow(tree, node) {
    let deepest = node >= 0 ? tree.depth[node] : 0;
    for (let i = node + 1; i < (node >= 0 ? tree.end[node] : 0); i++) if (tree.depth[i] > deepest) deepest = tree.depth[i];
    return deepest;
  }

  return { merge, build, layOut, lowerBound, follow, pathTo, deepestBelow };
})();
