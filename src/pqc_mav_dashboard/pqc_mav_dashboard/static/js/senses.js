// SPDX-License-Identifier: Apache-2.0
// What the drone's computer says: senses, threat, policy. What is not there is said to be absent, and why.

import { DASH, duration, number, percent, suite } from "./format.js";
import { el, replaceIf, table } from "./dom.js";

const OLD_S = 5;
export const PHASES = ["unknown", "disarmed", "take-off", "cruise", "hover", "landing"];
const LEVELS = ["none", "suspicious", "attack"];

export function absent(why) {
  return el("p", { class: "absent" }, why);
}

const SENSES = [
  ["battery", "Battery", (f) => [
    ["Voltage", number(f.voltage_v, 2, "V")], ["Charge", percent(f.state_of_charge, 0)], ["Current", number(f.current_a, 1, "A")],
    ["Slope", number(f.voltage_rate_mv_per_min, 0, "mV/min")], ["Endurance", f.endurance_s === null ? DASH : duration(f.endurance_s)]]],
  ["thermal", "Temperature", (f) => [
    ["Processor", number(f.temperature_c, 1, "°C")], ["Slope", number(f.rate_c_per_min, 1, "°C/min")],
    ["Throttled", f.throttled ? f.throttle_reason || "yes" : "no"]]],
  ["power", "Power", (f) => [
    ["Mean", number(f.power_mean_w, 2, "W")], ["Peak", number(f.power_peak_w, 2, "W")], ["Since start", number(f.energy_j / 3600, 2, "Wh")],
    ["Source", f.measured ? f.source : `${f.source}, not measured`]]],
  ["load", "Computer", (f) => [
    ["Processor", number(f.cpu_percent, 0, "%")], ["Load", number(f.load_1, 2)], ["Memory", `${number(f.memory_used_mib)} of ${number(f.memory_total_mib)} MiB`]]],
  ["vehicle", "Flight", (f) => [
    ["Phase", PHASES[f.phase] || "unknown"], ["Armed", f.armed ? "yes" : "no"], ["Mode", f.mode || DASH],
    ["Height", number(f.relative_altitude_m, 1, "m")], ["Speed", number(f.ground_speed_m_s, 1, "m/s")]]],
];

function age(sense) {
  return sense.age_s > OLD_S ? [el("p", { class: "old" }, `${duration(sense.age_s)} old`)] : [];
}

function list(facts) {
  return el("dl", { class: "facts small" }, facts.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", { class: "figure" }, value))));
}

export function senseCards(root, senses) {
  const shown = SENSES.map(([kind]) => [senses[kind].absent || senses[kind].fields, senses[kind].age_s > OLD_S ? Math.floor(senses[kind].age_s) : 0]);
  const all = SENSES.map(([kind]) => senses[kind].absent);
  replaceIf(root, shown, () => {
    if (all.every((why) => why && why === all[0])) return absent(all[0]);
    return SENSES.map(([kind, title, facts]) => {
      const sense = senses[kind];
      const body = sense.absent ? [absent(sense.absent)]
        : sense.fields.valid === false ? [absent(`Not valid: ${sense.fields.reason}`)]
          : [list(facts(sense.fields)), ...age(sense)];
      return el("div", { class: "sense" }, el("h3", {}, title), body);
    });
  });
}

export function threatCard(root, sense) {
  replaceIf(root, [sense.absent || sense.fields, sense.age_s > OLD_S ? Math.floor(sense.age_s) : 0], () => {
    if (sense.absent) return absent(sense.absent);
    const f = sense.fields;
    return [
      el("p", { class: "threat", "data-level": LEVELS[f.level] || "unknown" }, LEVELS[f.level] || "unknown", f.kind ? `: ${f.kind}` : ""),
      f.reason ? el("p", {}, f.reason) : null,
      f.evidence?.length ? el("ul", {}, f.evidence.map((each) => el("li", {}, each))) : null,
      list([["Detector", f.source || DASH], ["Probability", percent(f.probability, 0)], ["Response", f.response || "none"]]),
      ...age(sense),
    ].filter(Boolean);
  });
}

export function policyCard(root, sense, conditions) {
  const f = sense.fields;
  const key = [sense.absent || [f.mode, f.strategy, f.action, f.guard, f.reason, f.from_suite, f.to_suite, f.outcome], conditions, sense.age_s > OLD_S ? Math.floor(sense.age_s) : 0];
  replaceIf(root, key, () => {
    if (sense.absent) return absent(sense.absent);
    const change = f.to_suite !== f.from_suite ? `${suite(f.from_suite)} → ${suite(f.to_suite)}` : suite(f.to_suite);
    return [
      el("p", { class: "decision" }, el("b", {}, f.action), ` by rule ${f.guard}, ${change}`),
      el("p", {}, f.reason),
      list([["Strategy", f.strategy], ["Mode", f.mode], ["Newest request", f.outcome || "none yet"]]),
      ...age(sense),
      conditionTable(conditions),
    ];
  });
}

function conditionTable(conditions) {
  if (!conditions || conditions.absent) return absent(conditions?.absent || "The conditions are not known.");
  const rows = conditions.rows.map((c) => [[String(c.priority), c.guard, c.what, c.value || DASH, c.limit || DASH, c.met === null ? "unknown" : c.met ? "yes" : "no"],
    c.met ? "met" : ""]);
  const heads = ["Place", "Rule", "Condition", "Now", "Limit", "Met"];
  return el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Conditions, table" },
    table(heads, rows, { kind: "conditions", caption: conditions.note }));
}
