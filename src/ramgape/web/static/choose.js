// @ts-check
// What to choose: one arm of the answer, how it compares with another, and what the guarantee says of that.
import { get } from "./api.js";
import { byId, el, say, show } from "./dom.js";

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
    for (const id of ["question", "baseline"]) byId(id).addEventListener("change", () => this.prepare());
    byId("value").addEventListener("input", () => { this.prepare(false); });
  }

  /** @param {any} frame @param {any} picture @param {any[]} arms */
  draw(frame, picture, arms) {
    const key = JSON.stringify([frame.arms, frame.risk, picture.numbers.map(({ text }) => text)]);
    if (this.key !== key) {
      this.key = key;
      const keptQuestion = byId("question").value, keptBaseline = byId("baseline").value;
      const asked = picture.numbers.filter(({ text }) => text !== null).map(({ text, label, better }) => [`by:${text}`, `the ${better === "higher" ? "highest" : "lowest"} ${label}`]);
      if (!asked.length) asked.push(["own", `the ${frame.mean.better === "higher" ? "highest" : "lowest"} mean`], ["max_risk", `the best mean, with ${frame.risk.label} ${frame.risk.turned ? "at least" : "at most"} …`], ["rho", "the least variance less rho times the mean"]);
      byId("question").replaceChildren(...asked.map(([value, text]) => el("option", { value }, text)));
      if (asked.some(([value]) => value === keptQuestion)) byId("question").value = keptQuestion;
      byId("baseline").replaceChildren(el("option", { value: "" }, "none"), ...frame.arms.map((name) => el("option", { value: name }, name)));
      byId("baseline").value = frame.arms.includes(keptBaseline) ? keptBaseline : frame.control ?? "";
    }
    this.risk = frame.risk;
    const ready = arms.some((arm) => arm.returned && arm.pulls > 0);
    if (ready !== this.ready) { this.ready = ready; this.prepare(); }
    else if (Date.now() - this.asked > AGAIN) this.ask();
  }

  /** Show what the question needs, and ask it. */
  prepare(anew = true) {
    const kind = byId("question").value, numbered = kind === "max_risk" || kind === "rho";
    show(byId("numbered"), numbered);
    if (anew) byId("value").value = "";  // no number is made up
    say(byId("value-label"), kind === "rho" ? "rho" : `${this.risk?.label}, ${this.risk?.turned ? "at least" : "at most"}`);
    const value = byId("value").valueAsNumber;
    this.ceiling = kind === "max_risk" && Number.isFinite(value) ? value : null;
    this.changed();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.ask(), anew ? 0 : 150);
  }

  async ask() {
    this.asked = Date.now();
    if (!this.ready) { this.tell("No arm", "Nothing is known of any arm of the answer yet.", "", ""); return; }
    const kind = byId("question").value, value = byId("value").valueAsNumber, turn = this.turn += 1;
    const numbered = kind === "max_risk" || kind === "rho";
    if (numbered && !Number.isFinite(value)) { this.chosen = null; this.tell("", "Give a number.", "", ""); return; }
    const asked = kind === "own" ? {} : kind.startsWith("by:") ? { by: kind.slice(3) } : { [kind]: kind === "max_risk" && this.risk.turned ? -value : value };
    try {
      const found = await get(`${this.path}/choose`, { ...asked, baseline: byId("baseline").value || null });
      if (turn !== this.turn) return;
      this.tell(found.arm, found.sentence, found.proof, found.beside ?? "");
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
    say(byId("choice-words"), rest ? rest[0].toUpperCase() + rest.slice(1) : "");
    say(byId("choice-proof"), proof);
    say(byId("choice-beside"), beside);
  }
}
