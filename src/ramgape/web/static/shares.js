// @ts-check
// Where the trials, or the money, went: the shares of the arms that took most, over the trials.
import { axes, path } from "./axes.js";
import { pool, say, set, show, svg, widthOf as roomOf } from "./dom.js";
import { cut, widthOf } from "./labels.js";
import { ticks } from "./ticks.js";

const HEIGHT = 210, LINE = 14, MOST = 150;

export class Shares {
  /** @param {any} root */
  constructor(root) {
    this.root = root;
    this.grid = svg("g");
    this.bands = svg("g");
    this.texts = svg("g");
    root.append(this.bands, this.grid, this.texts);
  }

  /** @param {any} past @param {"pulls"|"spent"} what */
  draw(past, what) {
    const amounts = past[what];
    show(this.root.parentNode, Boolean(amounts?.length));
    if (!amounts?.length) return;
    const key = [what, past.told.length, past.told[past.told.length - 1], past.told[0], roomOf(this.root, 240), past.arms.join()].join("|");
    if (this.key === key) return;
    this.key = key;
    const every = Math.ceil(past.told.length / MOST), some = (values) => values.filter((_, at) => at % every === 0 || at === values.length - 1);
    const told = past.told.length > 1 ? some(past.told) : [0, past.told[0]], rows = past.told.length > 1 ? some(amounts) : [amounts[0], amounts[0]];
    const names = [...past.arms, "others"], width = roomOf(this.root, 240), first = told[0], last = told[told.length - 1];
    const side = Math.min(150, 16 + Math.max(...names.map((name) => widthOf(cut(name, 20), "12px system-ui"))));
    set(this.root, { viewBox: `0 0 ${width} ${HEIGHT}`, height: HEIGHT });
    const room = { width, height: HEIGHT, left: 54, right: side, top: 8, bottom: 36 };
    const { x, y } = axes(this.grid, room, { low: first, high: last, at: ticks(first, last, width < 420 ? 3 : 5), label: "trials" },
      { low: 0, high: 1, at: [0, 0.25, 0.5, 0.75, 1], label: what === "spent" ? "share of the money" : "share of the trials", text: (value) => `${Math.round(100 * value)} %` });
    const totals = rows.map((row) => row.reduce((sum, each) => sum + each, 0) || 1);
    let base = rows.map(() => 0);
    const bands = pool(this.bands, names.length, () => svg("path", {}, svg("title"))), middles = [];
    names.forEach((name, at) => {
      const top = base.map((below, place) => below + (rows[place][at] ?? 0) / totals[place]);
      const edge = (heights) => told.map((each, place) => /** @type {[number, number]} */ ([x(each), y(heights[place])]));
      set(bands[at], { class: `share share-${at + 1}`, d: `${path([...edge(top), ...edge(base).reverse()])}Z` });
      say(bands[at].firstChild, `${name}: ${Math.round(1000 * (top[top.length - 1] - base[base.length - 1])) / 10} %`);
      middles.push({ name, share: top[top.length - 1] - base[base.length - 1], y: y((top[top.length - 1] + base[base.length - 1]) / 2) });
      base = top;
    });
    const labelled = apart(middles.filter(({ share }) => share > 0.004), room.top + 8, HEIGHT - room.bottom);
    const texts = pool(this.texts, labelled.length, () => svg("text"));
    labelled.forEach(({ name, y: at }, place) => {
      set(texts[place], { x: width - side + 6, y: at + 4 });
      say(texts[place], cut(name, 20));
    });
  }
}

/** Labels moved apart so that none is on another; of too many those of the smallest shares go. @param {{name: string, share: number, y: number}[]} labels */
function apart(labels, top, bottom) {
  const room = Math.max(Math.floor((bottom - top) / LINE), 1);
  const kept = [...labels].sort((a, b) => b.share - a.share).slice(0, room).sort((a, b) => a.y - b.y);
  for (let at = 1; at < kept.length; at += 1) kept[at].y = Math.max(kept[at].y, kept[at - 1].y + LINE);
  const over = kept.length ? kept[kept.length - 1].y - bottom : 0;
  if (over > 0) for (let at = kept.length - 1, most = bottom; at >= 0; at -= 1, most -= LINE) kept[at].y = Math.min(kept[at].y, most);
  return kept;
}
