// SPDX-License-Identifier: Apache-2.0
// One drone: its tunnel at both ends, its handshakes, its senses, its policy, what happened.

import { Charts } from "./charts.js";
import { csvButton, moment, ofTable } from "./csv.js";
import { DASH, bits, clock, duration, endName, megabytes, milliseconds, number, percent, suite } from "./format.js";
import { el, replaceIf, setText, table } from "./dom.js";
import { handshakeTable } from "./handshakes.js";
import { drawPlan } from "./plan.js";
import { PHASES, absent, policyCard, senseCards, threatCard } from "./senses.js";

const EVENTS = 200;
// Times that can be shown, as the server told at the beginning; more than one where it keeps a history.
let SPANS_S = [];
export function learnSpans(spans_s) {
  SPANS_S = spans_s;
}

// Of ends at a serial radio.
const ofRadio = (text) => (e) => (e.link?.radio ? text(e.link.radio) : DASH);
const RADIO = [
  ["Radio takes", ofRadio((r) => `${number(r.kbit)} kbit/s`)],
  ["Radio's buffer", ofRadio((r) => `${percent(r.fill, 0)} full`)],
  ["Signal here, there", ofRadio((r) => `${number(r.rssi)}, ${number(r.remote_rssi)}`)],
  ["Noise here, there", ofRadio((r) => `${number(r.noise)}, ${number(r.remote_noise)}`)],
  ["Frames on the line", ofRadio((r) => `${number(r.line_errors)} damaged, ${number(r.not_mine)} not mine`)],
  ["Radio did not take", ofRadio((r) => `${number(r.dropped)} dropped, stuck ${number(r.stuck)} times`)],
];

// A row for each path of a drone that has several; its own end tells them.
function pathRows(ends) {
  const names = [...new Set(ends.flatMap((e) => (e.status.paths || []).map((path) => path.name)))];
  return names.map((name) => [`Path ${name}`, (e) => saidOfPath((e.status.paths || []).find((path) => path.name === name))]);
}

function saidOfPath(path) {
  if (!path) return DASH;
  const carried = `${megabytes(path.tx_bytes)} up, ${megabytes(path.rx_bytes)} down`;
  const words = `${path.state}, ${milliseconds(path.rtt_ms)}, loss ${percent(path.loss, 0)}, ${carried}`;
  return path.problem ? `${words}: ${path.problem}` : words;
}

export class DroneView {
  constructor(root, drone, actions, span) {
    this.drone = drone;
    this.actions = actions;
    this.span = el("select", { "aria-label": "Time shown", hidden: true, onchange: () => {
      this.charts.shown_s = Number(this.span.value);
      span(this.charts.shown_s);
    } });
    this.events = [];
    this.handshakes = null;
    this.suites = [];
    this.build(root);
  }

  close() {
    this.charts.close();
  }

  focus() {
    this.heading.focus({ preventScroll: true });
  }

  recolour() {
    this.charts.build();
  }

  build(root) {
    this.heading = el("h1", { tabindex: "-1" }, this.drone);
    this.state = el("span", { class: "state" });
    this.words = el("p", { class: "words" });
    this.facts = el("dl", { class: "facts" });
    this.act = el("button", { type: "button", class: "primary live", onclick: () => this.actions.open(this) }, "Actions");
    this.chartBox = el("div", { class: "charts" });
    const card = (title, body, wide = false, make = null, more = null) => el("section", { class: wide ? "card wide" : "card", "aria-label": title },
      el("div", { class: "cardhead" }, el("h2", {}, title), el("span", { class: "spring" }), more, make && csvButton(`${this.drone}-${title.toLowerCase().replaceAll(" ", "-")}`, make)), body);
    this.ends = el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Both ends, table" });
    this.shakes = el("div", { class: "scroll shakes-box", tabindex: "0", role: "group", "aria-label": "Handshakes, table" });
    this.senses = el("div", { class: "senses" });
    this.plan = el("div");
    this.policy = el("div");
    this.threat = el("div");
    this.log = el("div", { class: "scroll log", tabindex: "0", role: "group", "aria-label": "Events, list" });
    root.append(
      el("p", { class: "back" }, el("a", { href: "#/" }, "Fleet"), ` / ${this.drone}`),
      el("div", { class: "top" }, this.heading, this.state, el("span", { class: "spring" }), this.act),
      this.words,
      this.facts,
      el("div", { class: "cards" },
        card("Link over time", this.chartBox, true, () => this.charts.csv(), this.span),
        card("Plan of the flight", this.plan, false, () => this.charts.csv()),
        card("Events", this.log, false, () => [["time", "end", "event"], this.events.map((event) => [moment(event.time), endName(event.end), said(event)])]),
        card("Both ends", this.ends, true, () => ofTable(this.ends)), card("Handshakes", this.shakes, true, () => ofTable(this.shakes)),
        card("Policy", this.policy, true, () => ofTable(this.policy)),
        card("Aircraft and computer", this.senses, true), card("Threat", this.threat, true)),
    );
    this.charts = new Charts(this.chartBox);
  }

  stale(yes) {
    this.chartBox.closest(".cards").classList.toggle("stale", yes);
  }

