// @ts-check
// The table of arms: the text form of the plane, sortable, with rows that are used again.
import { arrange, el, say, set, show } from "./dom.js";
import { brief, count, interval, write } from "./format.js";
import { icon } from "./marks.js";

const AT_ONCE = 200;
const HEADS = [
  ["arm", "Arm", ""], ["verdict", "Verdict", ""], ["pulls", "Trials", "right"], ["pending", "In progress", "right opt"], ["failed", "Failed", "right opt"],
  ["mean", "Mean", "right"], ["risk", "Risk", "right"], ["behind", "Difference", "right"], ["doubt", "Uncertainty", "right opt"], ["spent", "Spent", "right opt"],
];
const ORDER = { in: 0, control: 1, open: 2, out: 3 };

export class Arms {
  /** @param {any} head @param {any} body @param {any} more @param {(name: string|null) => void} select */
  constructor(head, body, more, select) {
    this.body = body;
    this.more = more;
    this.select = select;
    this.rows = new Map();
    this.by = /** @type {string|null} */ (null);
    this.up = false;
    this.shown = AT_ONCE;
    this.redraw = () => {};
    this.head = head;
    this.heads = new Map();
    more.addEventListener("click", () => { this.shown += AT_ONCE; this.redraw(); });
  }

  /** The heads, with those of the numbers of several outcomes. @param {any[]} numbers */
  prepare(numbers) {
    const labels = numbers.map(({ limit, label }) => limit ?? label), key = JSON.stringify(labels);
    if (this.key === key) return;
    this.key = key;
    this.labels = labels.map((label) => label[0].toUpperCase() + label.slice(1));
    this.rows.clear();
    this.heads = new Map([...HEADS.slice(0, 5), ...this.labels.map((label, at) => [String(at), label, "right"]), ...HEADS.slice(5)].map(([name, text, kind]) => {
      const button = el("button", { class: "plain", type: "button" }, text);
      button.addEventListener("click", () => this.sort(name));
      return [name, { button, cell: el("th", { scope: "col", class: kind, role: "columnheader" }, button) }];
    }));
    this.head.replaceChildren(el("tr", { role: "row" }, ...[...this.heads.values()].map(({ cell }) => cell)));
  }

  /** @param {string} key */
  sort(key) {
    if (this.by === key && this.up) { this.by = null; this.up = false; }  // a third time: as it was
    else { this.up = this.by === key; this.by = key; }
    for (const [name, { cell }] of this.heads) set(cell, { "aria-sort": name === this.by ? (this.up ? "ascending" : "descending") : null });
    this.redraw();
  }

  order(arms, usual) {
    if (this.by === null) { const by = new Map(arms.map((arm) => [arm.name, arm])); return usual.map((name) => by.get(name)).filter(Boolean); }
    const key = { arm: "name" }[this.by] ?? this.by, value = (arm) => key === "verdict" ? ORDER[arm.verdict] : key in arm.numbers ? arm.numbers[key][0] : arm[key];
    return [...arms].sort((a, b) => {
      const [p, q] = [value(a), value(b)];
      if (p === null || q === null) return (p === null ? 1 : 0) - (q === null ? 1 : 0);
      return (p < q ? -1 : p > q ? 1 : 0) * (this.up !== (typeof p === "string" || key === "verdict") ? 1 : -1);
    });
  }

  rowOf(arm) {
    let row = this.rows.get(arm.name);
    if (row) return row;
    const second = () => el("span", { class: "second" });
    const cell = (kind, label, ...inside) => el("td", { class: kind, role: "cell", "data-label": label }, ...inside);
    row = { name: el("button", { class: "plain", type: "button" }, arm.name), why: second(), verdict: el("span"), sure: second(), pulls: el("span"), bar: el("span"), pending: cell("right opt"), failed: cell("right opt"), mean: el("span"), meanEnds: second(), risk: el("span"), riskEnds: second(), behind: el("span"), behindEnds: second(), doubt: cell("right opt"), spent: cell("right opt"), icon: "" };
    row.numbers = this.labels.map(() => ({ value: el("span"), ends: second() }));
    row.meanCell = cell("right", "Mean", row.mean, row.meanEnds);
    row.riskCell = cell("right", "", row.risk, row.riskEnds);
    row.behindCell = cell("right", "Difference", row.behind, row.behindEnds);
    row.tr = el("tr", { class: "pick", role: "row" }, el("th", { scope: "row", role: "rowheader" }, row.name, row.why), cell("verdict-cell", null, row.verdict, row.sure), cell("right", "Trials", row.pulls, el("span", { class: "amount", "aria-hidden": "true" }, row.bar)),
      row.pending, row.failed, ...row.numbers.map(({ value, ends }, at) => cell("right", this.labels[at], value, ends)), row.meanCell, row.riskCell, row.behindCell, row.doubt, row.spent);
    row.tr.addEventListener("click", () => this.select(this.selected === arm.name ? null : arm.name));
    this.rows.set(arm.name, row);
    return row;
  }

