// SPDX-License-Identifier: Apache-2.0
// The fleet: one row per drone, worst first. Only the rows in sight are elements, so a thousand cost as much as twenty.

import { DASH, bits, duration, endName, milliseconds, percent, suite } from "./format.js";
import { csvButton } from "./csv.js";
import { el, setText } from "./dom.js";

const MARGIN = 6; // rows beyond each edge
// name in the message, title, text of a cell, class; `down`: large values first
const COLUMNS = [
  { key: "drone", title: "Drone", text: (r) => r.drone },
  { key: "state", title: "State", text: (r) => r.state },
  { key: "trouble", title: "Why", text: (r) => r.trouble || "well", sort: "rank", down: true },
  { key: "station", title: "Station", text: (r) => endName(r.station) || DASH },
  { key: "suite", title: "Suite", text: (r) => suite(r.suite) },
  { key: "key_made_s", title: "Key age", text: (r, now) => (r.key_made_s === null ? DASH : duration(now - r.key_made_s)) },
  { key: "tx_bit_s", title: "Sent", text: (r) => bits(r.tx_bit_s), down: true },
  { key: "rx_bit_s", title: "Received", text: (r) => bits(r.rx_bit_s), down: true },
  { key: "loss", title: "Loss", text: (r) => percent(r.loss), down: true },
  { key: "rtt_ms", title: "RTT", text: (r) => milliseconds(r.rtt_ms), down: true },
  { key: "battery", title: "Battery", text: (r) => (r.battery === null ? DASH : percent(r.battery, 0)) },
  { key: "phase", title: "Phase", text: (r) => r.phase || DASH },
];
const NUMBERS = new Set(["key_made_s", "tx_bit_s", "rx_bit_s", "loss", "rtt_ms", "battery"]);

export class FleetView {
  constructor(root, active) {
    this.rows = new Map();
    this.order = [];
    this.active = active; // drone of the row that the keyboard is at
    this.sort = { key: "rank", down: true };
    this.now = Date.now() / 1000;
    this.pool = [];
    this.columns = [];
    this.build(root);
    this.observer = new ResizeObserver(() => this.draw());
    this.observer.observe(this.scroller);
  }

  close() {
    this.observer.disconnect();
  }

  focus() {
    this.scroller.focus({ preventScroll: true });
  }

  build(root) {
    this.summary = el("p", { class: "summary", role: "status" }, "waiting for the first answer");
    this.filter = el("input", { type: "search", id: "filter", placeholder: "drone, state, station or suite", autocomplete: "off" });
    this.filter.addEventListener("input", () => this.arrange());
    this.worst = el("button", { type: "button", onclick: () => this.by("rank", true) }, "Worst first");
    const head = el(
      "div",
      { class: "row head", role: "row", "aria-rowindex": "1" },
      COLUMNS.map((column, index) => {
        const button = el("button", { type: "button", onclick: () => this.by(column.sort || column.key, Boolean(column.down)) }, column.title);
        return el("div", { class: `cell c-${column.key}`, role: "columnheader", "aria-colindex": index + 1, "data-sort": column.sort || column.key }, button);
      }),
    );
    this.head = head;
    this.body = el("div", { class: "rows", role: "rowgroup" });
    this.scroller = el("div", { class: "scroller", tabindex: "0", role: "grid", "aria-label": "Fleet", "aria-colcount": COLUMNS.length },
      el("div", { role: "rowgroup", class: "headgroup" }, head), this.body);
    this.scroller.addEventListener("scroll", () => this.draw(), { passive: true });
    this.scroller.addEventListener("keydown", (event) => this.key(event));
    this.scroller.addEventListener("focus", () => this.draw());
    this.scroller.addEventListener("blur", () => this.draw());
    root.append(
      el("div", { class: "tools" },
        el("h1", {}, "Fleet"), this.summary, el("span", { class: "spring" }),
        el("label", { for: "filter" }, "Show"), this.filter, this.worst, csvButton("fleet", () => this.csv())),
      this.scroller,
    );
    this.mark();
  }

  take(message) {
    this.now = message.time_s;
    if (message.whole) this.rows.clear();
    for (const cells of message.rows) {
      const row = {};
      for (let i = 0; i < NAMES.length; i++) row[NAMES[i]] = cells[i];
      this.rows.set(row.drone, row);
    }
    for (const drone of message.gone) this.rows.delete(drone);
    this.arrange();
  }

  /** The rows that are shown, in their order, with the figures as the server has them. */
  csv() {
    const names = NAMES.filter((name) => name !== "rank");
    return [names, this.order.map((row) => names.map((name) => row[name]))];
  }

  by(key, down) {
    if (this.sort.key === key) this.sort.down = !this.sort.down;
    else this.sort = { key, down };
    this.scroller.scrollTop = 0;
    this.mark();
    this.arrange();
  }

