// @ts-check
// Log in: with the code in the address, which is then taken out of it, or with what is typed.
import { HOME, post } from "./api.js";
import { byId, say, show } from "./dom.js";

const asked = new URLSearchParams(location.search);
const target = asked.get("next") ?? "";
// Only a path of this server: who follows a link must not end up elsewhere.
const next = /^\/(?![/\\])/.test(target) ? target : HOME;

/** @param {string} code */
async function login(code) {
  show(byId("wrong"), false);
  try {
    await post("/login", code.startsWith("rg_") ? { token: code } : { code });
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

// Behind a #, where no server and no log sees it; before that, where an older link may have it.
const code = new URLSearchParams(location.hash.slice(1)).get("code") ?? asked.get("code");
if (code) {
  asked.delete("code");
  history.replaceState(null, "", `${location.pathname}${asked.size ? `?${asked}` : ""}`);
  login(code);
} else byId("code").focus();
