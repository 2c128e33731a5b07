// Light or dark, before anything is painted: what was chosen here, or else what the system says.
"use strict";
(() => {
  const root = document.documentElement;
  let kept = null;
  try { kept = localStorage.getItem("ramgape-theme"); } catch { /* a browser that keeps nothing */ }
  if (kept === "light" || kept === "dark") root.dataset.theme = kept;
})();
