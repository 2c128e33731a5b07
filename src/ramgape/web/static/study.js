// @ts-check
// One study, live: everything is drawn from the last picture.
import { API, get } from "./api.js";
import { Arms } from "./arms.js";
import { Choose } from "./choose.js";
import { drawCode } from "./code.js";
import { byId, el, kept, made, onResize, say, set, show, svg } from "./dom.js";
import { brief, count, day, perCent, plural, roundUp } from "./format.js";
import { follow } from "./live.js";
import { Failures, Trials } from "./logs.js";
import { icon, tellState } from "./marks.js";
import { Panels } from "./panels.js";
import { Plane, describe } from "./plane.js";
import { Rows } from "./rows.js";
import { Progress } from "./progress.js";
import { savePng, saveSvg } from "./save.js";
import { Shares } from "./shares.js";
import { arrive, code, copy, menus, theme, whoami } from "./shell.js";
import { tabs } from "./tabs.js";
import { drawWorkers } from "./workers.js";

const POINTS = 400, SPOKEN = 10_000, PAST = 20_000;
const number = Number.parseInt(location.pathname.split("/").pop() ?? "", 10);
const path = `/studies/${number}`;

/** All that is known. @type {any} */
export const known = { frame: null, picture: null, arms: [], past: { told: [], doubt: [], unproved: [], arms: [], pulls: [], spent: null }, selected: null, at: 0, tab: "trials" };

const plane = new Plane(byId("plane"), select), rows = new Rows(byId("rows-picture"), select), panels = new Panels(byId("panels"), select);
const table = new Arms(byId("arms-head"), byId("arms-rows"), byId("arms-more"), select);
const progress = new Progress({ doubt: byId("doubt"), open: byId("open"), words: byId("progress-words") });
const shares = new Shares(byId("shares"));
const choose = new Choose(path, soon);
const trials = new Trials(path), failures = new Failures(path);
table.redraw = soon;

/** @param {string|null} name */
function select(name) { known.selected = name; soon(); }

let waiting = false;
/** Draw with the next frame of the screen, however often that is asked for. */
function soon() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => { waiting = false; draw(); });
}

// --- what comes in ---------------------------------------------------------------------------------------------------

function takeFrame(frame) {
  known.frame = frame;
  say(byId("name"), frame.name);
  document.title = `${frame.name} - ramgape`;
  trials.arms(frame.arms);
  drawCode(frame);
  byId("asked").replaceChildren(...facts([["Question", frame.sought], ["Goal", frame.goal.words], ["Method", frame.method], ...frame.settings, ["Created", day(frame.created_at)], ...(frame.retired.length ? [["Retired arms", frame.retired.join(", ")]] : [])]));
  byId("specification").replaceChildren(code(JSON.stringify(frame.specification, null, 2), "the specification"));
  for (const [id, file] of [["save-csv", "/export.csv"], ["save-json", ""], ["save-report", "/report.html"]]) byId(id).href = `${API}${path}${file}`;
  byId("save-json").download = `${slug()}.json`;
  if (!known.picture) fillTiles([["Arms", count(frame.arms.length), ""], ["Asked for", frame.goal.words, ""]]);
  soon();
}

export function takePicture(picture) {
  known.picture = picture;
  known.at = performance.now();
  const { columns } = known.frame;
  known.arms = picture.rows.map((row) => { const arm = {}; for (let at = 0; at < columns.length; at += 1) arm[columns[at]] = row[at]; arm.name = arm.arm; return arm; });
  views(picture.numbers);
  remember(picture);
  soon();
}

/** Of several outcomes: panels for all numbers, and a plane for each two of them. @param {any[]} numbers */
function views(numbers) {
  const place = byId("view"), key = JSON.stringify(numbers.map(({ label }) => label));
  if (place.key === key) return;
  place.key = key;
  const pairs = numbers.flatMap((one, at) => numbers.slice(at + 1).map((other, further) => [`${at},${at + 1 + further}`, `${one.label} and ${other.label}`]));
  place.replaceChildren(el("option", { value: "panels" }, "all numbers"), ...pairs.map(([value, text]) => el("option", { value }, text)));
  show(byId("view-label"), numbers.length > 0);
}

