// @ts-check
// How arms of a verdict look: colour, shape and word say the same thing three times.
import { svg } from "./dom.js";

/** Paths around (0, 0). */
export const SHAPES = {
  in: "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0z",
  open: "M0-6L6 4.5H-6z",
  out: "M-4-4h8v8h-8z",
  control: "M0-6L6 0L0 6L-6 0z",
  beyond: "M0-7L6 5H-6z",
};

/** A mark to stand in text. @param {string} verdict */
export const icon = (verdict) => svg("svg", { viewBox: "-8 -8 16 16", "aria-hidden": "true" }, svg("path", { class: "mark", d: SHAPES[verdict] ?? SHAPES.out }));

const STATES = { running: "M-5-6L7 0L-5 6z", waiting: "M-6 0a6 6 0 1 0 12 0a6 6 0 1 0-12 0zM-3 0a3 3 0 1 1 6 0a3 3 0 1 1-6 0z", done: "M-7 0L-2 5L7-6L5-7.5L-2 1.5L-5-2z", failing: "M0-7L8 7H-8z" };
export const STATE_WORDS = { running: "running", waiting: "waiting for workers", done: "done", failing: "failing" };

/** A state as a shape and a word. @param {any} node @param {string} state */
export function tellState(node, state) {
  if (node.dataset.state === state) return;
  node.dataset.state = state;
  node.className = `state ${state}`;
  node.replaceChildren(svg("svg", { viewBox: "-8 -8 16 16", "aria-hidden": "true" }, svg("path", { d: STATES[state], fill: "currentColor" })), STATE_WORDS[state] ?? state);
}
