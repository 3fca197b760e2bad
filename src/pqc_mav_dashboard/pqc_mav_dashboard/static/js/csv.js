// SPDX-License-Identifier: Apache-2.0
// What is shown as a file for a spreadsheet (RFC 4180), made in the browser.

import { el } from "./dom.js";

/** Texts that a spreadsheet would run as a formula get an apostrophe: they may quote what a stranger sent. */
function cell(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function csv(heads, rows) {
  return [heads, ...rows].map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";
}

/** Of seconds since 1970; nothing of an event that bears no time. */
export const moment = (seconds) => (Number.isFinite(seconds) ? new Date(seconds * 1000).toISOString() : "");

/** A button that saves what `make` gives: [heads, rows]. */
export function csvButton(name, make) {
  const save = () => {
    const link = el("a", { download: `pqcmav-${name}-${new Date().toISOString().slice(0, 19).replace(/[-:]/g, "")}Z.csv` });
    link.href = URL.createObjectURL(new Blob([csv(...make())], { type: "text/csv" }));
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  };
  return el("button", { type: "button", class: "quiet", "aria-label": `Save as CSV: ${name}`, onclick: save }, "CSV");
}

/** A table as it stands on the page; a <time> gives its whole moment. */
export function ofTable(root) {
  const texts = (row) => [...row.cells].map((each) => each.querySelector("time")?.dateTime || each.textContent);
  const [head, ...rows] = [...root.querySelectorAll("tr")].map(texts);
  return [head || [], rows];
}
