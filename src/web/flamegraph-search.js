// SPDX-License-Identifier: GPL-3.0-or-later

/* Search: which functions match, how much they weigh, and where they are. */
const FlameSearch = (function () {
  "use strict";

  /* [function] 1 for those with the text in their names; if there are none, for those that match it as a regular
   * expression. */
  function findFunctions(names, term, matchCase) {
    const fold = (text) => (matchCase ? text : text.toLowerCase()), wanted = fold(term);
    const found = Uint8Array.from(names, (name) => (fold(name).includes(wanted) ? 1 : 0));
    if (found.includes(1)) return found;
    try {
      const expression = new RegExp(term, matchCase ? "" : "i");
      return Uint8Array.from(names, (name) => (expression.test(name) ? 1 : 0));
    } catch (error) {
      return found; // not a regular expression
    }
  }

  /* The number of functions in a tree that match, and the weight of the stacks with one of them. */
  function weigh(tree, isMatch) {
    const functions = new Set();
    let sum = 0, covered = 0;
    for (let i = 0; i < tree.n; i++) {
      if (!isMatch[tree.function_[i]]) continue;
      functions.add(tree.function_[i]);
      if (i < covered) continue; // inside a match that is counted
      sum += tree.total[i];
      covered = tree.end[i];
    }
    return { count: functions.size, sum };
  }

  /* The nodes that match, heaviest first. */
  function findNodes(tree, isMatch) {
    const nodes = [];
    for (let i = 0; i < tree.n; i++) if (isMatch[tree.function_[i]]) nodes.push(i);
    return nodes.sort((a, b) => tree.total[b] - tree.total[a] || a - b);
  }

  /* The match `step` places after the node; from one that is none, the first or the last. */
  function next(matches, node, step) {
    let at = matches.indexOf(node);
    if (at < 0) at = step > 0 ? -1 : 0;
    return matches[(at + step + matches.length) % matches.length];
  }

  return { findFunctions, weigh, findNodes, next };
})();
