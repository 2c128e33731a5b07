// @ts-check
// The arms in the plane of mean and risk, with arrows from dropped arms to those that beat them; confidence regions on demand.
import { axes, path } from "./axes.js";
import { pool, say, set, svg, widthOf as roomOf } from "./dom.js";
import { brief, count, interval, write } from "./format.js";
import { cut, place, widthOf } from "./labels.js";
import { SHAPES } from "./marks.js";
import { broughtInside, limits, ticks } from "./ticks.js";

const CROWD = 30, STILL = 40, NAMED = 60, NAME = 26, ROOMY = 1.4;
const FONT = "600 12px system-ui, sans-serif";

const tenth = (value) => Math.round(10 * value) / 10;

/** Which of several limits to keep: those that were, unless they are too narrow now, or far too wide: else all would tremble. */
function steady(before, now, anew) {
  if (!before || anew) return now;
  const fits = before[0] <= now[0] + 1e-12 && before[1] >= now[1] - 1e-12;
  return fits && before[1] - before[0] <= ROOMY * (now[1] - now[0]) ? before : now;
}

/** The corners of the front of the estimates. @param {any[]} arms @param {number} side  1 where more mean is better. @param {number} safe  1 where less of the risk that is shown is better. */
export function stairs(arms, side, safe) {
  const sorted = [...arms].sort((a, b) => safe * (a.risk - b.risk) || side * (b.mean - a.mean));
  /** @type {[number, number][]} */
  const corners = [];
  for (const arm of sorted) {
    const last = corners[corners.length - 1];
    if (!last) corners.push([arm.mean, arm.risk]);
    else if (side * arm.mean > side * last[0]) corners.push([last[0], arm.risk], [arm.mean, arm.risk]);
  }
  return corners;
}

