// SPDX-License-Identifier: Apache-2.0
// How figures are written. What is not known is "unknown" or a dash, never 0.

export const DASH = "–";

const known = (value) => value !== null && value !== undefined && !Number.isNaN(value);

const short = (value) => (value >= 100 || Number.isInteger(value) ? String(Math.round(value)) : value.toFixed(1));

export function number(value, digits = 0, unit = "") {
  if (!known(value)) return DASH;
  const text = Number(value).toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return unit ? `${text} ${unit}` : text;
}

export function bits(value) {
  if (!known(value)) return DASH;
  if (value >= 1e6) return `${short(value / 1e6)} Mbit/s`;
  if (value >= 1e3) return `${short(value / 1e3)} kbit/s`;
  return `${Math.round(value)} bit/s`;
}

export function percent(value, digits = 1) {
  if (!known(value)) return DASH;
  return value === 0 ? "0 %" : `${(value * 100).toFixed(digits)} %`;
}

export function milliseconds(value) {
  if (!known(value)) return DASH;
  if (value === 0) return "0 ms";
  return value < 10 ? `${value.toFixed(2)} ms` : `${Math.round(value).toLocaleString("en")} ms`;
}

/** Seconds for people: 8 s, 2:05, 3:04:05. */
export function duration(seconds) {
  if (!known(seconds)) return DASH;
  const whole = Math.max(0, Math.floor(seconds));
  if (whole < 60) return `${whole} s`;
  const rest = String(whole % 60).padStart(2, "0");
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes}:${rest}`;
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, "0")}:${rest}`;
  return `${Math.floor(minutes / 1440)} days`;
}

/** A moment (seconds since 1970) as a time of day here. */
export function clock(seconds, fraction = false) {
  if (!known(seconds)) return DASH;
  const at = new Date(seconds * 1000);
  const text = at.toLocaleTimeString("en-GB");
  return fraction ? `${text}.${String(at.getMilliseconds()).padStart(3, "0")}` : text;
}

export function bytes(value) {
  if (!known(value)) return DASH;
  return value < 10000 ? `${value.toLocaleString("en")} B` : `${(value / 1024).toFixed(1)} KiB`;
}

export function megabytes(value) {
  return known(value) ? `${(value / 1e6).toFixed(1)} MB` : DASH;
}

/** An end for people: "drone" for the node /drone/pqc_proxy; sockets have short names already. */
export function endName(name) {
  return (name || "").replace(/^\//, "").replace(/\/pqc_proxy$/, "");
}

const codes = new Map();

/** Suites by their short code, once the list is known. */
export function learnSuites(suites) {
  for (const suite of suites || []) codes.set(suite.id, suite.short_code);
}

export function suite(id) {
  return id ? codes.get(id) || id : DASH;
}
