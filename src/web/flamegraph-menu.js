// SPDX-License-Identifier: GPL-3.0-or-later

/* What can be done with one function, as a menu and, for actions with an ID, as buttons that are always visible. An action
 * has words, keys and a function `run`. `onDone` gets the action that was chosen, or null if the menu was left. */
function FlameMenu(menu, bar, actions, onDone) {
  "use strict";

  function buttonOf(action) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = action.words;
    button.addEventListener("click", () => {
      menu.hidden = true;
      onDone(action);
    });
    return button;
  }

  function leave() {
    if (menu.hidden) return;
    menu.hidden = true;
    onDone(null);
  }

  function onKey(event) {
    const items = [...menu.children], step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) items[(items.indexOf(document.activeElement) + step + items.length) % items.length].focus();
    else if (event.key === "Escape" || event.key === "Tab") leave();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  for (const action of actions) {
    const item = buttonOf(action), keys = document.createElement("kbd");
    item.setAttribute("role", "menuitem");
    keys.textContent = action.keys;
    item.append(keys);
    menu.append(item);
    if (!action.id) continue;
    const button = buttonOf(action);
    button.id = action.id;
    button.title = `${action.words} (${action.keys})`;
    bar.append(button);
  }
  menu.addEventListener("keydown", onKey);
  document.addEventListener("pointerdown", (event) => menu.contains(event.target) || leave());

  return { focus: () => menu.firstElementChild.focus() };
}
