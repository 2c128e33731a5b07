// @ts-check
// What to choose: a question that only one arm answers, and what is proved of that.
import { get } from "./api.js";
import { byId, el, say, show } from "./dom.js";
import { brief } from "./format.js";

const AGAIN = 2000;  // milliseconds between two questions that only the study's progress raises

export class Choose {
  /** @param {string} path @param {() => void} changed */
  constructor(path, changed) {
    this.path = path;
    this.changed = changed;
    this.chosen = /** @type {string|null} */ (null);
    this.ceiling = /** @type {number|null} */ (null);
    this.asked = 0;
    this.turn = 0;
    this.range = [0, 1];
    for (const id of ["question", "baseline"]) byId(id).addEventListener("change", () => { this.prepare(); this.ask(); });
    byId("slider").addEventListener("input", () => { byId("value").value = brief(this.fromSlider()); this.later(); });
    byId("value").addEventListener("input", () => this.later());
  }

  later() {
    this.mark();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.ask(), 150);
  }

  /** The number on the slider. */
  fromSlider() {
    return this.range[0] + (this.range[1] - this.range[0]) * byId("slider").valueAsNumber / 1000;
  }

  /** @param {any} frame @param {any[]} arms */
  draw(frame, arms) {
    if (this.frame !== frame) {
      this.frame = frame;
      const risk = frame.risk.label, floor = frame.risk.turned;
      const questions = [["own", frame.task === "pareto" ? "the best mean of the returned set" : `what the study asks: ${frame.sought}`], ["best", `the ${frame.mean.better === "lower" ? "lowest" : "highest"} mean`], ["least-risk", `the ${floor ? "highest" : "lowest"} ${risk}`],
        ["max_risk", "the best mean, and no more risk than …"], ["score", "the best mean less … times the risk"], ["rho", "the least variance less rho times the mean"]];
      const before = byId("question").value;
      byId("question").replaceChildren(...questions.map(([value, text]) => el("option", { value }, text)));
      byId("question").value = before || "own";
      const kept = byId("baseline").value;
      byId("baseline").replaceChildren(el("option", { value: "" }, "none"), ...frame.arms.map((name) => el("option", { value: name }, name)));
      byId("baseline").value = frame.arms.includes(kept) ? kept : frame.control ?? "";
    }
    this.arms = arms;
    if (!this.ready && arms.every((arm) => arm.mean !== null)) { this.ready = true; this.prepare(); }
    if (this.ready && Date.now() - this.asked > AGAIN) this.ask();
  }

  /** Set the slider up for the question. */
  prepare() {
    const kind = byId("question").value, numbered = ["max_risk", "score", "rho"].includes(kind);
    show(byId("numbered"), numbered);
    if (!numbered || !this.arms) { this.mark(); return; }
    if (kind === "max_risk") {
      const risks = this.arms.filter((arm) => arm.returned && arm.risk !== null).map((arm) => arm.risk);
      const seen = risks.length ? risks : this.arms.map((arm) => arm.risk);
      const [low, high] = [Math.min(...seen), Math.max(...seen)], margin = 0.05 * ((high - low) || Math.abs(low) || 1);
      this.range = [low - margin, high + margin];
      byId("value").value = brief((low + high) / 2);
    } else { this.range = [0, kind === "rho" ? 2 : 4]; byId("value").value = "1"; }
    say(byId("value-label"), kind === "max_risk" ? `${this.frame.risk.label}, ${this.frame.risk.turned ? "at least" : "at most"}` : kind === "rho" ? "rho" : "weight of the risk");
    this.mark();
  }

  /** Show the ceiling in the plane, and the number on the slider. */
  mark() {
    const kind = byId("question").value, value = byId("value").valueAsNumber;
    this.ceiling = kind === "max_risk" && Number.isFinite(value) ? value : null;
    const share = (value - this.range[0]) / ((this.range[1] - this.range[0]) || 1);
    if (Number.isFinite(share) && document.activeElement !== byId("slider")) byId("slider").value = String(Math.round(1000 * share));
    this.changed();
  }

  async ask() {
    if (!this.ready) return;
    if (!this.arms.some((arm) => arm.returned && arm.mean !== null)) { this.tell("No arm", "Nothing is known of any arm yet.", "", ""); return; }
    this.asked = Date.now();
    const kind = byId("question").value, value = byId("value").valueAsNumber, turn = this.turn += 1;
    const baseline = byId("baseline").value || null;
    const asked = { own: {}, best: { question: "best" }, "least-risk": { question: "least-risk" }, max_risk: { max_risk: this.frame.risk.turned ? -value : value }, score: { question: `best-score:weight=${value}` }, rho: { rho: value } }[kind];
    if (["max_risk", "score", "rho"].includes(kind) && !Number.isFinite(value)) return;
    try {
      const found = await get(`${this.path}/choose`, { ...asked, baseline });
      if (turn !== this.turn) return;
      this.tell(found.arms.length > 1 && kind === "own" ? found.arm : found.arms.join(", "), found.sentence, found.proof, found.beside?.sentence ?? "");
      this.chosen = found.arm;
    } catch (error) {
      if (turn !== this.turn) return;
      this.chosen = null;
      this.tell("No arm", /** @type {Error} */ (error).message, "", "");
    }
    this.changed();
  }

  tell(name, sentence, proof, beside) {
    const rest = sentence.startsWith(`${name}: `) ? sentence.slice(name.length + 2) : sentence;
    say(byId("choice-name"), name);
    say(byId("choice-words"), rest[0]?.toUpperCase() + rest.slice(1));
    say(byId("choice-proof"), proof);
    say(byId("choice-beside"), beside);
  }
}
