// SPDX-License-Identifier: GPL-3.0-or-later
// The script of an interactive SVG. Sites that embed pictures strip CDATA, so this file must not contain the less-than
// sign or the ampersand, not even in comments (embed.py refuses them). A page may have several pictures: the script
// only uses elements of the picture that contains it. A picture that is the whole document keeps its state in the
// fragment of its address: #zoom=FRAME;search=TERM;case. The renderer appends the argument list.
(function (id) {
  "use strict";
  @@SHORT_NAME@@
  var script = document.currentScript;
  var svg = script ? script.parentNode : document.querySelector("svg." + id);
  var part = function (name) { return svg.querySelector("." + name); };
  var number = function (element, name) { return parseFloat(element.getAttribute(name)); };
  var groups = Array.from(svg.querySelectorAll("g.frame"));
  var full = { x: number(svg, "data-x"), width: number(svg, "data-frames-width") };
  var rowHeight = number(svg, "data-row-height"), charWidth = number(svg, "data-char-width");
  var details = part("details"), matched = part("matched");
  var unzoom = part("unzoom"), searchButton = part("search"), caseButton = part("case");
  var matchCase = false, term = null, zoomed = 0, isInside = false, marked = -1, matches = [];
  var isDocument = document.documentElement === svg;

  // A title has the name, the weight, and possibly a line with the source location, which does not end in a bracket.
  function nameOf(title) {
    var parts = /^([^]*) \([^()]*%\)(?:\n.*)?$/.exec(title);
    return parts ? parts[1] : title.slice(0, title.lastIndexOf(" ("));
  }

  // Narrower frames cannot be seen when they are marked; px.
  var LEAST_MARKED = 8, isLoading = false;

  // Frames are in depth-first order, so their depth is enough to find callers and callees.
  var open = [];
  var frames = groups.map(function (group, i) {
    var rect = group.querySelector("rect"), text = group.querySelector("text"); // missing if nothing fits
    var title = group.querySelector("title").textContent;
    var frame = { group: group, rect: rect, text: text, title: title,
                  name: nameOf(title), weight: number(group, "data-w"),
                  x: number(rect, "x"), width: number(rect, "width"), y: number(rect, "y"),
                  parent: -1, end: 0 };
    return frame;
  });
  frames.forEach(function (frame, i) {
    frame.depth = Math.round(Math.abs(frame.y - frames[0].y) / rowHeight);
    while (open.length > frame.depth) frames[open.pop()].end = i;
    if (frame.depth > 0) frame.parent = open[frame.depth - 1];
    open.push(i);
  });
  while (open.length > 0) frames[open.pop()].end = frames.length;
  var isIcicle = !frames.some(function (frame) { return frames[0].y > frame.y; });

  function fitted(name, width) {
    var room = Math.floor((width - 6) / charWidth);
    var letters = Array.from(ShortName.of(name, room).slice(0, 2 * Math.max(room, 0) + 4));
    if (3 > room) return "";
    return letters.length > room ? letters.slice(0, room - 1).join("") + "\u2026" : letters.join("");
  }

  function write(frame, label, x) {
    if (!frame.text) {
      if (!label) return;
      frame.text = document.createElementNS(svg.namespaceURI, "text");
      frame.text.setAttribute("y", frame.y + rowHeight - 5);
      frame.group.appendChild(frame.text);
    }
    frame.text.setAttribute("x", x.toFixed(3));
    frame.text.textContent = label;
  }

  function place(frame, x, width) {
    frame.group.style.display = "";
    frame.rect.setAttribute("x", x.toFixed(3));
    frame.rect.setAttribute("width", Math.max(width, 0).toFixed(3));
    write(frame, fitted(frame.name, width), x + 3);
  }

  function zoom(at) {
    var target = frames[at], factor = target.width > 0 ? full.width / target.width : 1;
    zoomed = at;
    frames.forEach(function (frame, i) {
      var inside = (i >= at) ? target.end > i : false;
      frame.group.classList.remove("parent");
      if (inside) place(frame, full.x + (frame.x - target.x) * factor, frame.width * factor);
      else frame.group.style.display = "none";
    });
    for (var i = target.parent; i >= 0; i = frames[i].parent) {
      place(frames[i], full.x, full.width);
      frames[i].group.classList.add("parent");
    }
    unzoom.classList.toggle("hide", at === 0);
    save();
  }

  function pattern(source) {
    var flags = matchCase ? "" : "i";
    try {
      return new RegExp(source, flags);
    } catch (error) {
      return new RegExp(source.replace(/[\\^$.*+?()[\]{}|]/g, "\\$" + "\u0026"), flags);
    }
  }

  function search(source) {
    var wanted, sum = 0, covered = 0, names = new Set();
    term = source ? source : null;
    searchButton.textContent = term === null ? "Search" : "Reset Search";
    wanted = term === null ? null : pattern(term);
    matches = [];
    frames.forEach(function (frame, i) {
      var hit = wanted === null ? false : wanted.test(frame.name);
      frame.group.classList.toggle("hit", hit);
      if (!hit) return;
      matches.push(i);
      names.add(frame.name);
      if (covered > i) return; // inside a match that is counted
      sum += frame.weight;
      covered = frame.end;
    });
    matches.sort(function (a, b) { return frames[b].weight - frames[a].weight || a - b; });
    matched.textContent = term === null ? "" : matches.length === 0 ? "No matches" :
      names.size + (names.size === 1 ? " function, " : " functions, ") +
      (frames[0].weight > 0 ? 100 * sum / frames[0].weight : 0).toFixed(2) + "%";
    save();
  }

  // --- the marked frame ---

  function tell(at) {
    details.textContent = at >= 0 ? "Function: " + frames[at].title.slice(0, 2000) : "";
  }

  // Zooms out or in until the frame can be seen.
  function mark(at) {
    var target = zoomed;
    if (marked >= 0) frames[marked].group.classList.remove("marked");
    marked = at;
    frames[at].group.classList.add("marked");
    tell(at);
    while (at >= target ? at >= frames[target].end : true) {
      if (frames[target].parent === -1) break;
      target = frames[target].parent;
    }
    if (LEAST_MARKED > full.width * frames[at].width / frames[target].width) target = Math.max(frames[at].parent, 0);
    if (target !== zoomed) zoom(target);
  }

  function nextMatch(step) {
    var at = matches.indexOf(marked);
    if (matches.length === 0) return;
    if (at === -1) at = step > 0 ? -1 : 0;
    mark(matches[(at + step + matches.length) % matches.length]);
  }

  // The next frame in a direction: "in" is away from the root. Frames of a level are in the order of their x.
  function walk(direction) {
    var at = marked, best = -1;
    if (at === -1) return mark(zoomed);
    if (direction === "out") best = frames[at].parent;
    else frames.forEach(function (frame, i) {
      if (direction === "in" ? frame.parent === at : false) {
        if (best === -1 ? true : frame.weight > frames[best].weight) best = i;
      }
      if (frame.depth !== frames[at].depth) return;
      if (direction === "left" ? at > i : false) best = i;
      if (direction === "right" ? i > at : false) if (best === -1) best = i;
    });
    if (best >= 0) mark(best);
  }

  // --- the address ---

  function save() {
    var state = [];
    if (!isDocument || isLoading) return;
    if (zoomed > 0) state.push("zoom=" + zoomed);
    if (term !== null) state.push("search=" + encodeURIComponent(term));
    if (matchCase) state.push("case");
    history.replaceState(null, "", "#" + state.join(";"));
  }

  function load() {
    var state = {};
    location.hash.slice(1).split(";").forEach(function (part) {
      var at = part.indexOf("=");
      state[at > 0 ? part.slice(0, at) : part] = at > 0 ? decodeURIComponent(part.slice(at + 1)) : "1";
    });
    isLoading = true;
    setCase("case" in state);
    zoom(frames[state.zoom] ? Number(state.zoom) : 0);
    search(state.search);
    isLoading = false;
  }

  function askForTerm() {
    var answer;
    if (term !== null) return search(null);
    answer = window.prompt("Search for functions (regular expressions work):", "");
    if (answer) search(answer);
  }

  function setCase(value) {
    matchCase = value;
    caseButton.classList.toggle("on", matchCase);
    caseButton.setAttribute("aria-pressed", String(matchCase));
  }

  function switchCase() {
    setCase(!matchCase);
    search(term);
  }

  function act(target) {
    var group = target.closest("g.frame");
    if (group) zoom(groups.indexOf(group));
    else if (unzoom.contains(target)) zoom(0);
    else if (searchButton.contains(target)) askForTerm();
    else if (caseButton.contains(target)) switchCase();
    else return false;
    return true;
  }

  if (frames.length === 0) return;
  svg.addEventListener("click", function (event) { act(event.target); });
  svg.addEventListener("mouseover", function (event) {
    var group = event.target.closest("g.frame");
    tell(group ? groups.indexOf(group) : marked);
  });
  svg.addEventListener("mouseenter", function () { isInside = true; });
  svg.addEventListener("mouseleave", function () {
    isInside = false;
    tell(marked);
  });
  // Keys belong to the picture under the pointer, or that has the focus, or that is the whole document.
  window.addEventListener("keydown", function (event) {
    var mine = isInside || svg.contains(document.activeElement) || isDocument;
    var direction = { ArrowUp: isIcicle ? "out" : "in", ArrowDown: isIcicle ? "in" : "out",
                      ArrowLeft: "left", ArrowRight: "right" }[event.key];
    if (!mine) return;
    if (event.key === "Enter" || event.key === " ") {
      if (!act(event.target)) {
        if (marked === -1) return;
        zoom(marked);
      }
    } else if (event.altKey) return;
    else if (direction) walk(direction);
    else if (event.ctrlKey ? false : event.key === "n") nextMatch(1);
    else if (event.ctrlKey ? false : event.key === "N") nextMatch(-1);
    else if (event.key === "/") askForTerm();
    else if (event.key === "F3" || (event.ctrlKey ? event.key === "f" : false)) askForTerm();
    else if (event.ctrlKey ? event.key === "i" : false) switchCase();
    else if (event.key === "Escape") zoom(0);
    else return;
    event.preventDefault();
  });
  part("buttons").removeAttribute("display");
  // A few samples with very deep stacks make the picture high. If it is the document, start at the root, and keep
  // the elements above and below the frames visible.
  function follow() {
    var box = svg.getBoundingClientRect(), scale = number(svg, "width") / box.width;
    part("head").setAttribute("transform", "translate(0," + Math.max(0, -box.top) * scale + ")");
    part("foot").setAttribute("transform", "translate(0," + Math.min(0, window.innerHeight - box.bottom) * scale + ")");
  }
  if (isDocument) {
    svg.style.colorScheme = "light dark";
    svg.style.background = getComputedStyle(part("paper")).fill;
    load();
    window.addEventListener("hashchange", load);
    if (!isIcicle) part("foot").scrollIntoView({ block: "end" });
    window.addEventListener("scroll", follow);
    window.addEventListener("resize", follow);
    follow();
  }
})
