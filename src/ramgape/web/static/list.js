// @ts-check
// The list of studies, kept up to date.
import { HOME, get, Refused } from "./api.js";
import { arrange, byId, el, say, show } from "./dom.js";
import { ago, count, day, perCent, plural, roundUp } from "./format.js";
import { follow } from "./live.js";
import { tellState } from "./marks.js";
import { arrive, code, menus, theme, whoami } from "./shell.js";

const CHIPS = 5, AT_ONCE = 100;
const ORDERS = {
  changed: (a, b) => Date.parse(b.changed_at ?? b.created_at) - Date.parse(a.changed_at ?? a.created_at),
  created: (a, b) => Date.parse(b.created_at) - Date.parse(a.created_at),
  name: (a, b) => a.name.localeCompare(b.name),
  told: (a, b) => b.told - a.told,
};
/** @type {Map<number, any>} */
const studies = new Map();
/** @type {Map<number, any>} */
const lines = new Map();
let shown = AT_ONCE, loaded = false, moment = /** @type {string|null} */ (null);

/** Where a study's page is; the name is for people. @param {any} study */
const address = (study) => `${HOME}studies/${study.id}-${study.name.toLowerCase().replace(/[^a-z0-9]+/g, "-").slice(0, 40)}`;

/** How far it is: a part, where one can know, and words. @param {any} study @returns {[number|null, string]} */
function howFar(study) {
  const goal = study.goal;
  if (study.done) return [1, "at its end"];
  if (goal.budget) return [study.told / goal.budget, `${count(study.told)} of ${count(goal.budget)} trials`];
  if (goal.spend) return [null, `for at most ${count(goal.spend)}`];
  const end = goal.epsilon ? `within ${goal.epsilon}` : goal.epsilon_share ? `within ${100 * goal.epsilon_share} %` : "exactly";
  if (study.doubt === null || study.doubt === undefined) return [null, `asked: ${end}`];
  return [null, `right within ${roundUp(Math.max(study.doubt, 0))}, asked: ${end}`];
}

function makeLine() {
  const part = { link: el("a"), sub: el("span", { class: "second" }), state: el("span"), meter: el("div"), far: el("span", { class: "second" }), front: el("div", { class: "chips" }), told: el("td", { class: "right opt" }), pending: el("td", { class: "right opt" }), failed: el("td", { class: "right opt" }), changed: el("td", { class: "right opt" }) };
  part.bar = el("div", { class: "meter", "aria-hidden": "true" }, part.meter);
  part.row = el("tr", {}, el("th", { scope: "row" }, part.link, part.sub), el("td", {}, part.state), el("td", { class: "line" }, part.bar, part.far), el("td", { class: "line" }, part.front), part.told, part.pending, part.failed, part.changed);
  return part;
}

/** @param {any} part @param {any} study */
function drawLine(part, study) {
  say(part.link, study.name);
  part.link.href = address(study);
  say(part.sub, `${plural(study.arms.length, "arm")}, ${plural(study.told, "trial")}${study.pending ? `, ${count(study.pending)} in progress` : ""}`);
  tellState(part.state, study.state);
  const [done, words] = howFar(study);
  show(part.bar, done !== null);
  if (done !== null) part.meter.style.width = perCent(done).replace(" ", "");
  say(part.far, words);
  const front = study.front ?? [], key = JSON.stringify(front);
  if (part.key !== key) {
    part.key = key;
    const more = front.length - CHIPS;
    part.front.replaceChildren(...front.slice(0, CHIPS).map((name) => el("span", { class: "chip" }, name)), ...(more > 0 ? [el("span", { class: "faint small" }, `and ${count(more)} more`)] : []));
    part.front.title = study.sentence ?? "";
  }
  say(part.told, count(study.told));
  say(part.pending, study.pending ? count(study.pending) : "");
  say(part.failed, study.failed ? count(study.failed) : "");
  say(part.changed, ago(study.changed_at ?? study.created_at));
  part.changed.title = day(study.changed_at ?? study.created_at);
}

function wanted() {
  const text = byId("text").value.trim().toLowerCase(), state = byId("state").value;
  return [...studies.values()]
    .filter((study) => (!state || study.state === state) && (!text || study.name.toLowerCase().includes(text) || study.arms.some((arm) => arm.toLowerCase().includes(text))))
    .sort(ORDERS[byId("order").value]);
}

function draw() {
  if (!loaded) return;
  const found = wanted(), rows = byId("rows");
  show(byId("empty"), !studies.size);
  show(byId("listed"), Boolean(studies.size));
  const now = found.slice(0, shown).map((study) => {
    const part = lines.get(study.id) ?? makeLine();
    lines.set(study.id, part);
    drawLine(part, study);
    return part.row;
  });
  arrange(rows, now);
  show(byId("none"), Boolean(studies.size) && !found.length);
  show(byId("more"), found.length > shown);
  say(byId("count"), found.length === studies.size ? plural(studies.size, "study", "studies") : `${count(found.length)} of ${plural(studies.size, "study", "studies")}`);
}

async function load() {
  let after = null;
  do {
    const page = await get("/studies", { after, limit: 1000 });
    for (const study of page.studies) studies.set(study.id, study);
    after = page.next;
    loaded = true;
    moment = new Date().toISOString();
    draw();
  } while (after);
}

function begin() {
  const name = "my-study", url = location.origin + HOME.replace(/\/$/, "");
  byId("make").append(code(`ramgape study create ${name} --storage ${url} \\\n  --arm A --arm B --arm C --reward-range 0 1 --epsilon 0.05`, "the command that makes a study"));
  byId("work").append(code(`ramgape study work ${name} --storage ${url} -- ./trial.sh {arm} {seed}`, "the command that starts a worker"));
  for (const id of ["text", "state", "order"]) byId(id).addEventListener("input", () => { shown = AT_ONCE; draw(); });
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  byId("clear").addEventListener("click", () => { byId("text").value = ""; byId("state").value = ""; draw(); });
  byId("more").addEventListener("click", () => { shown += AT_ONCE; draw(); });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !(event.target instanceof HTMLInputElement)) { event.preventDefault(); byId("text").focus(); }
  });
  follow("/events", {
    changed: (rows) => { for (const study of rows) studies.set(study.id, study); moment = new Date().toISOString(); draw(); },
    gone: (ids) => { for (const id of ids) { studies.delete(id); lines.delete(id); } draw(); },
  }, () => moment);
  setInterval(draw, 10_000);  // what was how long ago
  load().catch((error) => { if (!(error instanceof Refused && error.status === 401)) { say(byId("lost"), error.message); show(byId("lost"), true); } });
  whoami().catch(() => {});
}

theme();
menus();
if (!arrive()) begin();
