// @ts-check
// The arms as rows, the answer on top: the difference to the leader or the control with its interval, or the mean.
import { pool, say, set, svg, widthOf as roomOf } from "./dom.js";
import { brief } from "./format.js";
import { cut, widthOf } from "./labels.js";
import { SHAPES } from "./marks.js";
import { scale } from "./axes.js";
import { broughtInside, limits, tickText, ticks } from "./ticks.js";

const ROW = 26, MOST = 60, NAME = 26;

export class Rows {
  /** @param {any} root  The svg. @param {(name: string|null) => void} select */
  constructor(root, select) {
    this.root = root;
    this.select = select;
    this.parts = { grid: svg("g"), texts: svg("g"), zero: svg("line", { class: "goes-by" }), arms: svg("g"), below: svg("text", { "text-anchor": "middle" }) };
    root.append(...Object.values(this.parts));
  }

  /** @param {any} frame @param {any} picture @param {any[]} arms @param {{hideOut: boolean, selected: string|null}} how */
  draw(frame, picture, arms, how) {
    const to = picture.compared, by = new Map(arms.map((arm) => [arm.name, arm]));
    const numbers = (arm) => arm.name === to ? [0, 0, 0] : to ? [arm.behind, arm.behind_low, arm.behind_high] : [arm.mean, arm.mean_low, arm.mean_high];
    const shown = picture.order.map((name) => by.get(name)).filter((arm) => numbers(arm)[0] !== null && (!how.hideOut || arm.verdict !== "out" || arm.name === how.selected)).slice(0, MOST);
    const width = roomOf(this.root, 260), names = shown.map((arm) => cut(arm.name, NAME));
    const left = Math.min(Math.max(60, ...names.map((name) => widthOf(name, "600 12px system-ui"))) + 14, 0.4 * width), far = width - 14;
    const low = 8 + ROW * shown.length, height = low + 40;
    set(this.root, { viewBox: `0 0 ${width} ${height}`, height, class: "rows" });
    const sure = new Set(shown.flatMap((arm, at) => arm.verdict === "out" && !arm.returned ? [] : [at]));
    const known = shown.map((arm) => { const [value, from, end] = numbers(arm); return from === null && end === null ? [value, value] : [from, end]; });
    const range = limits(shown.map((arm) => numbers(arm)[0]), /** @type {any} */ (known), sure, [null, null]);
    const at = ticks(range[0], range[1], width < 520 ? 4 : 6), x = scale({ low: range[0], high: range[1], at, label: "" }, left, far), text = tickText(at);
    const lines = pool(this.parts.grid, at.length, () => svg("line", { class: "grid" })), words = pool(this.parts.texts, at.length, () => svg("text", { class: "tick", "text-anchor": "middle" }));
    at.forEach((value, place) => {
      set(lines[place], { x1: x(value), x2: x(value), y1: 4, y2: low });
      set(words[place], { x: x(value), y: low + 15 });
      say(words[place], text(value));
    });
    set(this.parts.zero, to && range[0] <= 0 && range[1] >= 0 ? { visibility: null, x1: x(0), x2: x(0), y1: 4, y2: low } : { visibility: "hidden" });
    const arrow = frame.mean.better === "higher" ? "(higher is better →)" : "(← lower is better)";
    set(this.parts.below, { x: (left + far) / 2, y: height - 4 });
    say(this.parts.below, `${to ? `difference to ${cut(to, NAME)}` : frame.mean.label}  ${arrow}`);
    const rows = pool(this.parts.arms, shown.length, () => this.row());
    shown.forEach((arm, place) => {
      const node = rows[place], y = 8 + ROW * (place + 0.5), [value, from, end] = numbers(arm), [inside, side] = broughtInside(value, range);
      const inner = (each, otherwise) => Math.max(left, Math.min(far, each === null ? otherwise : x(each)));
      node.arm = arm.name;
      set(node, { class: `arm ${arm.verdict}${arm.returned ? " returned" : ""}${arm.name === how.selected ? " selected" : ""}`, "aria-label": `${arm.name}: ${arm.sure}, ${brief(value)}` });
      set(node.back, { x: 0, y: y - ROW / 2, width, height: ROW, class: place % 2 ? "plain-row" : "stripe" });
      set(node.name_, { x: left - 10, y: y + 4 });
      say(node.name_, names[place]);
      set(node.bar, from === null && end === null || side ? { visibility: "hidden" } : { visibility: null, x1: inner(from, left), x2: inner(end, far), y1: y, y2: y });
      set(node.mark, { d: side ? SHAPES.beyond : SHAPES[arm.returned && arm.verdict === "open" ? "in" : arm.verdict], transform: `translate(${x(inside)} ${y})${side ? ` rotate(${90 * side})` : ""}` });
      set(node.beyond, { visibility: side ? null : "hidden", x: x(inside) - 12 * side, y: y + 4, "text-anchor": side > 0 ? "end" : "start" });
      say(node.beyond, side ? brief(value) : "");
    });
  }

  /** The nodes of a row. */
  row() {
    const node = /** @type {any} */ (svg("g", { role: "button", tabindex: "0" }));
    Object.assign(node, { back: svg("rect"), bar: svg("line", { class: "bar-line" }), mark: svg("path", { class: "mark" }), name_: svg("text", { class: "name", "text-anchor": "end" }), beyond: svg("text", { class: "tick" }) });
    node.append(node.back, node.bar, node.mark, node.name_, node.beyond);
    const pick = () => this.select(node.getAttribute("class").includes("selected") ? null : node.arm);
    node.addEventListener("click", pick);
    node.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); pick(); } });
    return node;
  }
}
