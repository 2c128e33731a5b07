// @ts-check
// Several outcomes: arms as rows, a panel for each objective and constraint, with the confidence region of each arm.
import { axes } from "./axes.js";
import { pool, say, set, svg, widthOf as roomOf } from "./dom.js";
import { cut } from "./labels.js";
import { SHAPES } from "./marks.js";
import { broughtInside, limits, ticks } from "./ticks.js";

const MOST = 40, LINE = 22, NARROW = 190, NAMES = 130, GAP = 18;

export class Panels {
  /** @param {any} root  The svg. @param {(name: string|null) => void} select */
  constructor(root, select) {
    this.root = root;
    this.select = select;
    this.panels = svg("g");
    this.names = svg("g");
    root.append(this.panels, this.names);
  }

  /** @param {any} picture @param {any[]} arms @param {{hideOut: boolean, selected: string|null}} how */
  draw(picture, arms, how) {
    const by = new Map(arms.map((arm) => [arm.name, arm]));
    const shown = picture.order.map((name) => by.get(name)).filter((arm) => !how.hideOut || arm.verdict !== "out" || arm.name === how.selected).slice(0, MOST);
    const { numbers } = picture, width = roomOf(this.root, 260), across = Math.max(1, Math.min(numbers.length, Math.floor((width - NAMES) / NARROW)));
    const one = (width - NAMES) / across, high = LINE * shown.length + 50, down = Math.ceil(numbers.length / across);
    set(this.root, { viewBox: `0 0 ${width} ${high * down}`, height: high * down });
    const names = pool(this.names, shown.length * down, () => svg("text", { class: "name" }));
    for (let place = 0; place < down; place += 1) shown.forEach((arm, at) => {
      const text = names[place * shown.length + at];
      set(text, { class: `name arm ${arm.verdict}${arm.name === how.selected ? " selected" : ""}`, x: 0, y: place * high + 24 + LINE * (at + 0.5) });
      say(text, cut(arm.name, 18));
      text.onclick = () => this.select(how.selected === arm.name ? null : arm.name);
    });
    const panels = pool(this.panels, numbers.length, () => svg("g"));
    numbers.forEach((number, place) => this.panel(panels[place], number, place, shown, how, { left: NAMES + (place % across) * one, top: Math.floor(place / across) * high, wide: one - GAP, high }));
  }

  panel(root, number, place, arms, how, { left, top, wide, high }) {
    root.parts ??= { grid: svg("g"), lines: svg("g"), marks: svg("g"), ceiling: svg("line", { class: "ceiling" }), title: svg("text", { class: "name" }) };
    const { grid, lines, marks, ceiling, title } = root.parts;
    if (!grid.parentNode) root.append(grid, ceiling, lines, marks, title);
    set(root, { transform: `translate(${left} ${top})` });
    const [long, short] = number.better === "higher" ? [" (higher is better)", " →"] : [" (lower is better)", " ←"], most = Math.floor(wide / 7);
    set(title, { x: 0, y: 14 });
    say(title, number.limit ? cut(number.limit, most) : number.label.length + long.length <= most ? number.label + long : cut(number.label, most - 2) + short);
    const values = arms.map((arm) => arm.numbers[place]), known = values.filter(([estimate]) => estimate !== null);
    const [low, far] = limits(known.map(([estimate]) => estimate), known.map(([, from, to]) => [from, to]), new Set(), number.possible);
    const room = { width: wide, height: high - 4, left: 0, right: 0, top: 22, bottom: 28 };
    const { x } = axes(grid, room, { low, high: far, at: ticks(low, far, Math.max(2, Math.floor(wide / 70))), label: "" }, { low: 0, high: 1, at: [], label: "" });
    const limit = number.at === null || number.at < low || number.at > far ? null : x(number.at);
    set(ceiling, { visibility: limit === null ? "hidden" : null, x1: limit ?? 0, x2: limit ?? 0, y1: room.top, y2: room.height - room.bottom });
    const inside = (value, otherwise) => Math.max(0, Math.min(wide, value === null ? otherwise : x(value)));
    const drawn = pool(lines, arms.length, () => svg("line")), dots = pool(marks, arms.length, () => svg("path"));
    arms.forEach((arm, at) => {
      const [estimate, from, to] = values[at], y = 20 + LINE * (at + 0.5), none = estimate === null ? "hidden" : null;
      const [value, side] = broughtInside(estimate ?? 0, [low, far]);
      const kind = `arm ${arm.verdict}${arm.name === how.selected ? " selected" : ""}`;
      set(drawn[at], { class: `cross ${kind}`, visibility: none, x1: inside(from, 0), x2: inside(to, wide), y1: y, y2: y });
      set(dots[at], { class: `mark ${kind}`, visibility: none, d: side ? SHAPES.beyond : SHAPES[arm.verdict], transform: `translate(${none ? 0 : inside(value, 0)} ${y})${side ? ` rotate(${90 * side})` : ""}` });
      dots[at].onclick = () => this.select(how.selected === arm.name ? null : arm.name);
    });
  }
}
