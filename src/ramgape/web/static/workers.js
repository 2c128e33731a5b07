// @ts-check
// Workers, their trials in progress, and when their leases end.
import { byId, el, say, show } from "./dom.js";
import { count, duration, plural } from "./format.js";

/** @param {any} picture @param {number} since  Seconds since the picture was made. */
export function drawWorkers(picture, since) {
  const rows = picture.workers.map(([worker, number, arms, lease]) => el("tr", {}, el("th", { scope: "row" }, worker ?? "(no name)"), el("td", { class: "right" }, count(number)), el("td", { class: "opt" }, `${Object.entries(arms).map(([arm, times]) => times > 1 ? `${arm} (${times})` : arm).join(", ")}${Object.keys(arms).length < number && Object.keys(arms).length === 3 ? ", …" : ""}`), el("td", {}, lease === null ? "never" : lease - since <= 0 ? "it ran out" : `in ${duration(lease - since)}`)));
  byId("workers-rows").replaceChildren(...rows);
  show(byId("workers-table"), rows.length > 0);
  say(byId("workers-words"), words(picture, rows.length));
}

function words(picture, held) {
  const parts = [];
  if (!held) parts.push(picture.done ? "Nothing is in progress: the study is done." : "No trial is in progress. The tab \"Work on it\" says how to start a worker.");
  else if (picture.done) parts.push("The study is done: trials in progress are not needed; they are released when their leases end.");
  if (picture.available) parts.push(`${plural(picture.available, "trial")} ${picture.available === 1 ? "waits" : "wait"} for a worker: a lease ended, or ${picture.available === 1 ? "it was" : "they were"} released.`);
  if (picture.given_up) parts.push(`${plural(picture.given_up, "trial")} failed too often and ${picture.given_up === 1 ? "is" : "are"} given up: ramgape study retry tries again.`);
  if (picture.held) parts.push(`${plural(picture.held, "answer")} ${picture.held === 1 ? "waits" : "wait"} for earlier trials of the same arm.`);
  return parts.join(" ");
}