/** How the arms are drawn: "plane", "rows" or "panels", and the frame of the plane, of whichever two numbers. @returns {[string, any]} */
function drawn() {
  const { frame, picture: { numbers }, arms } = known;
  if (frame.drawn !== "panels") return [frame.drawn, frame];
  const [across, up] = byId("view").value.split(",").map(Number);
  if (!numbers[up]) return ["panels", frame];
  for (const arm of arms) {
    [arm.mean, arm.mean_low, arm.mean_high] = arm.numbers[across];
    [arm.risk, arm.risk_low, arm.risk_high] = arm.numbers[up];
  }
  const risk = { ...numbers[up], turned: numbers[up].better === "higher" };
  return ["plane", { ...frame, mean: numbers[across], risk, task: "", direction: numbers[across].better === "lower" ? "minimize" : "maximize", about_risk: true }];
}

/** Add the present to the past; fetch that anew where it is missing, or other arms take most trials now. */
function remember(picture) {
  const { past, arms } = known, last = past.told[past.told.length - 1] ?? -1, samples = arms.reduce((sum, arm) => sum + arm.pulls, 0);
  if (!past.fetched || Date.now() - past.fetched > PAST && (picture.told > 1.2 * last || past.told.length > 2 * POINTS)) fetchPast();
  if (!picture.begun || samples < last + Math.max(1, samples / POINTS) && !(picture.done && samples > last) || !past.arms.length) return;
  const of = (key) => { const some = past.arms.map((name) => arms.find((arm) => arm.name === name)?.[key] ?? 0), all = arms.reduce((sum, arm) => sum + (arm[key] ?? 0), 0); return [...some, all - some.reduce((sum, each) => sum + each, 0)]; };
  past.told.push(samples);
  past.doubt.push(picture.doubt);
  past.unproved.push(picture.unproved);
  past.pulls.push(of("pulls"));
  past.spent?.push(of("spent"));
}

async function fetchPast() {
  known.past.fetched = Date.now();
  const found = await get(`${path}/history`, { points: POINTS }).catch(() => null);
  if (!found) return;
  known.past = { ...found, fetched: Date.now() };
  soon();
  if (!found.complete) setTimeout(fetchPast, 1500);
}

// --- what is drawn ---------------------------------------------------------------------------------------------------

function facts(pairs) { return pairs.filter(([, text]) => text).flatMap(([word, text]) => [el("dt", {}, word), el("dd", {}, text)]); }

function drawTiles(frame, picture) {
  const counts = { in: 0, open: 0, out: 0 };
  for (const arm of known.arms) if (arm.verdict in counts) counts[arm.verdict] += 1;
  const still = picture.done ? "none" : picture.expected ? `${picture.expected[1] ? "over" : "about"} ${count(rough(picture.expected[0]))}` : picture.begun ? "…" : "not known yet";
  const rows = [
    ["Trials", count(picture.told), picture.late ? `${count(picture.late)} after the end, not counted` : ""],
    ["In progress", count(picture.pending), picture.done && picture.pending ? "given back when their leases end" : ""],
    ["Failed", count(picture.failed), picture.given_up ? `${count(picture.given_up)} given up` : ""],
    ...(frame.goal.kind === "budget" ? [] : [["Uncertainty", picture.doubt === null ? "not known yet" : roundUp(Math.max(picture.doubt, 0)), picture.relative ? "times the tolerances" : picture.epsilon ? `tolerance ${brief(picture.epsilon)}` : ""]]),
    ["Expected still", still, ""],
    ...(picture.spent === null ? [] : [["Spent", brief(picture.spent), picture.spend ? `of ${brief(picture.spend)}` : ""]]),
    ["In, open, out", `${counts.in} / ${counts.open} / ${counts.out}`, ""],
  ];
  fillTiles(rows);
}

/** Words, what they count, and a remark. @param {any[][]} rows */
function fillTiles(rows) {
  const place = byId("tiles");
  if (place.made?.length !== rows.length) {
    place.made = rows.map(() => ({ word: el("dt"), value: el("dd"), more: el("dd", { class: "more" }) }));
    place.replaceChildren(...place.made.map((tile) => el("div", { class: "tile" }, tile.word, tile.value, tile.more)));
  }
  rows.forEach(([word, value, more], at) => {
    const tile = place.made[at];
    say(tile.word, word);
    say(tile.value, value);
    set(tile.value, { class: String(value).length > 12 ? "words" : "" });
    say(tile.more, more);
    show(tile.more, Boolean(more));
  });
}

/** In two digits. */
const rough = (value) => { const unit = 10 ** Math.max(String(value).length - 2, 0); return Math.round(value / unit) * unit; };

