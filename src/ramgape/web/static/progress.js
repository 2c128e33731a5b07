// @ts-check
// How far it is: the uncertainty and the tolerance that it must fall below, or the arms that are not proved yet; with a forecast.
import { axes, path } from "./axes.js";
import { say, set, show, svg, widthOf as roomOf } from "./dom.js";
import { brief, count, roundUp } from "./format.js";
import { widthOf } from "./labels.js";
import { logTicks, ticks } from "./ticks.js";

const LEAST = 1e-6;

class Curve {
  /** @param {any} root */
  constructor(root) {
    this.root = root;
    this.grid = svg("g");
    this.faint = svg("path", { class: "line-faint" });
    this.main = svg("path", { class: "line-main" });
    this.goal = svg("line", { class: "line-goal" });
    this.forecast = svg("path", { class: "line-forecast" });
    this.goalText = svg("text", { class: "goal halo" });
    this.endText = svg("text", { class: "forecast halo", "text-anchor": "end" });
    root.append(this.grid, this.faint, this.goal, this.main, this.forecast, this.goalText, this.endText);
  }

  /** @param {{told: number[], main: (number|null)[], faint: (number|null)[]|null, goal: number|null, goalWords: string, end: number|null, endWords: string, up: any, height: number, steps: boolean}} what */
  draw({ told, main, faint, goal, goalWords, end, endWords, up, height, steps }) {
    const width = roomOf(this.root, 240), last = told[told.length - 1] ?? 1, most = Math.max(end ?? 0, last, 1);
    set(this.root, { viewBox: `0 0 ${width} ${height}`, height });
    const room = { width, height, left: 54, right: 14, top: 8, bottom: 36 };
    const { x, y } = axes(this.grid, room, { low: 0, high: most, at: ticks(0, most, width < 420 ? 4 : 6), label: "trials" }, up);
    const points = (values) => told.flatMap((at, place) => values[place] === null ? [] : [[x(at), y(Math.max(values[place], up.low))]]);
    const found = points(main);
    const stepped = steps ? found.flatMap(([a, b], at) => at ? [[a, found[at - 1][1]], [a, b]] : [[a, b]]) : found;
    set(this.main, { d: path(/** @type {any} */ (stepped)) });
    set(this.faint, { visibility: faint ? null : "hidden", d: faint ? path(/** @type {any} */ (points(faint))) : "M0 0" });
    const level = goal === null ? null : y(Math.max(goal, up.low));
    set(this.goal, { visibility: level === null ? "hidden" : null, x1: room.left, x2: width - room.right, y1: level ?? 0, y2: level ?? 0 });
    set(this.goalText, { visibility: level === null ? "hidden" : null, x: room.left + 4, y: (level ?? 0) - 5 });
    say(this.goalText, goalWords);
    const from = found[found.length - 1];
    const expected = end !== null && from !== undefined && level !== null;
    set(this.forecast, { visibility: expected ? null : "hidden", d: expected ? path([/** @type {any} */ (from), [x(end), level]]) : "M0 0" });
    const room_ = widthOf(endWords, "12px system-ui");
    set(this.endText, { visibility: expected ? null : "hidden", x: Math.max(expected ? x(end) : 0, room.left + room_), y: expected ? Math.max((level + from[1]) / 2 - 8, room.top + 12) : 0 });
    say(this.endText, endWords);
  }
}

export class Progress {
  /** @param {{doubt: any, open: any, words: any}} nodes */
  constructor(nodes) {
    this.nodes = nodes;
    this.doubt = new Curve(nodes.doubt);
    this.open = new Curve(nodes.open);
  }

  /** @param {any} frame @param {any} picture @param {any} past */
  draw(frame, picture, past) {
    const budget = frame.goal.kind === "budget", pairs = picture.unproved !== null;
    const expected = picture.done || !picture.expected ? null : picture.expected;
    const end = expected ? past.told[past.told.length - 1] + expected[0] : null;
    const endWords = expected ? `${expected[1] ? "at least" : "about"} ${count(coarse(expected[0]))} more` : "";
    const enough = past.told.length > 1;
    show(this.nodes.open.parentNode, !budget && pairs && enough);
    show(this.nodes.doubt.parentNode, !budget && enough);
    say(this.nodes.words, words(frame, picture, past, enough));
    const key = [past.told.length, past.told[past.told.length - 1], past.told[0], end, endWords, picture.epsilon, roomOf(this.nodes.doubt, 240)].join("|");
    if (budget || !enough || this.key === key) return;
    this.key = key;
    if (pairs) {
      const most = frame.arms.length;
      this.open.draw({ told: past.told, main: past.unproved, faint: null, goal: 0, goalWords: "", end, endWords, height: 170, steps: true,
        up: { low: 0, high: most, at: ticks(0, most, 4).filter(Number.isInteger), label: "arms to prove" } });
    }
    const epsilon = picture.epsilon || null, seen = past.doubt.filter((each) => each !== null && each > 0);
    const low = Math.max(Math.min(...seen, epsilon ?? Infinity) * 0.8, LEAST), high = Math.max(...seen, epsilon ?? 0, low * 2) * 1.1;
    let least = Infinity;
    const main = past.doubt.map((each) => each === null ? null : (least = Math.min(least, Math.max(each, 0))));
    const axis = logTicks(low, high);
    this.doubt.draw({ told: past.told, main, faint: past.doubt, goal: epsilon, goalWords: epsilon ? `tolerance ${brief(epsilon)}` : "", end: pairs ? null : end, endWords: pairs ? "" : endWords, height: pairs ? 150 : 210, steps: false,
      up: { low, high, at: axis, label: "uncertainty", log: true, text: (value) => String(Number(value.toPrecision(2))) } });
  }
}

/** In as many digits as such a guess is worth. @param {number} number */
const coarse = (number) => { const unit = 10 ** Math.max(String(number).length - 2, 0); return Math.round(number / unit) * unit; };

/** The drawing in words. */
function words(frame, picture, past, enough) {
  if (frame.goal.kind === "budget") return picture.done ? "The budget is used." : `${picture.standing}.`;
  if (!enough) return !picture.begun ? "Not enough yet: each arm needs its first trials." : past.complete ? "There is only one moment to show so far." : "Reading how it came here.";
  const so = picture.least === null ? "" : `The least uncertainty so far is ${roundUp(Math.max(picture.least, 0))}${picture.relative ? " times the tolerances" : picture.epsilon ? `, the tolerance ${brief(picture.epsilon)}` : ""}. `;
  if (picture.unproved !== null) return `${picture.done ? "" : `${picture.standing[0].toUpperCase()}${picture.standing.slice(1)}; it ends when it is missing for none. `}${so}`;
  return `${so}It ends when the uncertainty is below the tolerance${picture.done ? "" : "; dotted is what is expected"}.`;
}