  /** @param {any} frame @param {any} picture @param {any[]} arms @param {string|null} selected */
  draw(frame, picture, arms, selected) {
    this.selected = selected;
    const { mean, risk } = picture.digits, error = (value) => value === null ? "" : `± ${brief(value)}`;
    const label = frame.risk.label.replace(/^./, (letter) => letter.toUpperCase()), several = picture.numbers.length > 0;
    this.prepare(picture.numbers);
    say(this.heads.get("risk").button, label);
    show(this.heads.get("spent").cell, frame.has_prices);
    say(this.heads.get("behind").button, picture.compared ? `Difference to ${picture.compared}` : "Difference");
    for (const [key, shown] of [["mean", !several], ["behind", !several && picture.compared !== null], ["risk", !several && frame.about_risk], ["doubt", frame.about_risk]]) show(this.heads.get(key).cell, shown);
    const most = Math.max(1, ...arms.map((arm) => arm.pulls)), sorted = this.order(arms, picture.order), now = sorted.slice(0, this.shown);
    const nodes = now.map((arm) => {
      const row = this.rowOf(arm);
      set(row.tr, { class: `pick ${arm.verdict}${arm.name === selected ? " selected" : ""}` });
      set(row.riskCell, { "data-label": label });
      set(row.name, { "aria-pressed": arm.name === selected ? "true" : "false" });
      say(row.why, arm.why);
      if (row.icon !== arm.verdict) {
        row.icon = arm.verdict;
        row.verdict.className = `verdict ${arm.verdict}`;
        row.verdict.replaceChildren(icon(arm.verdict), arm.verdict);
      }
      say(row.sure, arm.sure);
      say(row.pulls, count(arm.pulls));
      const wide = `${Math.round(100 * arm.pulls / most)}%`;
      if (row.wide !== wide) row.bar.style.width = row.wide = wide;
      say(row.pending, arm.pending ? count(arm.pending) : "");
      say(row.failed, arm.failed ? count(arm.failed) : "");
      picture.numbers.forEach(({ digits }, at) => {
        const [estimate, low, high] = arm.numbers[at];
        say(row.numbers[at].value, write(estimate, digits));
        say(row.numbers[at].ends, estimate === null ? "" : interval(low, high, digits));
      });
      say(row.mean, write(arm.mean, mean));
      say(row.meanEnds, error(arm.se));
      say(row.risk, write(arm.risk, risk));
      say(row.riskEnds, error(arm.risk_se));
      say(row.behind, arm.behind === null ? "" : write(arm.behind, mean));
      say(row.behindEnds, arm.behind === null || arm.behind_low === null && arm.behind_high === null ? "" : interval(arm.behind_low, arm.behind_high, mean));
      for (const [cell, shown] of [[row.meanCell, !several], [row.behindCell, !several && picture.compared !== null], [row.riskCell, !several && frame.about_risk], [row.doubt, frame.about_risk]]) show(cell, shown);
      say(row.doubt, arm.doubt === null ? "" : brief(Math.max(arm.doubt, 0)));
      show(row.spent, frame.has_prices);
      say(row.spent, arm.spent === null ? "" : brief(arm.spent));
      return row.tr;
    });
    arrange(this.body, nodes);
    show(this.more, sorted.length > this.shown);
    if (sorted.length > this.shown) say(this.more, `Show more of ${count(sorted.length)} arms`);
  }
}
