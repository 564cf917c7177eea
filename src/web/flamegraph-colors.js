// SPDX-License-Identifier: GPL-3.0-or-later

/* Colors of the flame graph: a hue for each kind of function, and a color within it for each name, which is the same in
 * all pictures. The light theme has the colors of the SVG (flame/palette.c). */
const FlameColors = (function () {
  "use strict";

  /* First hue and span. */
  const HUES = { user: [14, 36], kernel: [205, 16], inline: [54, 8], jit: [130, 24], wait: [168, 14],
                 process: [258, 20], thread: [290, 20], root: [0, 0], marker: [0, 0] };
  const SCHEMES = { hot: [18, 34], red: [0, 12], orange: [28, 10], yellow: [50, 8], green: [120, 24], mem: [112, 24],
                    aqua: [176, 14], blue: [210, 16], io: [206, 26], purple: [280, 24], grey: null };
  const PLACES = { root: true, marker: true, process: true, thread: true };
  const isPlace = (kind) => kind in PLACES;
  const isFixed = (kind) => isPlace(kind) || kind === "wait"; // the same in all schemes

  /* From 0 to 1. */
  function hash(text) {
    let value = 2166136261; // FNV-1a
    for (let i = 0; i < Math.min(text.length, 256); i++) value = Math.imul(value ^ text.charCodeAt(i), 16777619);
    // Names that differ only in their last letter should look different.
    value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
    value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
    return ((value ^ (value >>> 16)) >>> 0) / 4294967296;
  }

  function parts(kind, share, colors, isDark) {
    const scheme = isFixed(kind) || !(colors in SCHEMES) ? HUES[kind] : SCHEMES[colors];
    const [first, span] = scheme || [0, 0];
    const grey = !scheme || kind === "root" || kind === "marker";
    const hue = first + span * share;
    // The eye sees yellow and green lighter than blue and red of the same lightness.
    const darkest = grey ? 25 : hue > 190 ? 32 : hue > 50 ? 21 : 34 - (hue - 14) * 0.33;
    return {
      hue,
      saturation: grey ? 3 : isFixed(kind) ? (isDark ? 24 : kind === "wait" ? 45 : 38) : isDark ? 52 : 82,
      lightness: (isDark ? darkest : first > 200 || grey ? 76 : kind === "wait" ? 68 : 66) + 8 * ((share * 7) % 1),
    };
  }

  const css = ({ hue, saturation, lightness }) => `hsl(${Math.round(hue)} ${Math.round(saturation)}% ${Math.round(lightness)}%)`;
  const hsl = (kind, share, colors, isDark) => css(parts(kind, share, colors, isDark));

  /* Paler than the merged frames. */
  function fog(kind, colors, isDark) {
    const { hue, saturation, lightness } = parts(kind, 0.5, colors, isDark);
    return css({ hue, saturation: 0.85 * saturation, lightness: lightness + (isDark ? -4 : 4) });
  }

  return { isPlace, hash, hsl, fog };
})();
