// @ts-check
// Log in: with the code in the address, which is then taken out of it, or with what is typed.
import { HOME, post } from "./api.js";
import { byId, say, show } from "./dom.js";

const asked = new URLSearchParams(location.search);
// Only a page of this server: who follows a link must not end up elsewhere. A browser says which one is meant, since it
// leaves out tabs and line breaks, and takes \ for /.
const next = here(asked.get("next") ?? "") ?? HOME;

/** @param {string} target */
function here(target) {
  try {
    const meant = new URL(target, location.origin + HOME);
    return target.startsWith("/") && meant.origin === location.origin ? meant.href : null;
  } catch { return null; }
}

/** @param {string} given  a code, or a token */
async function login(given) {
  show(byId("wrong"), false);
  try {
    await post("/login", given.startsWith("rg_") ? { token: given } : { code: given });
    location.replace(next);
  } catch (error) {
    say(byId("wrong"), /** @type {Error} */ (error).message);
    show(byId("wrong"), true);
    byId("code").select();
  }
}

byId("form").addEventListener("submit", (event) => {
  event.preventDefault();
  login(byId("code").value.trim());
});

// Behind the #, which browsers send to nobody.
const code = new URLSearchParams(location.hash.slice(1)).get("code");
if (code) {
  history.replaceState(null, "", `${location.pathname}${asked.size ? `?${asked}` : ""}`);
  login(code);
} else byId("code").focus();
