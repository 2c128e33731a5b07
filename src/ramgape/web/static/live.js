// @ts-check
// A stream of events that comes back by itself. Hidden pages let go of it: a browser has few connections to a server.
import { API, toLogin } from "./api.js";
import { byId, say, show } from "./dom.js";
import { clock } from "./format.js";

const AGAIN = 3000;  // milliseconds

/**
 * Follow a stream.
 * @param {string} path
 * @param {Record<string, (data: any) => void>} hear  What to do with each kind of event.
 * @param {() => string|null} last  When what is shown was made.
 * @param {(message: string) => void} [missing]  There is nothing of that kind.
 */
export function follow(path, hear, last, missing = () => {}) {
  const sign = byId("live"), banner = byId("lost");
  let source = /** @type {EventSource|null} */ (null), over = false;

  function tell(word, on) {
    say(sign, word);
    sign.className = `live ${on ? "on" : "off"}`;
  }
  function lost() {
    tell("not connected", false);
    const moment = last();
    say(banner, `The connection is lost: trying again. ${moment ? `What you see is of ${clock(moment)}.` : ""}`);
    show(banner, true);
  }
  function open() {
    if (source || over) return;
    source = new EventSource(API + path);
    source.onopen = () => { tell("live", true); show(banner, false); };
    source.onerror = () => {
      lost();
      if (source?.readyState === EventSource.CLOSED) {  // refused, not cut: a browser does not try again
        source = null;
        refused().catch(() => null).finally(() => setTimeout(open, AGAIN));
      }
    };
    for (const [name, heard] of Object.entries(hear)) source.addEventListener(name, (event) => heard(JSON.parse(event.data)));
  }
  /** Why the stream was refused. */
  async function refused() {
    const answer = await fetch(API + path);
    if (answer.status === 401) toLogin();
    else if (answer.status === 404) { over = true; missing((await answer.json()).message); }
    else await answer.body?.cancel();
  }
  function close() {
    source?.close();
    source = null;
  }
  document.addEventListener("visibilitychange", () => { if (document.hidden) { close(); tell("paused", true); } else open(); });
  window.addEventListener("pagehide", close);
  open();
  return () => { over = true; close(); };
}
