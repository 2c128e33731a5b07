// @ts-check
// Numbers as text, as tables in a terminal have them: never more than was proved, so ends of intervals are rounded outwards.

/** @typedef {[number, boolean]} Digits  places after the point, and whether powers of ten are written */

/**
 * One number; a dash where there is none. `toward` is -1 to round down, 1 to round up.
 * @param {number|null} value @param {Digits} digits @param {number} [toward] @returns {string}
 */
export function write(value, [places, scientific], toward = 0) {
  if (value === null || value === undefined) return "-";
  if (value === 0) return (0).toFixed(scientific ? 0 : places);
  if (scientific || Math.abs(value) >= 1e15) return power(rounded(value, places - exponent(value), toward), places);
  const near = rounded(value, places, toward);
  return (near === 0 ? 0 : near).toFixed(Math.min(places, 20));
}

const exponent = (value) => Math.floor(Math.log10(Math.abs(value)));
const power = (value, places) => value.toExponential(places).replace(/e([+-])(\d)$/, "e$1$2");

/** To so many places; a last digit that is mere rounding in the computer does not count. */
function rounded(value, places, toward) {
  const unit = 10 ** places, many = value * unit;
  const slack = Math.abs(many) * 1e-12 + 1e-9;
  const whole = toward < 0 ? Math.floor(many + slack) : toward > 0 ? Math.ceil(many - slack) : Math.round(many);
  return whole / unit;
}

/** An interval. @param {number|null} low @param {number|null} high @param {Digits} digits */
export function interval(low, high, digits) {
  if (low === null && high === null) return "not known";
  return `${low === null ? "-inf" : write(low, digits, -1)} to ${high === null ? "inf" : write(high, digits, 1)}`;
}

const commas = new Intl.NumberFormat("en-US"), time = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" }), date = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });

/** A count, with commas. @param {number|null|undefined} value */
export const count = (value) => value === null || value === undefined ? "-" : value < 1000 && value >= 0 ? String(value) : commas.format(value);

/** A number in four digits. @param {number|null|undefined} value */
export const brief = (value) => value === null || value === undefined ? "-" : Math.abs(value) >= 1e4 && Number.isInteger(value) ? count(value) : String(Number(value.toPrecision(4)));

/** A tolerance, never smaller than the one proved. @param {number|null} value */
export function roundUp(value) {
  if (value === null || value === undefined) return "-";
  if (!value) return "0";
  return String(Number(rounded(value, 2 - exponent(value), 1).toPrecision(3)));
}

/** A part in per cent; what is nearly all is not all. @param {number} share */
export const perCent = (share) => `${share >= 1 ? 100 : Math.min(Math.floor(100 * share), 99)} %`;

/** One of a noun, or several. @param {number} number @param {string} noun @param {string} [several] */
export const plural = (number, noun, several = `${noun}s`) => `${count(number)} ${number === 1 ? noun : several}`;

/** Seconds in words. @param {number} seconds */
export function duration(seconds) {
  const rest = Math.max(Math.round(seconds), 0);
  if (rest < 100) return `${rest} s`;
  if (rest < 6000) return `${Math.round(rest / 60)} min`;
  return rest < 172800 ? `${Math.round(rest / 3600)} h` : `${Math.round(rest / 86400)} days`;
}

/** How long ago. @param {string|null} moment @param {number} [now] */
export function ago(moment, now = Date.now()) {
  if (!moment) return "-";
  const seconds = (now - Date.parse(moment)) / 1000;
  return seconds < 2 ? "just now" : `${duration(seconds)} ago`;
}

/** A moment in the reader's own time. @param {string} moment */
export const clock = (moment) => time.format(new Date(moment));

/** The same with the day. @param {string} moment */
export const day = (moment) => date.format(new Date(moment));