function drawLegend(frame) {
  const counts = { in: 0, open: 0, out: 0, control: 0, ring: 0 };
  for (const arm of known.arms) {
    if (!arm.pulls) continue;
    counts[arm.verdict] += 1;
    if (arm.returned && arm.verdict === "open") counts.ring += 1;
  }
  const words = { in: `in the ${frame.task === "pareto" ? "Pareto set" : "answer"}`, open: "open", out: "out", control: "control", ring: "in so far" };
  const place = byId("legend");
  place.made ??= Object.fromEntries(Object.keys(counts).map((kind) => {
    const mark = kind === "ring" ? svg("svg", { viewBox: "-8 -8 16 16", "aria-hidden": "true" }, svg("circle", { class: "ring", r: 6 })) : icon(kind), text = el("span"), item = el("li", { class: kind }, mark, text);
    place.append(item);
    return [kind, { item, text }];
  }));
  for (const [kind, { item, text }] of Object.entries(place.made)) {
    show(item, counts[kind] > 0);
    say(text, `${words[kind]} (${counts[kind]})`);
  }
}

function drawCallouts(picture) {
  const said = [...(picture.alarm ? [["Drift", picture.alarm]] : []), ...picture.warnings.map((text) => ["Warning", text])];
  const key = JSON.stringify([said, picture.alarms, picture.notes]), place = byId("callouts");
  if (place.key === key) return;
  place.key = key;
  const boxes = () => said.map(([word, text]) => el("p", { class: "callout" }, el("strong", {}, `${word}: `), text));
  place.replaceChildren(...boxes());
  show(place, said.length > 0);
  const list = picture.alarms.map(([arm, sign, evidence, pull]) => el("tr", {}, el("th", { scope: "row" }, arm), el("td", {}, sign), el("td", { class: "right" }, `${evidence} to 1`), el("td", { class: "right" }, count(pull))));
  const head = ["Arm", "What gave it away", "Evidence", "Since trial"].map((text, at) => el("th", { scope: "col", class: at > 1 ? "right" : "" }, text));
  byId("alarms").replaceChildren(...(said.length ? boxes() : [el("p", { class: "faint" }, "No drift or dependence detected, and no warning.")]),
    ...(list.length ? [el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, ...head)), el("tbody", {}, ...list)))] : []), ...picture.notes.map((text) => el("p", { class: "faint" }, `Note: ${text}.`)));
}

function drawProved(picture) {
  const rigour = picture.rigour === "approximate" ? "approximate: intervals hold nearly as often as they state (central limit theorem); rare events go unseen" : "proved: intervals hold as they are stated";
  const place = byId("proved"), pairs = [["Guarantee", picture.guarantee], ["Certified", picture.certified ?? "nothing yet"], ["Rigour", rigour], ["Ended", picture.ended]];
  if (!place.firstChild) place.append(...facts(pairs));
  pairs.forEach(([, text], at) => say(place.children[2 * at + 1], text));
}

let spokenAt = 0;
/** For those who listen: the answer, when it is another, and not all the time. */
function speak(text) {
  if (Date.now() - spokenAt < SPOKEN || byId("spoken").said === text) return;
  spokenAt = Date.now();
  say(byId("spoken"), text);
}

