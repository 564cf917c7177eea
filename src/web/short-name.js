// SPDX-License-Identifier: GPL-3.0-or-later

// Shortens function names by the rules of text/short-name.c. SVG pictures contain this file, so it must not contain the
// less-than sign or the ampersand, not even in comments (embed.py refuses them).
var ShortName = (function () {
  "use strict";
  var LESS = "\x3c", ELLIPSIS = "\u2026", LONGEST = 4096;
  var WORD = /[\w$\u0080-\uffff]/;
  var OPERATOR = /operator(?![\w$\u0080-\uffff])(?:(?:\(\)|\[\]|\x3c=>|\x3c\x3c=|>>=|->\*|->|\x3c\x3c|>>|\x3c=|>=|\x3c|>|[-+*\/%^\x26|~!=,]+)(?: (?=\x3c))?)?/y;
  var PARAMETERS = 1, INNER_ARGUMENTS = 2, ALL_ARGUMENTS = 3, RETURN_TYPE = 4, MODULES = 5;

  function stepOf(text, at, operatorEnd) {
    var before = at > 0 ? text[at - 1] : " ", isBehindName = WORD.test(before) || at === operatorEnd;
    if (text[at] === "(") return isBehindName || ">)]}'".includes(before) ? PARAMETERS : 0;
    if (text.startsWith(LESS + "impl ", at)) return 0;
    return isBehindName || "]}".includes(before) || text.slice(Math.max(at - 2, 0), at) === "::" ? ALL_ARGUMENTS : 0;
  }

  function parse(text) {
    var brackets = [], open = [], round = 0, operatorEnd = -1, blank = 0, lastArguments = 0, begin = 0, seeks = true;
    for (var at = 0; text.length > at; at++) {
      var c = text[at], isOperator = false;
      if (c === "o") {
        OPERATOR.lastIndex = at;
        if (at === 0 || !WORD.test(text[at - 1])) isOperator = OPERATOR.test(text);
      }
      if (isOperator) {
        operatorEnd = OPERATOR.lastIndex;
        if (text[at + 8] === " ") if (open.length === 0) seeks = false;
        at = operatorEnd - 1;
      } else if (c === " ") {
        if (open.length === 0) blank = at;
      } else if (c === "(" || c === LESS) {
        var step = stepOf(text, at, operatorEnd);
        if (step === PARAMETERS) if (open.length === 0) if (seeks) {
          if (blank > 0) if (lastArguments > 0) if (lastArguments + 1 === at) if (!/ (to|for)$/.test(text.slice(0, blank))) begin = blank + 1;
          seeks = false;
        }
        if (c === "(") round++;
        open.push(brackets.length);
        brackets.push({ open: at, close: 0, step: step });
      } else if (c === ")" ? round > 0 : c === ">" ? open.length > 0 ? text[at - 1] !== "-" : false : false) {
        while (open.length > 0) {
          var last = brackets[open[open.length - 1]];
          if (c === ">") if (text[last.open] === "(") break;
          open.pop();
          if (text[last.open] === (c === ")" ? "(" : LESS)) {
            last.close = at;
            if (c === ")") round--;
            else if (open.length === 0) lastArguments = at;
            break;
          }
        }
      }
    }
    return { text: text, begin: begin, brackets: brackets };
  }

  function markInner(name) {
    var closes = [];
    name.brackets.forEach(function (bracket) {
      while (closes.length > 0 ? bracket.open > closes[closes.length - 1] : false) closes.pop();
      if (bracket.close === 0 || name.text[bracket.open] !== LESS) return;
      if (bracket.step === ALL_ARGUMENTS) if (closes.length > 0) bracket.step = INNER_ARGUMENTS;
      closes.push(bracket.close);
    });
  }

  function atStep(name, step) {
    var out = [], keptEnd = 0, next = 0, text = name.text, brackets = name.brackets;
    for (var at = step >= RETURN_TYPE ? name.begin : 0; text.length > at; at++) {
      while (brackets.length > next ? at > brackets[next].open : false) next++;
      out.push(text[at]);
      if (step >= MODULES) if (keptEnd > at) if (out.length > 1) if (text[at] === ":") if (out[out.length - 2] === ":") {
        var end = out.length - 2;
        while (end > 0 ? WORD.test(out[end - 1]) : false) end--;
        if (out.length - 2 > end) out.length = end;
      }
      if (next === brackets.length || brackets[next].open !== at || brackets[next].close === 0) continue;
      var bracket = brackets[next];
      if (bracket.step === 0) if (text[at] === LESS) keptEnd = Math.max(keptEnd, bracket.close);
      if (bracket.step !== 0) if (step >= bracket.step) if (bracket.close > at + 2) {
        out.push(ELLIPSIS);
        at = bracket.close - 1;
      }
    }
    return out.join("");
  }

  /* Shortens a name until it has at most `letters`, or as far as possible. */
  function of(text, letters) {
    if (letters >= text.length || text.length > LONGEST || /^(\[|[-+]\[|py::)/.test(text)) return text;
    var name = parse(text), short = text;
    markInner(name);
    for (var step = PARAMETERS; MODULES >= step; step++) {
      short = atStep(name, step);
      if (letters >= short.length) break;
    }
    return short;
  }

  return { of: of };
})();
