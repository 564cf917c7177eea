// SPDX-License-Identifier: GPL-3.0-or-later

/* Numbers and names as text, in the same forms as the other formats have them (text/format.c). */
const FlameText = (function () {
  "use strict";

  const grouped = (value) => String(value).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
  const percent = (value, of) => (of > 0 ? ((100 * value) / of).toFixed(2) : "0.00") + "\u00a0%";
  const oneLine = (text) => text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, " ");
  const cut = (text, length) => (text.length > length ? text.slice(0, length) + "\u2026" : text);
  const counted = (count, noun) => `${grouped(count)} ${count === 1 ? noun.replace(/s$/, "") : noun}`;

  function duration(nsec) {
    if (nsec >= 600e9) return `${Math.floor(nsec / 60e9)}\u00a0min ${String(Math.floor(nsec / 1e9) % 60).padStart(2, "0")}\u00a0s`;
    for (const [unit, size] of [["s", 1e9], ["ms", 1e6], ["us", 1e3]]) {
      if (nsec >= size) return `${(nsec / size).toFixed(2)}\u00a0${unit}`;
    }
    return `${nsec}\u00a0ns`;
  }

  /* A weight without the name of what is counted. */
  const amount = (profile, value) => (profile.unit === "ns" ? duration(value) : grouped(value));
  const weight = (profile, value) => (profile.unit === "ns" ? duration(value) : counted(value, profile.weight));

  return { grouped, percent, oneLine, cut, counted, amount, weight };
})();
