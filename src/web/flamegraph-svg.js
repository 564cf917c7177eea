// SPDX-License-Identifier: GPL-3.0-or-later
// The script of an interactive SVG. Sites that embed pictures strip CDATA, so this file must not contain the less-than
// sign or the ampersand, not even in comments (embed.py refuses them). A page may have several pictures: the script
// only uses elements of the picture that contains it. The renderer appends the argument list.
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
  var unzoom = part("unzoom"), searchButton = part("search"), caseButton = part("ic");
  var ignoreCase = false, term = null, zoomed = 0, isInside = false;

  // A title has the name, the weight, and possibly a line with the source location, which does not end in a bracket.
  function nameOf(title) {
    var parts = /^([^]*) \([^()]*%\)(?:\n.*)?$/.exec(title);
    return parts ? parts[1] : title.slice(0, title.lastIndexOf(" ("));
  }

  // Frames are in depth-first order, so their depth is enough to find callers and callees.
  var open = [];
  var frames = groups.map(function (group, i) {
    var rect = group.querySelector("rect"), text = group.querySelector("text"); // missing if nothing fits
    var title = group.querySelector("title").textContent;
    var frame = { group: group, rect: rect, text: text, title: title,
                  name: nameOf(title), weight: number(group, "data-w"),
                  x: number(rect, "x"), width: number(rect, "width"), y: number(rect, "y"),
                  fill: rect.getAttribute("fill"), parent: -1, end: 0 };
    return frame;
  });
  frames.forEach(function (frame, i) {
    frame.depth = Math.round(Math.abs(frame.y - frames[0].y) / rowHeight);
    while (open.length > frame.depth) frames[open.pop()].end = i;
    if (frame.depth > 0) frame.parent = open[frame.depth - 1];
    open.push(i);
  });
  while (open.length > 0) frames[open.pop()].end = frames.length;

  function fitted(name, width) {
    var room = Math.floor((width - 6) / charWidth);
    var letters = Array.from(ShortName.of(name, room).slice(0, 2 * Math.max(room, 0) + 4));
    if (3 > room) return "";
    return letters.length > room ? letters.slice(0, room - 2).join("") + ".." : letters.join("");
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
  }

  function pattern(source) {
    var flags = ignoreCase ? "i" : "";
    try {
      return new RegExp(source, flags);
    } catch (error) {
      return new RegExp(source.replace(/[\\^$.*+?()[\]{}|]/g, "\\$" + "\u0026"), flags);
    }
  }

  function search(source) {
    var wanted, sum = 0, covered = 0;
    term = source ? source : null;
    svg.classList.toggle("searched", term !== null);
    searchButton.textContent = term === null ? "Search" : "Reset Search";
    wanted = term === null ? null : pattern(term);
    frames.forEach(function (frame, i) {
      var hit = wanted === null ? false : wanted.test(frame.name);
      frame.rect.setAttribute("fill", hit ? "rgb(230,0,230)" : frame.fill);
      if (!hit) return;
      if (covered > i) return; // inside a match that is counted
      sum += frame.weight;
      covered = frame.end;
    });
    matched.textContent = term === null ? "" :
      "Matched: " + (frames[0].weight > 0 ? 100 * sum / frames[0].weight : 0).toFixed(2) + "%";
  }

  function askForTerm() {
    var answer;
    if (term !== null) return search(null);
    answer = window.prompt("Search for functions (regular expressions work):", "");
    if (answer) search(answer);
  }

  function switchCase() {
    ignoreCase = !ignoreCase;
    caseButton.classList.toggle("on", ignoreCase);
    caseButton.setAttribute("aria-pressed", String(ignoreCase));
    if (term !== null) search(term);
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
    details.textContent = group ? "Function: " + frames[groups.indexOf(group)].title.slice(0, 2000) : "";
  });
  svg.addEventListener("mouseenter", function () { isInside = true; });
  svg.addEventListener("mouseleave", function () {
    isInside = false;
    details.textContent = "";
  });
  // Keys belong to the picture under the pointer, or that has the focus, or that is the whole document.
  window.addEventListener("keydown", function (event) {
    var mine = isInside || svg.contains(document.activeElement) || document.documentElement === svg;
    if (!mine) return;
    if (event.key === "Enter") {
      if (!act(event.target)) return;
    } else if (event.key === "F3" || (event.ctrlKey ? event.key === "f" : false)) askForTerm();
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
  if (document.documentElement === svg) {
    svg.style.background = part("paper").getAttribute("fill");
    if (frames.some(function (frame) { return frames[0].y > frame.y; })) part("foot").scrollIntoView({ block: "end" });
    window.addEventListener("scroll", follow);
    window.addEventListener("resize", follow);
    follow();
  }
})
