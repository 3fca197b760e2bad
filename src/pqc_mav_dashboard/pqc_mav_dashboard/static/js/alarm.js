// SPDX-License-Identifier: Apache-2.0
// Alarms of the whole fleet: a red bar, the title, and a sound, which browsers allow only after a click.

import { el, replaceIf, setText } from "./dom.js";

const EVERY_MS = 2000;
const NAMED = 3;
const LOST_MS = 5000; // without the dashboard for so long is an alarm as well: nothing that is shown is true any more
const TONES = [[880, 0], [660, 0.22], [880, 0.44]]; // Hz, begins after [s]
const TONE_S = 0.2;

export class AlarmBar {
  constructor(root, button) {
    this.root = root;
    this.button = button;
    this.heard = new Set(); // what somebody has quietened
    this.alarms = { first: [], others: [] };
    this.lost = null;
    this.title = document.title;
    this.live = true;
    this.on = false;
    this.audio = null;
    button.addEventListener("click", () => this.switch(!this.on));
    setInterval(() => this.beat(), EVERY_MS);
    this.show();
  }

  /** What a message of the server says; a recording is shown without a sound. */
  take(alarms, recording) {
    this.alarms = alarms;
    this.live = !recording;
    this.button.hidden = recording;
    this.show();
  }

  tell(state) {
    if (state === "connected") this.lost = null;
    else this.lost ??= Date.now();
    this.show();
  }

  named(title) {
    this.title = title;
    this.show();
  }

  found() {
    const lost = this.lost && Date.now() - this.lost > LOST_MS ? [["", "gone", "The dashboard does not answer: what is shown is old."]] : [];
    return [...lost, ...this.alarms.first];
  }

  ids(found) {
    return [...found, ...this.alarms.others].map(key);
  }

  show() {
    const found = this.found();
    const ids = this.ids(found);
    const count = ids.length;
    this.heard = new Set(ids.filter((id) => this.heard.has(id)));
    const loud = ids.some((id) => !this.heard.has(id));
    const [first] = found;
    document.title = first ? `(${count}) ${first[2].split(":")[0]}${first[0] ? ` ${first[0]}` : ""} – ${this.title}` : this.title;
    document.body.classList.toggle("alarmed", count > 0);
    this.root.hidden = !count;
    this.root.classList.toggle("seen", !loud);
    replaceIf(this.root, [found, count, loud], () => [
      el("strong", {}, `${count} ${count === 1 ? "alarm" : "alarms"}`),
      el("ul", {}, found.slice(0, NAMED).map(([drone, , words]) => el("li", {}, drone ? el("a", { href: `#/drone/${drone}` }, drone) : null, ` ${words}`)),
        count > NAMED ? el("li", {}, `and ${count - NAMED} more`) : null),
      loud ? el("button", { type: "button", onclick: () => this.quieten() }, "Seen") : null,
    ].filter(Boolean));
    if (loud && !this.loud) this.ring(); // at once: timers of a hidden page come once a minute
    this.loud = loud;
    setText(this.button, `Sound: ${this.on ? "on" : "off"}`);
    this.button.setAttribute("aria-pressed", String(this.on));
  }

  /** These alarms make no sound any more and are shown less loudly; a new one begins again. */
  quieten() {
    this.heard = new Set(this.ids(this.found()));
    this.show();
  }

  switch(on) {
    this.on = on;
    if (on) {
      this.audio ??= new AudioContext();
      this.audio.resume();
      this.sound();
    }
    this.show();
  }

  beat() {
    if (this.loud) this.ring();
    if (this.lost) this.show();
  }

  ring() {
    if (this.on && this.live) this.sound();
  }

  sound() {
    this.button.dataset.sounds = String(Number(this.button.dataset.sounds || 0) + 1);
    const now = this.audio.currentTime;
    for (const [hertz, after] of TONES) {
      const tone = new OscillatorNode(this.audio, { frequency: hertz, type: "square" });
      const volume = new GainNode(this.audio, { gain: 0.15 });
      tone.connect(volume).connect(this.audio.destination);
      tone.start(now + after);
      tone.stop(now + after + TONE_S);
    }
  }
}

const key = ([drone, kind]) => `${drone} ${kind}`;
