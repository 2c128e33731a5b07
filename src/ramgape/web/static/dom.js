// @ts-check
// Elements and their text. Strangers' text (names of arms, reasons) only ever becomes text, never markup.

const SVG = "http://www.w3.org/2000/svg";

/** How many nodes were made so far: a redraw makes none. */
export const made = { nodes: 0 };

/** @param {string} id @returns {any} */
export const byId = (id) => document.getElementById(id);

/**
 * An element with attributes and children.
 * @param {string} tag @param {Record<string, any>} [attributes] @param {...(Node|string)} children @returns {any}
 */
export function el(tag, attributes = {}, ...children) {
  made.nodes += 1;
  return fill(document.createElement(tag), attributes, children);
}

/**
 * The same in a drawing.
 * @param {string} tag @param {Record<string, any>} [attributes] @param {...(Node|string)} children @returns {any}
 */
export function svg(tag, attributes = {}, ...children) {
  made.nodes += 1;
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children);
  return node;
}

/** Set attributes, but only those that differ: to set one costs layout. @param {any} node @param {Record<string, any>} attributes */
export function set(node, attributes) {
  const known = node.known ??= {};
  for (const name in attributes) {
    const value = attributes[name];
    if (known[name] === value) continue;
    known[name] = value;
    if (value === null || value === false) node.removeAttribute(name);
    else node.setAttribute(name, value);
  }
}

/** Set a text, if it differs. @param {any} node @param {string|number|null|undefined} text */
export function say(node, text) {
  const words = text === null || text === undefined ? "" : String(text);
  if (node.said === words) return;
  node.said = words;
  node.textContent = words;
}

/** Show or hide. @param {any} node @param {boolean} shown */
export function show(node, shown) {
  if (node.hidden === shown) node.hidden = !shown;
}

/**
 * As many nodes of a kind as needed: those that are there are used again, the rest is hidden.
 * @param {any} parent @param {number} count @param {() => any} make @returns {any[]}
 */
export function pool(parent, count, make) {
  const nodes = parent.pool ??= [];
  while (nodes.length < count) {
    const node = make();
    nodes.push(node);
    parent.append(node);
  }
  nodes.forEach((node, place) => set(node, { visibility: place < count ? null : "hidden" }));
  return nodes;
}

/** Have a parent's children be these, in this order, with as few moves as it takes. @param {any} parent @param {any[]} nodes */
export function arrange(parent, nodes) {
  nodes.forEach((node, at) => { if (parent.children[at] !== node) parent.insertBefore(node, parent.children[at] ?? null); });
  while (parent.children.length > nodes.length) parent.lastChild.remove();
}

/** A number that is kept in this browser. @param {string} name @param {string} [value] @returns {string|null} */
export function kept(name, value) {
  try {
    if (value !== undefined) localStorage.setItem(`ramgape-${name}`, value);
    return localStorage.getItem(`ramgape-${name}`);
  } catch { return null; }
}

const widths = new WeakMap(), heeded = new Set();
const observer = new ResizeObserver((entries) => {
  for (const { target, contentRect } of entries) widths.set(target, contentRect.width);
  for (const heed of heeded) heed();
});

/**
 * How wide an element is: known without asking for a layout in the middle of a drawing.
 * @param {any} node @param {number} least
 */
export function widthOf(node, least) {
  if (!widths.has(node)) {
    widths.set(node, node.clientWidth);
    observer.observe(node);
  }
  return Math.max(Math.round(widths.get(node)), least);
}

/** Call when an element that is drawn in has another width. @param {() => void} heed */
export const onResize = (heed) => heeded.add(heed);
