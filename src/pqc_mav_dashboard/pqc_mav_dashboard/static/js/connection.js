// SPDX-License-Identifier: Apache-2.0
// The WebSocket: opened again after a break, told at once what is looked at.

const VERSION = 1;
const RETRY_MS = [500, 1000, 2000, 4000, 8000];
const SILENT_MS = 15000; // a round takes 5 s at most; a server that hangs closes nothing

export class Connection {
  constructor(take, tell) {
    this.take = take; // each message
    this.tell = tell; // (state, sentence)
    this.look = "";
    this.span_s = 0;
    this.tries = 0;
    this.open();
  }

  open() {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const socket = new WebSocket(`${scheme}://${location.host}/ws`);
    this.socket = socket;
    this.tell("connecting", "connecting");
    this.wait();
    socket.onopen = () => this.show(this.look, this.span_s);
    socket.onmessage = (event) => {
      const message = JSON.parse(event.data);
      if (message.v !== VERSION) return;
      this.tries = 0;
      this.wait();
      this.tell("connected", "live");
      this.take(message);
    };
    socket.onclose = (event) => this.lose(event.reason || "no connection to the dashboard; is it still running?");
  }

  /** For the next message, but not for ever. */
  wait() {
    clearTimeout(this.silence);
    this.silence = setTimeout(() => this.lose("the dashboard says nothing; does it hang?"), SILENT_MS);
  }

  lose(sentence) {
    clearTimeout(this.silence);
    this.socket.onclose = null;
    this.socket.close();
    this.tell("lost", sentence);
    setTimeout(() => this.open(), RETRY_MS[Math.min(this.tries++, RETRY_MS.length - 1)]);
  }

  /** What this page looks at: "" for the fleet, else a drone, and so many seconds of it (0: as the server likes). */
  show(look, span_s = 0) {
    this.look = look;
    this.span_s = span_s;
    this.send({ look, span_s });
  }

  replay(what, value = 0) {
    this.send({ replay: what, value });
  }

  send(message) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify({ v: VERSION, ...message }));
  }
}
