// SPDX-License-Identifier: Apache-2.0
// A plain script before all others: a browser in which something fails says so, and is not left at "connecting".
"use strict";
{
  // WebKitGTK gives the locale C as a language. Intl refuses it, and uPlot asks Intl before anything else.
  try {
    new Intl.NumberFormat(navigator.language);
  } catch {
    Object.defineProperty(navigator, "language", { value: "en" });
  }
  // As the system has it, before the page is drawn; theme.js does the rest.
  document.documentElement.dataset.theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  const say = (what) => {
    const place = document.getElementById("fault");
    if (!place) return addEventListener("DOMContentLoaded", () => say(what), { once: true });
    place.textContent = `This page has a fault in this browser; 'pqcmav status' shows the same in a terminal. ${what}`;
    place.hidden = false;
  };
  const where = (event) => `${event.message || "not loaded:"} ${event.filename || event.target.src || event.target.href || ""}:${event.lineno || ""}`;
  addEventListener("error", (event) => say(where(event)), true); // also of files that are not there
  addEventListener("unhandledrejection", (event) => say(String(event.reason)));
  addEventListener("securitypolicyviolation", (event) => say(`${event.violatedDirective} ${event.blockedURI}`));
}