export class Plane {
  /** @param {any} root  The svg. @param {(name: string|null) => void} select */
  constructor(root, select) {
    this.root = root;
    this.select = select;
    this.nodes = new Map();
    this.range = /** @type {any} */ (null);
    this.grid = svg("g");
    this.lines = svg("g");
    this.stairs = svg("path", { class: "stairs" });
    this.arrows = svg("g");
    this.worse = svg("path", { class: "worse" });
    this.ceiling = svg("line", { class: "ceiling" });
    this.ceilingText = svg("text", { class: "tick halo", "text-anchor": "end" });
    this.goesBy = svg("g");
    this.goesByText = svg("g");
    this.size = svg("path", { class: "scale" });
    this.sizeText = svg("text", { class: "tick halo", "text-anchor": "end" });
    this.lines.append(this.worse, this.stairs, this.goesBy, this.ceiling, this.ceilingText, this.size, this.sizeText, this.arrows);
    this.arms = svg("g");
    this.names = svg("g");
    this.border = svg("rect");
    root.append(svg("defs", {}, svg("clipPath", { id: "plot" }, this.border), svg("marker", { id: "head", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" }, svg("path", { class: "head", d: "M0 0L8 4L0 8z" }))), this.grid, this.lines, this.arms, this.names, this.goesByText);
    root.addEventListener("keydown", (event) => this.key(event));
    this.shown = /** @type {any[]} */ ([]);
  }

  /** The nodes of an arm, made once. @param {any} arm */
  nodesOf(arm) {
    let node = this.nodes.get(arm.name);
    if (node) return node;
    node = {
      focus: svg("circle", { class: "focus", r: 11 }), box: svg("rect", { class: "box", "clip-path": "url(#plot)" }), mark: svg("path", { class: "mark" }),
      ring: svg("circle", { class: "ring", r: 9 }), chosen: svg("circle", { class: "chosen", r: 13 }), leader: svg("line", { class: "leader" }), name: svg("text", { class: "name halo", "text-anchor": "middle" }), more: svg("text", { class: "name halo", "text-anchor": "middle" }),
    };
    node.group = svg("g", { class: "arm", role: "button", tabindex: "-1" }, node.box, node.focus, node.ring, node.chosen, node.mark);
    node.label = svg("g", { class: "arm", "aria-hidden": "true" }, node.leader, node.name, node.more);
    for (const each of [node.group, node.label]) each.addEventListener("click", () => this.select(this.selected === arm.name ? null : arm.name));
    this.arms.append(node.group);
    this.names.append(node.label);
    this.nodes.set(arm.name, node);
    return node;
  }

  /** Arrow keys go from arm to arm, in the order of their means. @param {KeyboardEvent} event */
  key(event) {
    const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
    const order = [...this.shown].sort((a, b) => a.mean - b.mean);
    const at = order.findIndex((arm) => this.nodes.get(arm.name).group === event.target);
    if (at < 0) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.select(this.selected === order[at].name ? null : order[at].name);
    } else if (event.key === "Escape") this.select(null);
    else if (step) {
      event.preventDefault();
      const next = order[(at + step + order.length) % order.length];
      this.nodes.get(next.name).group.focus();
      this.select(next.name);
    }
  }

  /**
   * @param {any} frame @param {any} picture @param {any[]} arms
   * @param {{regions: boolean, hideOut: boolean, selected: string|null, chosen: string|null, ceiling: number|null}} how
   */
  draw(frame, picture, arms, how) {
    this.selected = how.selected;
    const width = roomOf(this.root, 260), height = Math.round(width < 520 ? 0.95 * width : Math.min(0.68 * width, 660));
    const known = arms.filter((arm) => arm.mean !== null && arm.risk !== null && picture.begun);
    const shown = this.shown = known.filter((arm) => !how.hideOut || arm.verdict !== "out" || arm.name === how.selected);
    set(this.root, { viewBox: `0 0 ${width} ${height}`, height, class: `${how.regions ? "regions" : "points"}${shown.length > CROWD ? " crowd" : ""}` });
    const spot = this.scales(frame, picture, shown, { width, height, left: width < 520 ? 50 : 58, right: 12, top: 10, bottom: 38 }, how);
    set(this.arms, { class: shown.length > STILL ? "" : "moves" });
    this.background(frame, picture, known, shown, spot, how);
    const placed = shown.map((arm) => this.arm(frame, picture, arm, spot, how));
    const there = new Set(shown.map((arm) => arm.name));
    for (const [name, node] of this.nodes) if (!there.has(name)) for (const each of [node.group, node.label]) set(each, { display: "none" });
    this.write(shown, placed, spot, { ...how, labels: picture.relative ? [frame.mean.label, frame.risk.label] : ["mean", "risk"] });
    const tabbed = how.selected !== null && there.has(how.selected) ? how.selected : shown[0]?.name;
    for (const arm of shown) set(this.nodes.get(arm.name).group, { tabindex: arm.name === tabbed ? "0" : "-1" });
  }

  /** The axes. @returns {any} */
  scales(frame, picture, shown, room, how) {
    const sure = new Set(shown.flatMap((arm, at) => arm.verdict === "in" || arm.verdict === "control" ? [at] : []));
    const kind = `${how.hideOut}|${how.regions}|${shown.length}`, anew = this.kind !== kind;
    this.kind = kind;
    const acrossRange = limits(shown.map((arm) => arm.mean), shown.map((arm) => how.regions ? [arm.mean_low, arm.mean_high] : [arm.mean, arm.mean]), sure, frame.mean.possible);
    let upRange = limits(shown.map((arm) => arm.risk), shown.map((arm) => how.regions && frame.about_risk ? [arm.risk_low, arm.risk_high] : [arm.risk, arm.risk]), sure, frame.risk.possible);
    for (const value of [how.ceiling, ...picture.lines.filter(([mean]) => mean === 0).map(([, risk, at]) => at / risk)])
      if (value !== null && Number.isFinite(value)) upRange = [Math.min(upRange[0], value - 0.03 * (upRange[1] - upRange[0])), Math.max(upRange[1], value + 0.03 * (upRange[1] - upRange[0]))];
    this.range = [steady(this.range?.[0], acrossRange, anew), steady(this.range?.[1], upRange, anew)];
    const [[left, right], [low, high]] = this.range, few = room.width < 520;
    const first = (text) => text[0].toUpperCase() + text.slice(1);
    const arrow = (better, text) => better === "higher" ? `${text}  (higher is better →)` : `${text}  (← lower is better)`;
    const fits = (text, space) => widthOf(text, "12px system-ui") < space;
    const named = (axis, space) => { const text = first(axis.label), long = arrow(axis.better, text); return fits(long, space) ? long : cut(text, Math.floor(space / 7)); };
    const found = axes(this.grid, room,
      { low: left, high: right, at: ticks(left, right, few ? 6 : 8), label: named(frame.mean, room.width - room.left) },
      { low, high, at: ticks(low, high, 6), label: named(frame.risk, room.height - room.bottom), turned: frame.risk.turned });
    return { ...found, room };
  }

  /** What lies behind the arms. */
  background(frame, picture, known, shown, { x, y, low, far, room }, how) {
    const [[left, right], [bottom, top]] = this.range, side = frame.direction === "minimize" ? -1 : 1, safe = frame.risk.turned ? -1 : 1;
    const corners = frame.task === "pareto" ? stairs(known, side, safe) : [];
    const worst = frame.risk.turned ? bottom : top;
    set(this.border, { x: room.left, y: room.top, width: far - room.left, height: low - room.top });
    const clamp = (value, from, to) => Math.max(from, Math.min(to, value));
    const whole = corners.length ? [[side > 0 ? left : right, corners[0][1]], ...corners, [corners[corners.length - 1][0], worst]] : [];
    set(this.stairs, { d: path(whole.map(([mean, risk]) => [x(clamp(mean, left, right)), y(clamp(risk, bottom, top))])) });
    set(this.worse, { d: whole.length ? `${path([...whole, [side > 0 ? left : right, worst]].map(([mean, risk]) => [x(clamp(mean, left, right)), y(clamp(risk, bottom, top))]))}Z` : "M0 0" });
    const lines = picture.lines.flatMap(([ofMean, ofRisk, value, words]) => {
      if (ofRisk === 0) return [[value / ofMean, bottom, value / ofMean, top, words]];
      const at = (mean) => (value - ofMean * mean) / ofRisk;
      return [[left, at(left), right, at(right), words]];
    });
    const nodes = pool(this.goesBy, lines.length, () => svg("line", { class: "goes-by", "clip-path": "url(#plot)" })), texts = pool(this.goesByText, lines.length, () => svg("text", { class: "halo tick" }));
    lines.forEach(([x1, y1, x2, y2, words], at) => {
      set(nodes[at], { x1: x(x1), y1: y(y1), x2: x(x2), y2: y(y2) });
      const upright = x1 === x2;
      set(texts[at], { x: upright ? x(x1) + 4 : room.left + 5, y: upright ? room.top + 12 + 14 * at : clamp(y(y1) - 5, room.top + 10, low - 4) });
      say(texts[at], words);
    });
    const ceiling = how.ceiling === null ? null : y(how.ceiling);
    set(this.ceiling, { visibility: ceiling === null ? "hidden" : null, x1: room.left, x2: far, y1: ceiling ?? 0, y2: ceiling ?? 0 });
    set(this.ceilingText, { visibility: ceiling === null ? "hidden" : null, x: far - 4, y: Math.max((ceiling ?? 0) - 4, room.top + 10) });
    say(this.ceilingText, how.ceiling === null ? "" : `${frame.risk.turned ? "at least" : "at most"} ${brief(how.ceiling)}`);
    const there = new Map(known.map((arm) => [arm.name, arm])), dropped = shown.filter((arm) => !arm.returned && there.has(arm.beaten_by) && (shown.length <= STILL || arm.name === how.selected));
    const spot = (arm) => [x(broughtInside(arm.mean, this.range[0])[0]), y(broughtInside(arm.risk, this.range[1])[0])];
    const arrows = pool(this.arrows, dropped.length, () => svg("line", { class: "arrow", "marker-end": "url(#head)" }));
    dropped.forEach((arm, at) => {
      const [x1, y1] = spot(arm), [x2, y2] = spot(there.get(arm.beaten_by)), long = Math.hypot(x2 - x1, y2 - y1) || 1, part = Math.max(0, 1 - 9 / long);
      set(arrows[at], { x1: tenth(x1), y1: tenth(y1), x2: tenth(x1 + part * (x2 - x1)), y2: tenth(y1 + part * (y2 - y1)), class: `arrow${arm.name === how.selected ? " selected" : ""}` });
    });
    const epsilon = picture.relative ? null : picture.epsilon, wide = epsilon ? Math.abs(x(left + epsilon) - x(left)) : 0;
    const told = shown.length && wide >= 4 && wide < (far - room.left) / 2;
    set(this.size, { visibility: told ? null : "hidden", d: `M${far - 8 - wide} ${room.top + 4}v8M${far - 8 - wide} ${room.top + 8}h${wide}M${far - 8} ${room.top + 4}v8` });
    set(this.sizeText, { visibility: told ? null : "hidden", x: far - 14 - wide, y: room.top + 12 });
    say(this.sizeText, told ? `tolerance ${brief(epsilon)}` : "");
  }

  /** One arm; returns what stands in the way of names. */
  arm(frame, picture, arm, { x, y, low, far, room }, how) {
    const node = this.nodesOf(arm), [across, up] = this.range, verdict = arm.verdict;
    const [mean, right] = broughtInside(arm.mean, across), [risk, above] = broughtInside(arm.risk, up);
    const cx = tenth(x(mean)), cy = tenth(y(risk));
    const at = (value, otherwise, scale, least, most) => tenth(Math.max(least, Math.min(most, value === null ? otherwise : scale(value))));
    const left = at(arm.mean_low, room.left - 20, x, room.left - 20, far + 20), end = at(arm.mean_high, far + 20, x, room.left - 20, far + 20);
    const [safe, unsafe] = frame.risk.turned ? [arm.risk_low, arm.risk_high] : [arm.risk_high, arm.risk_low];
    const top = frame.about_risk ? at(safe, room.top - 20, y, room.top - 20, low + 20) : cy, bottom = frame.about_risk ? at(unsafe, low + 20, y, room.top - 20, low + 20) : cy;
    const beyond = right !== 0 || above !== 0;
    const selected = arm.name === how.selected ? " selected" : "";
    set(node.group, { class: `arm ${verdict}${arm.returned ? " returned" : ""}${selected}`, display: null, "aria-pressed": selected ? "true" : "false" });
    const key = `${arm.pulls}|${arm.mean}|${verdict}|${arm.sure}|${arm.why}|${arm.mean_low}|${arm.risk_low}`;
    if (node.key !== key) { node.key = key; set(node.group, { "aria-label": describe(arm, picture, frame) }); }
    set(node.box, { visibility: beyond || !how.regions ? "hidden" : null, x: left, y: top, width: tenth(Math.max(end - left, 1)), height: tenth(Math.max(bottom - top, 1)) });
    const turn = beyond ? ` rotate(${Math.atan2(right, frame.risk.turned ? -above : above) * 180 / Math.PI})` : "";
    set(node.mark, { d: beyond ? SHAPES.beyond : SHAPES[verdict], transform: `translate(${cx} ${cy})${turn}` });
    set(node.focus, { cx, cy });
    set(node.ring, { visibility: verdict === "open" && arm.returned ? null : "hidden", cx, cy });
    set(node.chosen, { visibility: arm.name === how.chosen ? null : "hidden", cx, cy });
    return { cx, cy, beyond, box: [left, top, end, bottom], right, above };
  }

  /** The names, off each other. */
  write(shown, placed, { low, far, room }, how) {
    const order = shown.map((_, at) => at).filter((at) => shown.length <= NAMED || shown[at].returned || placed[at].beyond || shown[at].verdict === "control" || shown[at].name === how.selected);
    const first = (at) => (shown[at].name === how.selected ? 0 : placed[at].beyond ? 1 : shown[at].returned ? 2 : 3);
    order.sort((a, b) => first(a) - first(b));
    const named = order.slice(0, NAMED);
    const texts = named.map((at) => {
      const arm = shown[at], { right, above } = placed[at];
      const more = [...(right ? [`${how.labels[0]} ${brief(arm.mean)}`] : []), ...(above ? [`${how.labels[1]} ${brief(arm.risk)}`] : [])].join(", ");
      return { name: cut(arm.name, NAME), more };
    });
    const markers = placed.map(({ cx, cy }) => /** @type {any} */ ([cx - 7, cy - 7, cx + 7, cy + 7]));
    const labels = named.map((at, rank) => ({ text: texts[rank].name, x: placed[at].cx, y: placed[at].cy, width: Math.max(widthOf(texts[rank].name, FONT), widthOf(texts[rank].more, FONT)) + 2, height: texts[rank].more ? 29 : 15, dispensable: first(at) === 3, marker: markers[at] }));
    const lines = placed.flatMap(({ box: [left, top, end, bottom], beyond }) => beyond || !how.regions ? [] : [[left, top - 1, end, top + 1], [left, bottom - 1, end, bottom + 1], [left - 1, top, left + 1, bottom], [end - 1, top, end + 1, bottom]]);
    const found = place(labels, [room.left, room.top, far, low], markers, /** @type {any} */ (lines), shown.length > CROWD);
    const where = new Map(named.map((at, rank) => [at, rank]));
    shown.forEach((arm, at) => {
      const node = this.nodes.get(arm.name), rank = where.get(at), spot = rank === undefined ? null : found[rank];
      set(node.label, { display: spot ? null : "none", class: `arm ${arm.verdict}${arm.name === how.selected ? " selected" : ""}` });
      if (!spot || rank === undefined) return;
      const { cx, cy } = placed[at], twoLines = Boolean(texts[rank].more);
      set(node.name, { x: tenth(spot.x), y: tenth(spot.y + (twoLines ? -3 : 4)) });
      say(node.name, texts[rank].name);
      set(node.more, { visibility: twoLines ? null : "hidden", x: tenth(spot.x), y: tenth(spot.y + 11) });
      say(node.more, texts[rank].more);
      set(node.leader, { visibility: spot.leader ? null : "hidden", x1: cx, y1: cy, x2: tenth(spot.x), y2: tenth(spot.y + (spot.y < cy ? 7 : -7)) });
    });
  }
}

/** An arm in words. @param {any} arm @param {any} picture @param {any} frame */
export function describe(arm, picture, frame) {
  if (picture.numbers.length && arm.pulls) {
    const numbers = picture.numbers.map(({ label, digits }, at) => { const [estimate, low, high] = arm.numbers[at]; return `${label} ${write(estimate, digits)}, ${interval(low, high, digits)}`; });
    return `${arm.name}: ${[arm.sure, arm.why].filter(Boolean).join(", ")}. ${numbers.join("; ")}; ${count(arm.pulls)} trials.`;
  }
  if (arm.mean === null) return `${arm.name}: no trials yet`;
  const { mean, risk } = picture.digits, error = (value) => value === null ? "" : ` ± ${brief(value)}`;
  const sure = [arm.verdict, arm.sure, arm.why].filter(Boolean).join(", ");
  return `${arm.name}: ${sure}. Mean ${write(arm.mean, mean)}${error(arm.se)}${frame.about_risk ? `, ${frame.risk.label} ${write(arm.risk, risk)}${error(arm.risk_se)}` : ""}; ${count(arm.pulls)} trials.`;
}
