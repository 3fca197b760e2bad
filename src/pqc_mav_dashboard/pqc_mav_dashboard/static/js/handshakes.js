// SPDX-License-Identifier: Apache-2.0
// Every handshake with its phases, its primitives and its sizes.

import { absent } from "./senses.js";
import { bytes, clock, endName, milliseconds, suite } from "./format.js";
import { moment } from "./csv.js";
import { el, svg, table } from "./dom.js";

const PHASES = ["hello", "server_hello", "finish", "server_finish"];
const WORDS = { hello: "hello", server_hello: "server hello", finish: "finish", server_finish: "server finish" };
const WIDTH = 120;

export function handshakeTable(handshakes, replay) {
  if (!handshakes.length) return absent(replay ? "No handshake up to here." : "No handshake yet.");
  const heads = ["Time", "End", "Kind", "Suite", "Result", "Total", "Phases", "Primitives", "Sizes"];
  return table(heads, handshakes.map((shake) => [row(shake), shake.ok ? "" : "failed"]), { kind: "shakes" });
}

function row(shake) {
  const phases = shake.phases_ms || {};
  const words = PHASES.filter((name) => phases[name]).map((name) => `${WORDS[name]} ${milliseconds(phases[name])}`);
  return [
    el("time", { datetime: moment(shake.time) }, clock(shake.time)), endName(shake.end), shake.kind, suite(shake.suite),
    shake.ok ? `epoch ${shake.epoch}` : shake.reason || shake.error, milliseconds(shake.handshake_ms),
    [bar(phases, shake.handshake_ms), el("span", {}, words.join(", ") || "–")].filter(Boolean), primitives(shake), sizes(shake.sizes || {}),
  ];
}

function bar(phases, total) {
  const whole = Math.max(total || 0, PHASES.reduce((sum, name) => sum + (phases[name] || 0), 0));
  if (!whole) return null;
  let x = 0;
  const parts = PHASES.map((name, i) => {
    const width = ((phases[name] || 0) / whole) * WIDTH;
    const part = svg("rect", { x, y: 0, width, height: 10, class: `phase p${i + 1}` });
    x += width;
    return part;
  });
  return svg("svg", { viewBox: `0 0 ${WIDTH} 10`, class: "phases", "aria-hidden": "true", preserveAspectRatio: "none" }, parts);
}

const PRIMITIVES = { kem_keygen: "key pair", kem_encaps: "encapsulate", kem_decaps: "decapsulate", sig_sign: "sign", sig_verify: "verify", x25519: "X25519", kdf: "key schedule" };

function primitives(shake) {
  const times = shake.primitives_ms || {};
  const parts = Object.entries(PRIMITIVES).filter(([name]) => times[name]).map(([name, word]) => `${word} ${milliseconds(times[name])}`);
  if (shake.keygen_pooled) parts.push("key pair made ahead");
  return parts.join(", ") || "–";
}

function sizes(of) {
  if (of.bytes_sent === undefined) return "–";
  return `${bytes(of.bytes_sent)} sent, ${bytes(of.bytes_received)} received; key ${bytes(of.public_key)}, ciphertext ${bytes(of.ciphertext)}, signature ${bytes(of.signature)}`;
}
