// @ts-check
// Axes: limits in which what decides can be seen, and numbers at round places.
import { count } from "./format.js";

const REACH = 0.75, MARGIN = 0.06, SQUEEZED = 3, WON = 2, FEW = 4, WIDE = 5, OVERLAPPING = 1, VACUOUS = 40, INSIDE = 0.015;

/** @typedef {[number|null, number|null]} Interval */
/** @typedef {[number, number]} Limits */

const isKnown = (value) => value !== null && value !== undefined;

/**
 * Limits of an axis: all estimates, and of the intervals as much as leaves the estimates readable. As figures have it.
 * @param {number[]} estimates @param {Interval[]} intervals @param {Interval} possible @returns {Limits}
 */
export function window_(estimates, intervals, possible) {
  if (!estimates.length) return [0, 1];
  const low = Math.min(...estimates), high = Math.max(...estimates);
  const width = ([from, to]) => isKnown(from) && isKnown(to) ? to - from : Infinity;
  const widths = intervals.map(width).filter((each) => each > 0).sort((a, b) => a - b);
  const typical = widths.length ? widths[(widths.length - 1) >> 1] : 0;
  const telling = intervals.filter((each) => width(each) <= WIDE * typical);
  const finite = widths.filter(Number.isFinite);
  const scale = (high - low) || finite[0] || Math.abs(low) || 1;
  const overlapping = OVERLAPPING * (high - low) < typical && typical < VACUOUS * (high - low);
  const reach = overlapping ? 0.5 * WIDE * typical : REACH * scale;
  let left = Math.max(Math.min(low, ...telling.map(([from]) => isKnown(from) ? /** @type {number} */ (from) : low - reach)), low - reach);
  let right = Math.min(Math.max(high, ...telling.map(([, to]) => isKnown(to) ? /** @type {number} */ (to) : high + reach)), high + reach);
  const least = possible[0] ?? -Infinity, most = possible[1] ?? Infinity;
  left = Math.max(left, Math.min(least, low));
  right = Math.min(right, Math.max(most, high));
  if (right - left <= Math.max(1e-9 * Math.max(Math.abs(left), Math.abs(right)), 1e-300)) {
    left -= Math.abs(left) || 1;
    right += Math.abs(right) || 1;
  }
  const margin = MARGIN * (right - left);
  return [left - margin >= least || low <= least ? left - margin : least, right + margin <= most || high >= most ? right + margin : most];
}

/**
 * The same without a few estimates far out, if much is won by that.
 * @param {number[]} estimates @param {Interval[]} intervals @param {Set<number>} important @param {Interval} possible @returns {Limits}
 */
export function limits(estimates, intervals, important, possible) {
  const whole = window_(estimates, intervals, possible), far = farOut(estimates, important);
  if (!far.size) return whole;
  const near = estimates.map((_, place) => place).filter((place) => !far.has(place));
  const part = window_(near.map((place) => estimates[place]), near.map((place) => intervals[place]), possible);
  return whole[1] - whole[0] > WON * (part[1] - part[0]) ? part : whole;
}

/** The places of a few values without which all others could be seen much better. @param {number[]} values @param {Set<number>} important */
export function farOut(values, important) {
  const order = values.map((_, place) => place).sort((a, b) => values[a] - values[b]);
  const most = Math.max(Math.floor(values.length / FEW), values.length > 2 ? 1 : 0);
  let kept = order;
  for (;;) {
    const span = kept.length ? values[kept[kept.length - 1]] - values[kept[0]] : 0;
    const room = most - (values.length - kept.length);
    let found = /** @type {number[]|null} */ (null);
    for (let count = 1; count <= room && !found; count += 1) {
      for (const [ends, rest] of [[kept.slice(0, count), kept.slice(count)], [kept.slice(-count), kept.slice(0, -count)]]) {
        if (found || !rest.length || ends.some((place) => important.has(place))) continue;
        if (SQUEEZED * (values[rest[rest.length - 1]] - values[rest[0]]) < span) found = ends;
      }
    }
    if (!found) return new Set(order.filter((place) => !kept.includes(place)));
    const gone = new Set(found);
    kept = kept.filter((place) => !gone.has(place));
  }
}

/** Where a value is drawn, at the border if it is beyond, and on which side. @param {number} value @param {Limits} range @returns {[number, number]} */
export function broughtInside(value, [low, high]) {
  const side = value < low ? -1 : value > high ? 1 : 0, inside = INSIDE * (high - low);
  return side === 0 ? [value, 0] : [side < 0 ? low + inside : high - inside, side];
}

/** Round numbers between two. @param {number} low @param {number} high @param {number} most @returns {number[]} */
export function ticks(low, high, most) {
  const span = high - low;
  if (!(span > 0)) return [low];
  const unit = 10 ** Math.floor(Math.log10(span / most));
  const step = ([1, 2, 5, 10].find((each) => span / (each * unit) <= most) ?? 10) * unit;
  const found = [];
  for (let place = Math.ceil(low / step - 1e-9); place * step <= high + 1e-9 * span; place += 1) found.push(Number((place * step).toPrecision(12)));
  return found;
}

/** Round numbers of a logarithmic axis. @param {number} low @param {number} high @returns {number[]} */
export function logTicks(low, high) {
  const first = Math.floor(Math.log10(low)), last = Math.ceil(Math.log10(high)), many = last - first > 3;
  const found = [];
  for (let power = first; power <= last; power += 1) for (const each of many ? [1] : [1, 2, 5]) found.push(Number(`${each}e${power}`));
  return found.filter((each) => each >= low * 0.999 && each <= high * 1.001);
}

/** How the numbers at an axis are written: all to the same place. @param {number[]} values */
export function tickText(values) {
  const size = Math.max(...values.map(Math.abs));
  if (size !== 0 && (size < 1e-3 || size >= 1e7)) return (value) => value === 0 ? "0" : value.toExponential(1).replace(".0e", "e");
  const places = Math.max(0, ...values.map((value) => (String(value).split(".")[1] ?? "").length));
  return (value) => places ? value.toFixed(places) : count(value);
}
