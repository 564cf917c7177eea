// SPDX-License-Identifier: GPL-3.0-or-later

/* What a page shows, in the fragment of its address, so that a link opens the same picture. Only what differs from the
 * defaults is written: "#zoom=12&search=malloc&kernel=1". Nodes and functions are numbers, which stay the same as long as
 * the file does. */
const FlameState = (function () {
  "use strict";

  /* Key in the address, and the member: 1 = true, 0 = false. */
  const SWITCHES = {
    case: "matchCase", merge: "merge", kernel: "hideKernel", invert: "invert", icicle: "icicle", heavy: "heavy", functions: "table",
  };

  function write(state, defaults) {
    const fields = new URLSearchParams();
    if (state.sandwich >= 0) fields.set("sandwich", state.sandwich);
    if (state.zoom > 0) fields.set("zoom", state.zoom);
    if (state.cursor >= 0) fields.set("mark", state.cursor);
    if (state.term) fields.set("search", state.term);
    for (const [key, member] of Object.entries(SWITCHES))
      if (state[member] !== defaults[member]) fields.set(key, state[member] ? "1" : "0");
    return fields.toString();
  }

  function read(text, defaults) {
    const fields = new URLSearchParams(text), state = { ...defaults };
    const number = (key, none) => (/^\d+$/.test(fields.get(key) || "") ? Number(fields.get(key)) : none);
    state.sandwich = number("sandwich", -1);
    state.zoom = number("zoom", 0);
    state.cursor = number("mark", -1);
    state.term = fields.get("search") || "";
    for (const [key, member] of Object.entries(SWITCHES)) if (fields.has(key)) state[member] = fields.get(key) === "1";
    return state;
  }

  return { write, read };
})();
