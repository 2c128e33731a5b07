// @ts-check
// The API of the server. Whoever is not logged in is sent to the page for that.

export const API = new URL("../api/v1", import.meta.url).pathname;
export const HOME = new URL("../", import.meta.url).pathname;

export class Refused extends Error {
  /** @param {number} status @param {any} answer */
  constructor(status, answer) {
    super(answer?.message ?? `the server said ${status}`);
    this.status = status;
    this.error = answer?.error ?? "";
  }
}

/** What a path gives. @param {string} path @param {Record<string, any>} [asked] @returns {Promise<any>} */
export async function get(path, asked = {}) {
  const query = new URLSearchParams(Object.entries(asked).filter(([, value]) => value !== null && value !== undefined && value !== "").map(([key, value]) => [key, String(value)]));
  const answer = await fetch(`${API}${path}${query.size ? `?${query}` : ""}`, { headers: { Accept: "application/json" } });
  if (answer.status === 401) toLogin();
  const body = await answer.json().catch(() => null);
  if (!answer.ok) throw new Refused(answer.status, body);
  return body;
}

/** Tell the server something. @param {string} path @param {any} body @returns {Promise<any>} */
export async function post(path, body) {
  const answer = await fetch(`${API}${path}`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
  const said = await answer.json().catch(() => null);
  if (!answer.ok) throw new Refused(answer.status, said);
  return said;
}

let leaving = false;

/** To the page that asks who is there, and back: once, for a second call would abort the first. */
export function toLogin() {
  if (leaving) return;
  leaving = true;
  location.replace(`${HOME}login?next=${encodeURIComponent(location.pathname + location.search)}`);
}
