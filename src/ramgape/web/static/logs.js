// @ts-check
// Pages of a log, newest first: trials, and failures. Nothing is fetched that is not on screen.
import { get } from "./api.js";
import { byId, el, say, show } from "./dom.js";
import { brief, count, day } from "./format.js";

const LIMIT = 25, FRESH = 2000;

class Log {
  /** @param {string} path @param {string} id  Of its nodes. @param {(row: any) => any} line  A row of the table. */
  constructor(path, id, line) {
    this.path = path;
    this.id = id;
    this.line = line;
    this.next = /** @type {any} */ (null);
    this.first = true;  // whether the newest are shown
    this.version = -1;
    this.fetched = 0;
    byId(`${id}-older`).addEventListener("click", () => { this.first = false; this.load(this.next); });
    byId(`${id}-newest`).addEventListener("click", () => { this.first = true; this.load(null); });
  }

  /** What is asked beside the place. @returns {Record<string, any>} */
  filters() { return {}; }

  anew() { this.first = true; this.load(null); }

  /** The study has changed. @param {number} version @param {boolean} open  Whether somebody looks. */
  heed(version, open) {
    if (!open || version === this.version || !this.first || Date.now() - this.fetched < FRESH) return;
    this.version = version;
    this.load(null);
  }

  /** @param {any} before */
  async load(before) {
    this.fetched = Date.now();
    const { id } = this;
    try {
      const page = await get(this.path, { limit: LIMIT, before, ...this.filters() });
      const rows = page.rows.map((row) => Object.fromEntries(page.columns.map((name, at) => [name, row[at]])));
      byId(`${id}-rows`).replaceChildren(...rows.map(this.line));
      this.next = page.next;
      show(byId(`${id}-older`), page.next !== null);
      show(byId(`${id}-newest`), !this.first);
      show(byId(`${id}-table`), rows.length > 0);
      say(byId(`${id}-words`), rows.length ? "" : this.nothing());
    } catch (error) {
      say(byId(`${id}-words`), /** @type {Error} */ (error).message);
    }
  }

  nothing() { return "There are none."; }
}

export class Trials extends Log {
  /** @param {string} path */
  constructor(path) {
    super(`${path}/observations`, "trials", (row) => el("tr", {}, el("td", { class: "right" }, count(row.place + 1)), el("th", { scope: "row" }, row.arm), el("td", { class: "right" }, `${row.outcomes ? Object.entries(row.outcomes).map(([name, value]) => `${name} ${brief(value)}`).join(", ") : brief(row.reward)}${row.failed ? " (failed)" : ""}`),
      el("td", { class: "right opt" }, row.price === null || row.price === undefined ? "" : brief(row.price)), el("td", {}, row.worker ?? ""), el("td", { class: "opt" }, day(row.told_at)), el("td", { class: "opt" }, row.pull ?? "")));
    for (const id of ["trials-arm", "trials-failed"]) byId(id).addEventListener("change", () => this.anew());
    byId("trials-worker").addEventListener("change", () => this.anew());
  }

  /** @param {string[]} arms */
  arms(arms) {
    const before = byId("trials-arm").value;
    byId("trials-arm").replaceChildren(el("option", { value: "" }, "any"), ...arms.map((name) => el("option", { value: name }, name)));
    byId("trials-arm").value = before;
  }

  filters() { return { arm: byId("trials-arm").value, worker: byId("trials-worker").value.trim(), failed: byId("trials-failed").checked ? "true" : null }; }

  nothing() { return Object.values(this.filters()).some(Boolean) ? "No trial is like that." : "No trial was told yet."; }
}

export class Failures extends Log {
  /** @param {string} path */
  constructor(path) {
    super(`${path}/failures`, "failures", (row) => el("tr", {}, el("th", { scope: "row" }, row.arm), el("td", {}, row.reason || "no reason given"), el("td", {}, row.worker ?? ""), el("td", { class: "opt" }, day(row.failed_at)), el("td", { class: "opt" }, row.pull)));
  }

  nothing() { return "No trial has failed."; }
}
