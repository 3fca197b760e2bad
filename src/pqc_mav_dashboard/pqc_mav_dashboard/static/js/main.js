// SPDX-License-Identifier: Apache-2.0
// What is shown: the fleet at #/, a drone at #/drone/ID.

import { AlarmBar } from "./alarm.js";
import { learnSeries } from "./charts.js";
import { Connection } from "./connection.js";
import { DroneView, learnSpans } from "./drone.js";
import { FleetView, learnColumns } from "./fleet.js";
import { Replay } from "./replay.js";
import { startTheme } from "./theme.js";
import { Actions } from "./actions.js";
import { el, replaceIf, setText } from "./dom.js";
import { learnSuites } from "./format.js";

const main = document.getElementById("view");
const status = document.getElementById("connection");
const notes = document.getElementById("notes");
const actions = new Actions(document.getElementById("dialog"), document.getElementById("token-button"));
const alarm = new AlarmBar(document.getElementById("alarm"), document.getElementById("sound"));
let view = null;
let shown = null;

const connection = new Connection(take, tell);
const replay = new Replay(document.getElementById("replay"), connection);
startTheme(document.getElementById("theme"), () => view?.recolour?.());

function tell(state, sentence) {
  status.dataset.state = state;
  setText(status, state === "connected" && replay?.shown ? "recording" : sentence);
  view?.stale?.(state !== "connected");
  alarm.tell(state);
}

function take(message) {
  if (message.kind === "hello") {
    document.body.classList.toggle("recording", message.replay); // nothing of it can be steered
    replay.shown = Boolean(message.replay);
    if (replay.shown && status.dataset.state === "connected") setText(status, "recording");
    learnSeries(message.series);
    learnSpans(message.spans_s);
    return learnColumns(message.columns);
  }
  replay.take(message.replay);
  alarm.take(message.alarms, Boolean(message.replay));
  replaceIf(notes, message.notes, () => (message.notes || []).map((note) => el("p", {}, note)));
  notes.hidden = !(message.notes || []).length;
  learnSuites(message.suites);
  const about = message.kind === "fleet" ? "" : message.drone;
  if (about === shown) view.take(message);
}

function route() {
  const match = /^#\/drone\/([a-z0-9_-]{1,32})$/.exec(location.hash);
  const wanted = match ? match[1] : "";
  if (location.hash === "#view" && view) return; // the skip link
  if (wanted === shown) return;
  view?.close?.();
  const from = shown;
  shown = wanted;
  main.replaceChildren();
  view = wanted ? new DroneView(main, wanted, actions, (span_s) => connection.show(wanted, span_s)) : new FleetView(main, from || "");
  document.body.classList.toggle("fleet", !wanted);
  alarm.named(`PQC-MAV dashboard${wanted ? ` – ${wanted}` : ""}`);
  connection.show(wanted);
  if (from !== null) view.focus();
}

addEventListener("hashchange", route);
route();
