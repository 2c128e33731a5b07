// @ts-check
// The grid of a drawing, its numbers and the words at its sides; nodes are used again.
import { pool, say, set, svg } from "./dom.js";
import { tickText } from "./ticks.js";

/**
 * @typedef {{width: number, height: number, left: number, right: number, top: number, bottom: number}} Room
 * @typedef {{low: number, high: number, at: number[], label: string, log?: boolean, turned?: boolean, text?: (value: number) => string}} Axis
 */

/** From numbers to pixels. @param {Axis} axis @param {number} start @param {number} end */
export function scale(axis, start, end) {
  const of = axis.log ? Math.log : (value) => value;
  const low = of(axis.low), span = (of(axis.high) - low) || 1;
  return axis.turned ? (value) => end - (of(value) - low) / span * (end - start) : (value) => start + (of(value) - low) / span * (end - start);
}

/**
 * Draw a grid; returns where numbers are.
 * @param {any} root  A group for it alone.
 * @param {Room} room @param {Axis} across @param {Axis} up
 */
export function axes(root, room, across, up) {
  const { width, height, left, right, top, bottom } = room, low = height - bottom, far = width - right;
  const x = scale(across, left, far), y = scale(up, low, top);
  root.parts ??= { across: svg("g"), up: svg("g"), texts: svg("g"), below: svg("text", { "text-anchor": "middle" }), beside: svg("text", { "text-anchor": "middle" }) };
  const { parts } = root;
  if (!parts.across.parentNode) root.append(parts.across, parts.up, parts.texts, parts.below, parts.beside);
  const lineMaker = () => svg("line", { class: "grid" }), textMaker = () => svg("text", { class: "tick" });
  const vertical = pool(parts.across, across.at.length, lineMaker), horizontal = pool(parts.up, up.at.length, lineMaker);
  const texts = pool(parts.texts, across.at.length + up.at.length, textMaker);
  const [below, beside] = [across.text ?? tickText(across.at), up.text ?? tickText(up.at)];
  across.at.forEach((value, place) => {
    set(vertical[place], { x1: x(value), x2: x(value), y1: top, y2: low });
    set(texts[place], { x: x(value), y: low + 15, "text-anchor": "middle" });
    say(texts[place], below(value));
  });
  up.at.forEach((value, place) => {
    set(horizontal[place], { x1: left, x2: far, y1: y(value), y2: y(value) });
    const text = texts[across.at.length + place];
    set(text, { x: left - 6, y: y(value) + 4, "text-anchor": "end" });
    say(text, beside(value));
  });
  set(parts.below, { x: (left + far) / 2, y: height - 4 });
  say(parts.below, across.label);
  set(parts.beside, { transform: `translate(12 ${(top + low) / 2}) rotate(-90)` });
  say(parts.beside, up.label);
  return { x, y, low, far };
}

/** A path through points. @param {[number, number][]} points */
export const path = (points) => points.length ? `M${points.map(([x, y]) => `${Math.round(10 * x) / 10} ${Math.round(10 * y) / 10}`).join("L")}` : "M0 0";
