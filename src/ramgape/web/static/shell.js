// @ts-check
// What all pages have: the switch for light and dark, buttons that copy, keys.
import { byId, el, kept, say } from "./dom.js";
import { HOME, get } from "./api.js";

/** The switch for light and dark. */
export function theme() {
  const button = byId("theme"), root = document.documentElement;
  const dark = () => root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const tell = () => button.setAttribute("aria-label", dark() ? "Switch to light colours" : "Switch to dark colours");
  button.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    kept("theme", root.dataset.theme);
    tell();
  });
  tell();
}

/** Copy a text, and say so on the button. @param {any} button @param {string} text */
export async function copy(button, text) {
  const before = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Not allowed";
  }
  setTimeout(() => { button.textContent = before; }, 1500);
}

/** A block of code with a button that copies it. @param {string} text @param {string} what */
export function code(text, what) {
  const button = el("button", { type: "button", "aria-label": `Copy ${what}` }, "Copy");
  button.addEventListener("click", () => copy(button, text));
  return el("div", { class: "code" }, el("pre", { tabindex: "0", "aria-label": what }, text), button);
}

/** Close menus when one clicks elsewhere, or presses Escape. */
export function menus() {
  document.addEventListener("click", (event) => {
    for (const menu of document.querySelectorAll("details.menu[open]")) if (!menu.contains(/** @type {Node} */ (event.target))) menu.removeAttribute("open");
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") for (const menu of document.querySelectorAll("details.menu[open]")) menu.removeAttribute("open");
  });
}

/** Who looks, and at what. */
export async function whoami() {
  const known = await get("");
  say(byId("who"), `ramgape ${known.version}, ${known.storage}${known.name ? `, seen by ${known.name}` : ""}. This page only looks: studies are changed by the Python client, the shell or the API, with a token.`);
  return known;
}

/** Whoever comes with a code in the address goes to log in with it; tells whether that is so. */
export function arrive() {
  const asked = new URLSearchParams(location.search), code = asked.get("code");
  if (!code) return false;
  asked.delete("code");
  const next = location.pathname + (asked.size ? `?${asked}` : "");
  location.replace(`${HOME}login?${new URLSearchParams({ next })}#code=${encodeURIComponent(code)}`);
  return true;
}