export function draw() {
  const { frame, picture, arms, past } = known;
  if (!frame || !picture) return;
  const began = performance.now(), before = made.nodes;
  if (!known.drawn) for (const id of ["sentence", "plane-place"]) byId(id).classList.remove("skeleton");
  known.drawn = true;
  tellState(byId("state"), picture.state);
  say(byId("sentence"), picture.sentence);
  speak(picture.sentence);
  say(byId("guarantee"), picture.guarantee);
  drawTiles(frame, picture);
  drawLegend(frame);
  drawCallouts(picture);
  drawProved(picture);
  show(byId("not-yet"), !picture.begun);
  const [kind, view] = drawn();
  for (const each of ["plane", "rows", "panels"]) show(byId(`${each}-place`), picture.begun && kind === each);
  show(byId("regions-label"), kind === "plane");
  const title = frame.drawn === "panels" ? (kind === "plane" ? `${view.mean.label} and ${view.risk.label}` : "The arms by each number") : kind === "plane" ? "Mean and risk" : frame.control ? "Against the control" : "Compared";
  say(byId("plane-title"), title[0].toUpperCase() + title.slice(1));
  if (!picture.begun) say(byId("not-yet"), `Not enough yet: every arm needs its first trials before anything can be drawn. ${count(arms.filter((arm) => !arm.pulls).length)} of ${plural(arms.length, "arm")} had none so far.`);
  else if (kind === "panels") panels.draw(picture, arms, { hideOut: byId("hide-out").checked, selected: known.selected });
  else if (kind === "rows") rows.draw(frame, picture, arms, { hideOut: byId("hide-out").checked, selected: known.selected });
  else plane.draw(view, picture, arms, { regions: byId("regions").checked, hideOut: byId("hide-out").checked, selected: known.selected, chosen: choose.chosen, ceiling: choose.ceiling });
  const chosen = arms.find((arm) => arm.name === known.selected);
  say(byId("told"), chosen ? describe(chosen, picture, frame) : picture.begun ? kind === "panels" ? "Lines are where arms may be: the shorter, the more is known. Click an arm, or a row of the table, to read more." : kind === "rows" ? "Lines are 95% intervals, each by itself. Click an arm, or a row of the table, to read more." : byId("regions").checked ? "Each box holds with all others at once; overlap is fine: arms are compared directly." : "An arrow goes from each dropped arm to one that is kept in its favor. Click an arm, or a row of the table, to read more." : "");
  choose.draw(frame, picture, arms);
  show(byId("share-meter"), picture.share !== null);
  if (picture.share !== null && known.share !== picture.share) { known.share = picture.share; byId("share-done").style.width = perCent(picture.share).replace(" ", ""); }
  say(byId("progress-title"), frame.goal.kind === "budget" ? "How far it is" : "Uncertainty and tolerance");
  progress.draw(frame, picture, past);
  show(byId("money-label"), Boolean(past.spent));
  shares.draw(past, byId("money").checked && past.spent ? "spent" : "pulls");
  say(byId("shares-words"), past.told.length ? "" : picture.begun && !past.complete ? "Reading how it came here." : "Not enough yet: each arm needs its first trials.");
  show(byId("shares-words"), !past.told.length);
  say(byId("shares-title"), byId("money").checked && past.spent ? "Where the money went" : "Where the trials went");
  say(byId("counts"), [picture.trials, picture.done ? "" : picture.expected_words].filter(Boolean).join("; "));
  table.draw(frame, picture, arms, known.selected);
  drawTab();
  const redraws = /** @type {any} */ (window).redraws ??= [];
  redraws.push({ ms: performance.now() - began, nodes: made.nodes - before, told: picture.told });
  if (redraws.length > 500) redraws.shift();
}

/** What is under the open tab. */
function drawTab() {
  const { picture, tab } = known;
  if (!picture) return;
  if (tab === "workers") drawWorkers(picture, (performance.now() - known.at) / 1000);
  trials.heed(picture.told, tab === "trials");
  failures.heed(picture.failed, tab === "failures");
}

// --- begin -----------------------------------------------------------------------------------------------------------

const slug = () => `${known.frame?.name ?? "study"}`.replace(/[^\w.-]+/g, "-");

const drawing = () => byId(!byId("rows-place").hidden ? "rows-picture" : byId("panels-place").hidden ? "plane" : "panels");

function begin() {
  for (const id of ["regions", "hide-out"]) {
    byId(id).checked = kept(id) === "yes";
    byId(id).addEventListener("change", () => { kept(id, byId(id).checked ? "yes" : "no"); soon(); });
  }
  for (const id of ["money", "view"]) byId(id).addEventListener("change", soon);
  byId("save-svg").addEventListener("click", () => saveSvg(drawing(), slug(), known.picture?.title ?? ""));
  byId("save-png").addEventListener("click", () => savePng(drawing(), slug(), known.picture?.title ?? ""));
  byId("share").addEventListener("click", () => copy(byId("share"), location.href));
  tabs(byId("tabs"), (name) => { known.tab = name; trials.version = failures.version = -1; drawTab(); });
  onResize(soon);
  follow(`${path}/events`, {
    frame: takeFrame,
    picture: (picture) => { show(byId("lost"), false); takePicture(picture); },
    gone: () => missing("The study was deleted."),
    trouble: ({ message }) => { say(byId("lost"), message); show(byId("lost"), true); },
  }, () => known.picture?.at ?? null, missing);
  setInterval(() => { if (known.tab === "workers") drawTab(); }, 1000);
  whoami().catch(() => {});
}

/** @param {string} text */
function missing(text) {
  known.frame = known.picture = null;  // of which nothing is drawn any longer
  byId("main").replaceChildren(el("section", { class: "card whole" }, el("h2", {}, "There is no such study"), el("p", {}, text), el("p", {}, el("a", { href: ".." }, "All studies"))));
  say(byId("state"), "");
  show(byId("lost"), false);
}

theme();
menus();
if (!arrive()) begin();
