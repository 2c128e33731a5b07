// @ts-check
// Tabs: one panel at a time, arrow keys between them, and the address remembers which.
import { byId } from "./dom.js";

/** @param {any} list @param {(name: string) => void} opened */
export function tabs(list, opened) {
  const all = /** @type {any[]} */ ([...list.querySelectorAll("[role=tab]")]);
  function open(tab, focus = false) {
    for (const each of all) {
      const chosen = each === tab;
      each.setAttribute("aria-selected", String(chosen));
      each.tabIndex = chosen ? 0 : -1;
      byId(each.getAttribute("aria-controls")).hidden = !chosen;
    }
    if (focus) tab.focus();
    opened(tab.dataset.name);
  }
  for (const tab of all) tab.addEventListener("click", () => { history.replaceState(null, "", `#${tab.dataset.name}`); open(tab); });
  list.addEventListener("keydown", (event) => {
    const at = all.indexOf(event.target), step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const next = event.key === "Home" ? all[0] : event.key === "End" ? all[all.length - 1] : step ? all[(at + step + all.length) % all.length] : null;
    if (next) { event.preventDefault(); open(next, true); }
  });
  open(all.find((tab) => `#${tab.dataset.name}` === location.hash) ?? all[0]);
}
