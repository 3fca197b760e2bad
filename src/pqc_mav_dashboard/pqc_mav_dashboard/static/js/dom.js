// SPDX-License-Identifier: Apache-2.0
// Elements without markup in strings: what an engine says is text, never HTML.

const SVG = "http://www.w3.org/2000/svg";

/** el("p", {class: "x", onclick: f}, "text", child, ...) */
export function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}

/** Rows: [cells, class]. In a narrow window they are blocks, but for `named` ones, whose first cell is the row's name. */
export function table(heads, rows, { kind = "", caption = "", named = false } = {}) {
  const cell = (content, i) => (named && !i ? el("th", { scope: "row" }, content) : el("td", { "data-head": heads[i] }, content));
  return el("table", { class: `${named ? "named" : "stacked"} figure ${kind}` }, caption ? el("caption", {}, caption) : null,
    el("thead", {}, el("tr", {}, heads.map((head) => (head ? el("th", { scope: "col" }, head) : el("td"))))),
    el("tbody", {}, rows.map(([cells, mark]) => el("tr", { class: mark || "" }, cells.map(cell)))));
}

/** Sets a text only where it changes: readers of the screen and layout are left alone. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Replaces the children only where what they show has changed. */
export function replaceIf(element, key, make) {
  const now = JSON.stringify(key);
  if (element.dataset.key === now) return;
  element.dataset.key = now;
  element.replaceChildren(...[make()].flat());
}