  take(message) {
    this.message = message;
    if (!this.span.length && SPANS_S.length > 1) {
      this.span.append(...SPANS_S.map((each) => el("option", { value: each }, each < 3600 ? `${each / 60} min` : `${each / 3600} h`)));
      this.span.hidden = false;
    }
    if (message.suites) this.suites = message.suites;
    if (message.handshakes) this.handshakes = message.handshakes;
    const end = message.ends[0];
    setText(this.state, end ? end.state : "UNKNOWN");
    this.state.dataset.state = end ? end.state : "SILENT";
    setText(this.words, message.trouble || "The tunnel is well.");
    this.words.dataset.level = message.rank > 6 ? "bad" : message.rank > 1 ? "warn" : "fine";
    this.showFacts(end, message);
    this.charts.take(message.points, message.whole);
    drawPlan(this.plan, this.charts.points, message.senses.vehicle.absent);
    this.showEnds(message);
    replaceIf(this.shakes, [this.handshakes], () => handshakeTable(this.handshakes || [], message.replay));
    senseCards(this.senses, message.senses);
    policyCard(this.policy, message.senses.policy, message.conditions);
    threatCard(this.threat, message.senses.threat);
    this.showEvents(message);
    this.actions.update(this);
  }

  showFacts(end, message) {
    const status = end ? end.status : {};
    const session = Boolean(status.suite);
    const facts = [
      ["Suite", session ? suite(status.suite) + (status.hybrid ? "" : " (without X25519)") : "no session"],
      ["Key age", session && end.key_made_s ? duration(message.time_s - end.key_made_s) : DASH],
      ["Epoch", session ? String(status.epoch) : DASH],
      ["Phase of flight", phaseOf(message.senses.vehicle)],
      ["Battery", batteryOf(message.senses.battery)],
      ["Decision", decisionOf(message.senses.policy)],
    ];
    replaceIf(this.facts, facts, () => facts.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", { class: value.startsWith("absent") ? "absent" : "" }, value))));
  }

  showEnds(message) {
    const rows = [
      ["State", (e) => e.state + (e.silent_s ? ` for ${duration(e.silent_s)}` : "")],
      ["Suite", (e) => (e.status.suite ? suite(e.status.suite) : "no session")],
      ["Key age", (e) => (e.key_made_s ? duration(message.time_s - e.key_made_s) + (e.key_old ? ", too old" : "") : DASH)],
      ["Session", (e) => (e.status.session_id ? `${e.status.session_id}, epoch ${e.status.epoch}` : DASH)],
      ["Peer", (e) => e.status.peer || DASH],
      ["Sent", (e) => rate(e.stats, "tx")],
      ["Received", (e) => rate(e.stats, "rx")],
      ["Loss to here", (e) => percent(e.link?.local?.loss)],
      ["95 % of gaps", (e) => milliseconds(e.link?.local?.gap_p95_ms)],
      ["Longest silence", (e) => milliseconds(e.link?.local?.longest_silence_ms)],
      ["Blackouts (5 s)", (e) => number(e.link?.local?.blackouts)],
      ["RTT, least", (e) => `${milliseconds(e.link?.rtt_ms)}, ${milliseconds(e.link?.rtt_min_ms)}`],
      ...(message.ends.some((e) => e.link?.radio) ? RADIO : []),
      ...pathRows(message.ends),
      ["Dropped", (e) => number(e.drops)],
      ["Handshakes", (e) => `${number(e.status.handshakes_ok)} first, ${number(e.status.rekeys_ok)} renewed, ${number(e.status.handshakes_failed)} failed`],
      ["Application", (e) => (e.status.plain_local ? `${e.status.plain_local} → ${e.status.plain_peer || "nobody yet"}` : DASH)],
      ["Stations", (e) => (e.status.stations?.length ? e.status.stations.join(", ") : e.status.station || DASH)],
      ["Last error", (e) => e.status.last_error || "none"],
    ];
    const cells = rows.map(([name, text]) => [name, ...message.ends.map(text)]);
    const heads = message.ends.map((end) => `${end.role === "drone" ? "At the drone" : "At the ground"} (${endName(end.name)})`);
    replaceIf(this.ends, [heads, cells], () => (heads.length ? table(["", ...heads], cells.map((row) => [row]), { named: true })
      : absent("No engine of this machine knows this drone.")));
  }

  showEvents(message) {
    if (message.whole) this.events = [];
    this.events.push(...message.events);
    this.events = this.events.slice(-EVENTS);
    replaceIf(this.log, [this.events.length, this.events.at(-1)], () => (this.events.length
      ? el("ol", { class: "events" }, this.events.slice().reverse().map((event) => el("li", { "data-kind": event.level || event.event },
        el("time", {}, clock(event.time)), el("span", { class: "end" }, endName(event.end)), el("span", {}, said(event)))))
      : absent(message.replay ? "Nothing has happened up to here." : "Nothing has happened since this page was opened.")));
  }
}

function rate(stats, way) {
  if (!stats) return DASH;
  return `${bits(stats[`${way}_bytes_per_s`] === null ? null : stats[`${way}_bytes_per_s`] * 8)}, ${number(stats[`${way}_packets_per_s`])}/s`;
}

function said(event) {
  if (event.event === "state") return `${event.old ? `${event.old} → ` : ""}${event.new}${event.reason ? `: ${event.reason}` : ""}`;
  if (event.event === "handshake") {
    return event.ok ? `${event.kind}: ${suite(event.suite)}, epoch ${event.epoch}, ${milliseconds(event.handshake_ms)}`
      : `${event.kind} failed: ${event.reason || event.error}`;
  }
  if (event.event === "lost") return `${event.count} events were missed`;
  return event.text || event.event;
}

function phaseOf(sense) {
  if (sense.absent) return "absent";
  return PHASES[sense.fields.phase] || "unknown";
}

function batteryOf(sense) {
  if (sense.absent) return "absent";
  if (!sense.fields.valid) return `absent: ${sense.fields.reason}`;
  return `${number(sense.fields.voltage_v, 2, "V")}, ${percent(sense.fields.state_of_charge, 0)}`;
}

function decisionOf(sense) {
  return sense.absent ? "absent" : `${sense.fields.action} (${sense.fields.guard})`;
}
