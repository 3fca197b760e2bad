// SPDX-License-Identifier: Apache-2.0
// Play, pause and seek of a recording.

import { el, setText } from "./dom.js";
import { clock, duration } from "./format.js";

export class Replay {
  constructor(root, connection) {
    this.root = root;
    this.connection = connection;
    this.shown = false;
    this.dragging = false;
    this.playing = true;
    this.button = el("button", { type: "button", onclick: () => this.toggle() }, "Pause");
    this.slider = el("input", { type: "range", min: "0", max: "1", step: "1", value: "0", "aria-label": "Time in the recording" });
    this.slider.addEventListener("input", () => {
      this.dragging = true;
      setText(this.time, duration(Number(this.slider.value)));
    });
    this.slider.addEventListener("change", () => {
      this.dragging = false;
      this.connection.replay("seek", Number(this.slider.value));
    });
    this.time = el("span", { class: "figure" });
    this.speed = el("select", { "aria-label": "Speed" }, ...[1, 2, 5, 10, 60].map((n) => el("option", { value: n }, `${n}×`)));
    this.speed.addEventListener("change", () => this.connection.replay("speed", Number(this.speed.value)));
    this.file = el("span", { class: "file" });
    this.problem = el("span", { class: "problem" });
    root.append(this.button, this.slider, this.time, this.speed, this.file, this.problem);
  }

  toggle() {
    this.connection.replay(this.playing ? "pause" : "play");
  }

  take(state) {
    this.shown = Boolean(state);
    this.root.hidden = !state;
    if (!state) return;
    this.playing = state.playing;
    setText(this.button, state.playing ? "Pause" : "Play");
    setText(this.file, state.file);
    setText(this.problem, state.problem || "");
    if (document.activeElement !== this.speed) this.speed.value = String(state.speed);
    const length = state.end_s - state.begin_s;
    const at = state.at_s - state.begin_s;
    this.slider.max = String(Math.ceil(length));
    if (this.dragging) return;
    this.slider.value = String(at);
    const text = `${duration(at)} of ${duration(length)}, ${clock(state.at_s)}`;
    setText(this.time, text);
    this.slider.setAttribute("aria-valuetext", text);
  }
}
