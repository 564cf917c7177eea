// SPDX-License-Identifier: GPL-3.0-or-later

/* Trees of a flame graph, as columns. Nodes are in depth-first order, so that parents come first and a subtree is a range:
 * from its node to before `end` of it. The profile has one tree; the others (processes merged, kernel hidden, inverted,
 * callers and callees of one function) are made from it by a Growth. */
const FlameTree = (function () {
  "use strict";

  const CALLEE = 1, CALLER = -1;

  function finish(tree) {
    const open = [];
    tree.n = tree.total.length;
    tree.self = Float64Array.from(tree.total);
    tree.parent = new Int32Array(tree.n).fill(-1);
    tree.end = new Uint32Array(tree.n); // first node after the subtree
    tree.x = new Float64Array(tree.n);
    tree.children = new Array(tree.n);
    for (let i = 0; i < tree.n; i++) {
      while (open.length > tree.depth[i]) tree.end[open.pop()] = i;
      if (tree.depth[i] > 0) {
        const parent = open[tree.depth[i] - 1];
        tree.parent[i] = parent;
        if (sideOf(tree, i) === CALLEE) tree.self[parent] -= tree.total[i];
        (tree.children[parent] = tree.children[parent] || []).push(i);
      }
      open.push(i);
    }
    while (open.length) tree.end[open.pop()] = tree.n;
    return tree;
  }

  /* Whether a node is below or above the root: CALLER only among the callers of one function. */
  const sideOf = (tree, node) => (tree.isCaller && tree.isCaller[node] ? CALLER : CALLEE);

  /* `nodes`: [function, depth, total, …]; `waits`: the nodes in which threads wait. */
  function build(nodes, waits) {
    const n = nodes.length / 3;
    const tree = { function_: new Uint32Array(n), depth: new Uint32Array(n), total: new Float64Array(n), wait: new Float64Array(n) };
    for (let i = 0; i < n; i++) {
      tree.function_[i] = nodes[3 * i];
      tree.depth[i] = nodes[3 * i + 1];
      tree.total[i] = nodes[3 * i + 2];
    }
    for (const node of waits) tree.wait[node] = tree.total[node];
    return finish(tree);
  }

  /* A tree that grows by steps from a node to a child. Children of one function below the same node are one. */
  function Growth() {
    const parent = [], key = [], first = [], last = [], next = [], total = [], wait = [], count = [];
    let slots = new Int32Array(1024).fill(-1), n = 0; // hash table of nodes by parent and key

    function slotOf(above, wanted) {
      let at = Math.imul(above + 1, 0x9e3779b1) ^ Math.imul(wanted, 0x85ebca6b);
      for (at ^= at >>> 15; ; at++) {
        at &= slots.length - 1;
        if (slots[at] < 0 || (parent[slots[at]] === above && key[slots[at]] === wanted)) return at;
      }
    }

    function remember(node, slot) {
      slots[slot] = node;
      if (++n * 2 < slots.length) return;
      const nodes = slots.filter((known) => known >= 0);
      slots = new Int32Array(4 * slots.length).fill(-1);
      for (const known of nodes) slots[slotOf(parent[known], key[known])] = known;
    }

    function step(above, f, side, isSeparate) {
      const wanted = 2 * f + (side === CALLER ? 1 : 0), slot = isSeparate ? -1 : slotOf(above, wanted);
      if (!isSeparate && slots[slot] >= 0) return slots[slot];
      const node = total.length;
      parent.push(above);
      key.push(wanted);
      first.push(-1);
      last.push(-1);
      next.push(-1);
      total.push(0);
      wait.push(0);
      count.push(0);
      if (above >= 0) {
        if (last[above] < 0) first[above] = node;
        else next[last[above]] = node;
        last[above] = node;
      }
      if (!isSeparate) remember(node, slot);
      return node;
    }

    function add(node, weight, waiting) {
      total[node] += weight;
      wait[node] += waiting;
      count[node]++;
    }

    function tree() {
      const order = [], depth = [];
      let node = total.length ? 0 : -1, at = 0;
      while (node >= 0) {
        order.push(node);
        depth.push(at);
        if (first[node] >= 0) {
          node = first[node];
          at++;
          continue;
        }
        for (; node >= 0 && next[node] < 0; at--) node = parent[node];
        if (node >= 0) node = next[node];
      }
      return finish({
        function_: Uint32Array.from(order, (node) => key[node] >> 1),
        depth: Uint32Array.from(depth),
        total: Float64Array.from(order, (node) => total[node]),
        wait: Float64Array.from(order, (node) => wait[node]),
        count: order.map((node) => count[node]), // number of nodes that each was made from
        isCaller: key.some((of) => of & 1) ? order.map((node) => (key[node] & 1) === 1) : null,
      });
    }

    return { step, add, tree };
  }

  /* Whether a node has two children of one function, such as processes of one name. */
  function hasTwins(tree, nFunctions) {
    const parentOf = new Int32Array(nFunctions).fill(-1);
    return tree.children.some((children, node) => children && children.some((child) => {
      const isTwin = parentOf[tree.function_[child]] === node;
      parentOf[tree.function_[child]] = node;
      return isTwin;
    }));
  }

  /* Without functions that are `isHidden`; what they call hangs on their callers. Functions that are `isSeparate`, such as
   * processes, stay apart if they have the same name. */
  function reshape(tree, isHidden, isSeparate) {
    const growth = Growth(), grown = new Int32Array(tree.n);
    for (let i = 0; i < tree.n; i++) {
      const f = tree.function_[i], parent = i ? grown[tree.parent[i]] : -1;
      grown[i] = isHidden(f) ? parent : growth.step(parent, f, CALLEE, isSeparate(f));
      if (!isHidden(f)) growth.add(grown[i], tree.total[i], tree.wait[i]);
    }
    return growth.tree();
  }

  /* Bottom-up: the innermost functions at the root, their callers above them. */
  function invert(tree) {
    const growth = Growth();
    if (tree.n) growth.add(growth.step(-1, tree.function_[0], CALLEE), tree.total[0], 0);
    for (let i = 1; i < tree.n; i++) {
      if (tree.self[i] <= 0) continue;
      for (let at = i, to = 0; at > 0; at = tree.parent[at]) {
        to = growth.step(to, tree.function_[at], CALLEE);
        growth.add(to, tree.self[i], tree.wait[at] * 2 > tree.total[at] ? tree.self[i] : 0);
      }
    }
    return Object.assign(growth.tree(), { isInverted: true });
  }

  /* One function: callers on one side of it, callees on the other. Where it calls itself, the outermost call counts. */
  function sandwich(tree, wanted) {
    const growth = Growth(), root = growth.step(-1, wanted, CALLEE), grown = new Int32Array(tree.n);
    for (let i = 1; i < tree.n; i++) {
      if (tree.function_[i] !== wanted) continue;
      growth.add(root, tree.total[i], tree.wait[i]);
      grown[i] = root;
      for (let at = tree.parent[i], to = root; at > 0; at = tree.parent[at]) {
        to = growth.step(to, tree.function_[at], CALLER);
        growth.add(to, tree.total[i], 0);
      }
      for (let at = i + 1; at < tree.end[i]; at++) {
        grown[at] = growth.step(grown[tree.parent[at]], tree.function_[at], CALLEE);
        growth.add(grown[at], tree.total[at], tree.wait[at]);
      }
      i = tree.end[i] - 1;
    }
    return growth.tree();
  }

  /* Gives nodes their x, and the tree its rows: nodes of one depth and side by x, callers first. `tree.base` is the root's. */
  function layOut(tree, compare) {
    const rowsOf = (side) => {
      const rows = [];
      for (let level = tree.n ? [0] : []; level.length; ) {
        const next = [];
        for (const node of level) {
          let x = tree.x[node];
          for (const child of tree.children[node] || []) {
            if (sideOf(tree, child) !== side) continue;
            tree.x[child] = x;
            x += tree.total[child];
            next.push(child);
          }
        }
        rows.push({ nodes: level, depth: rows.length, side });
        level = next;
      }
      return rows;
    };
    for (const children of tree.children) if (children) children.sort(compare);
    const callers = tree.isCaller ? rowsOf(CALLER).slice(1).reverse() : [];
    tree.base = callers.length;
    tree.rows = callers.concat(rowsOf(CALLEE));
  }

  const rowOf = (tree, node) => tree.base + sideOf(tree, node) * tree.depth[node];

  /* The first node of a row at or right of `x`. */
  function lowerBound(tree, nodes, x) {
    let low = 0, high = nodes.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (tree.x[nodes[middle]] < x) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /* The node with the same path in another tree, or the last common one. */
  function follow(tree, functions) {
    let node = 0;
    for (const wanted of functions.slice(1)) {
      const next = (tree.children[node] || []).find((child) => tree.function_[child] === wanted);
      if (next === undefined) break;
      node = next;
    }
    return node;
  }

  /* From the root to the node. */
  function pathTo(tree, node) {
    const path = [];
    for (let at = node; at >= 0; at = tree.parent[at]) path.unshift(at);
    return path;
  }

  /* The rows to show, [first, last]: of the subtree and its ancestors. */
  function rowsBelow(tree, node) {
    if (node === 0) return [0, tree.rows.length - 1];
    let deepest = tree.depth[node];
    for (let i = node + 1; i < tree.end[node]; i++) deepest = Math.max(deepest, tree.depth[i]);
    const last = tree.base + sideOf(tree, node) * deepest;
    return [Math.min(tree.base, last), Math.max(tree.base, last)];
  }

  const contains = (tree, outer, node) => outer <= node && node < tree.end[outer];

  return { build, hasTwins, reshape, invert, sandwich, layOut, rowOf, sideOf, CALLER, lowerBound, follow, pathTo, rowsBelow, contains };
})();