  mark() {
    for (const cell of this.head.children) {
      const here = cell.dataset.sort === this.sort.key;
      if (here) cell.setAttribute("aria-sort", this.sort.down ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
    }
    this.worst.setAttribute("aria-pressed", String(this.sort.key === "rank" && this.sort.down));
  }

  arrange() {
    const wanted = this.filter.value.trim().toLowerCase();
    const { key, down } = this.sort;
    const sign = down ? -1 : 1;
    const found = [];
    for (const row of this.rows.values()) {
      if (wanted && !`${row.drone} ${row.state} ${row.station || ""} ${suite(row.suite)} ${row.trouble}`.toLowerCase().includes(wanted)) continue;
      found.push(row);
    }
    found.sort((a, b) => {
      const x = a[key], y = b[key];
      // What is not known comes last, whichever way.
      if (x === null || y === null) return (x === null) - (y === null) || compare(a.drone, b.drone);
      return sign * compare(x, y) || compare(a.drone, b.drone);
    });
    this.order = found;
    let troubled = 0;
    const stations = new Set();
    for (const row of this.rows.values()) {
      if (row.rank > 1) troubled++;
      if (row.station) stations.add(row.station);
    }
    this.scroller.classList.toggle("several", stations.size > 1); // one alone needs no column
    const all = `${this.rows.size.toLocaleString("en")} ${this.rows.size === 1 ? "drone" : "drones"}`;
    setText(this.summary, this.rows.size ? `${all}, ${troubled ? `${troubled.toLocaleString("en")} in trouble` : "all well"}` : "no drone is known here yet");
    this.draw();
  }

  draw() {
    const height = this.body.dataset.height ? Number(this.body.dataset.height) : 0;
    const rowHeight = this.measure();
    if (height !== this.order.length * rowHeight) {
      this.body.dataset.height = String(this.order.length * rowHeight);
      this.body.style.height = `${this.order.length * rowHeight}px`;
    }
    this.scroller.setAttribute("aria-rowcount", String(this.order.length + 1));
    const first = Math.max(0, Math.floor(this.scroller.scrollTop / rowHeight) - MARGIN);
    const last = Math.min(this.order.length, Math.ceil((this.scroller.scrollTop + this.scroller.clientHeight) / rowHeight) + MARGIN);
    while (this.pool.length < last - first) this.pool.push(this.makeRow());
    const focused = document.activeElement === this.scroller;
    let activeId = "";
    this.pool.forEach((element, slot) => {
      const index = first + slot;
      const row = index < last ? this.order[index] : null;
      element.root.hidden = row === null;
      if (row === null) return;
      const top = `translateY(${index * rowHeight}px)`;
      if (element.root.style.transform !== top) element.root.style.transform = top;
      element.root.setAttribute("aria-rowindex", String(index + 2));
      const level = row.rank > 6 ? "bad" : row.rank > 1 ? "warn" : "fine";
      if (element.root.dataset.level !== level) element.root.dataset.level = level;
      const active = row.drone === this.active && focused;
      element.root.classList.toggle("active", active);
      element.root.setAttribute("aria-selected", String(row.drone === this.active));
      if (active) activeId = element.root.id;
      COLUMNS.forEach((column, i) => {
        const text = column.text(row, this.now);
        const target = i === 0 ? element.link : element.cells[i];
        setText(target, text);
        if (column.key === "trouble") target.title = text;
      });
      const href = `#/drone/${row.drone}`;
      if (element.link.getAttribute("href") !== href) element.link.setAttribute("href", href);
      if (element.cells[1].dataset.state !== row.state) element.cells[1].dataset.state = row.state;
    });
    if (activeId) this.scroller.setAttribute("aria-activedescendant", activeId);
    else this.scroller.removeAttribute("aria-activedescendant");
  }

  measure() {
    return parseFloat(getComputedStyle(this.scroller).getPropertyValue("--row")) || 36;
  }

  makeRow() {
    const link = el("a", { tabindex: "-1" });
    const cells = COLUMNS.map((column, i) =>
      el("div", { class: `cell c-${column.key}${NUMBERS.has(column.key) ? " figure" : ""}`, role: "gridcell", "aria-colindex": i + 1 }, i === 0 ? link : null));
    const root = el("div", { class: "row", role: "row", id: `row-${this.pool.length}` }, cells);
    root.addEventListener("click", () => {
      location.hash = link.getAttribute("href");
    });
    this.body.append(root);
    return { root, cells, link };
  }

  key(event) {
    if (event.target !== this.scroller) return;
    const rowHeight = this.measure();
    const page = Math.max(1, Math.floor(this.scroller.clientHeight / rowHeight) - 2);
    const at = this.order.findIndex((row) => row.drone === this.active);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: this.order.length - 1 }[event.key];
    if (event.key === "Enter" && at >= 0) location.hash = `#/drone/${this.active}`;
    if (to === undefined || !this.order.length) return;
    event.preventDefault();
    const index = Math.min(this.order.length - 1, Math.max(0, to));
    this.active = this.order[index].drone;
    const top = index * rowHeight;
    const head = this.head.offsetHeight;
    const view = this.scroller.clientHeight - head;
    if (top < this.scroller.scrollTop) this.scroller.scrollTop = top;
    else if (top + rowHeight > this.scroller.scrollTop + view) this.scroller.scrollTop = top + rowHeight - view;
    this.draw();
  }
}

const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

// Names of a row's cells, as the server told at the beginning.
let NAMES = [];

export function learnColumns(names) {
  NAMES = names;
}
