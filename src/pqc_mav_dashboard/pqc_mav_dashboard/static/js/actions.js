// SPDX-License-Identifier: Apache-2.0
// Rekey, pin, mode, station: only with the token, which stays in this page's memory.

import { el, setText } from "./dom.js";
import { suite } from "./format.js";

export class Actions {
  constructor(dialog, button) {
    this.dialog = dialog;
    this.token = "";
    this.view = null;
    this.busy = false;
    this.tokenButton = button;
    button.addEventListener("click", () => this.open(null));
    dialog.addEventListener("close", () => {
      this.view = null;
    });
  }

  open(view) {
    this.view = view;
    this.build();
    this.dialog.showModal();
  }

  build() {
    const field = el("input", { id: "token", type: "password", autocomplete: "off", spellcheck: "false" });
    field.value = this.token;
    field.addEventListener("input", () => {
      this.token = field.value.trim();
      setText(this.tokenButton, this.token ? "Token given" : "Token");
      this.enable();
    });
    this.result = el("p", { class: "result", role: "status" });
    this.forms = this.view ? this.makeForms() : [];
    const title = el("h2", { id: "dialog-title" }, this.view ? `Actions for ${this.view.drone}` : "Token");
    this.dialog.setAttribute("aria-labelledby", "dialog-title");
    this.dialog.replaceChildren(
      title,
      el("form", { class: "field", onsubmit: (event) => event.preventDefault() },
        el("label", { for: "token" }, "Token, printed when the dashboard was started"), field),
      ...this.forms.map((form) => form.root),
      this.result,
      el("form", { method: "dialog", class: "close" }, el("button", { type: "submit" }, "Close")),
    );
    this.enable();
  }

  makeForms() {
    const message = this.view.message;
    const suites = this.view.suites.filter((each) => each.available);
    const choice = (id, first) => el("select", { id }, el("option", { value: "" }, first), suites.map((each) => el("option", { value: each.id }, each.short_code)));
    const end = message?.ends[0];
    const rekeySuite = choice("rekey-suite", "same suite");
    const kind = el("select", { id: "rekey-kind" }, el("option", { value: "" }, "whole handshake"), el("option", { value: "ratchet" }, "ratchet"));
    const pinSuite = choice("pin-suite", "none: let the policy choose");
    const mode = el("select", { id: "mode-mode" }, ["auto", "hold", "manual"].map((name) => el("option", { value: name }, name)));
    const stations = (message?.ends.find((each) => each.status.stations?.length)?.status.stations || []).map((each) => each.split(" ")[0]);
    const station = el("select", { id: "station-gcs" }, el("option", { value: "" }, "the first in its list"), stations.map((name) => el("option", { value: name }, name)));
    return [
      this.form("rekey", "Rekey", [["Suite", rekeySuite], ["Kind", kind]], () => ({ suite: rekeySuite.value, kind: kind.value })),
      this.form("pin", "Pin", [["Suite", pinSuite]], () => ({ suite: pinSuite.value })),
      this.form("mode", "Set mode", [["Mode", mode]], () => ({ mode: mode.value })),
      this.form("station", "Move", [["Ground station", station]], () => ({ gcs_id: station.value })),
    ].map((form) => {
      form.root.querySelector("h3").append(end && form.name === "rekey" && end.status.suite ? ` (now ${suite(end.status.suite)})` : "");
      return form;
    });
  }

  form(name, word, fields, values) {
    const button = el("button", { type: "submit", class: "primary" }, word);
    const why = el("p", { class: "absent", id: `why-${name}` });
    const titles = { rekey: "New keys", pin: "Pin a suite", mode: "Mode of the policy", station: "Ground station" };
    const root = el("form", { class: "action" }, el("h3", {}, titles[name]),
      fields.map(([label, input]) => el("div", { class: "field" }, el("label", { for: input.id }, label), input)), button, why);
    root.addEventListener("submit", (event) => {
      event.preventDefault();
      this.send(name, values());
    });
    return { name, root, button, why, inputs: fields.map(([, input]) => input) };
  }

  /** The view has news: what is possible may have changed. */
  update(view) {
    if (this.view === view && this.dialog.open) this.enable();
  }

  enable() {
    const possible = this.view?.message?.actions || {};
    for (const form of this.forms || []) {
      const reason = possible[form.name] ?? "Not known yet.";
      setText(form.why, reason);
      for (const input of form.inputs) input.disabled = Boolean(reason);
      form.button.disabled = Boolean(reason) || this.busy || !this.token;
    }
  }

  async send(name, values) {
    const body = { drone: this.view.drone };
    const result = this.result; // another drone's dialog may be open when the answer comes
    for (const [key, value] of Object.entries(values)) if (value) body[key] = value;
    this.busy = true;
    this.enable();
    say(result, "asked, waiting for the answer", "");
    try {
      const answer = await fetch(`/api/actions/${name}`, {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-PQCMAV-Token": this.token },
        body: JSON.stringify(body),
      });
      const said = await answer.json();
      say(result, said.ok ? said.text : said.error.text, said.ok ? "fine" : "bad");
    } catch {
      say(result, "The dashboard does not answer; is it still running?", "bad");
    }
    this.busy = false;
    this.enable();
  }
}

function say(result, text, level) {
  setText(result, text);
  result.dataset.level = level;
}
