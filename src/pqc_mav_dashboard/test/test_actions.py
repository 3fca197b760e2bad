# SPDX-License-Identifier: Apache-2.0
"""The dialog for actions by itself."""

from __future__ import annotations

import pytest
from browser import page_in
from ends import Dashboard

pytestmark = pytest.mark.timeout(300)


def test_an_answer_is_shown_to_no_other_drone(own_domain: None) -> None:
    dashboard = Dashboard("--no-ros")
    try:
        with page_in() as page:
            page.open(f"{dashboard.url}/").says("live", "#connection")
            said = page.browser.run_async(
                """
                const { Actions } = await import("/js/actions.js");
                const dialog = document.createElement("dialog"), button = document.createElement("button");
                document.body.append(dialog);
                let answer;
                window.fetch = () => new Promise((done) => { answer = done; });
                const actions = new Actions(dialog, button);
                const result = () => dialog.querySelector(".result").textContent;
                actions.open({ drone: "d1", suites: [], message: null });
                const sent = actions.send("rekey", {});
                const asked = result();
                dialog.close();
                actions.open({ drone: "d2", suites: [], message: null });
                answer({ json: async () => ({ ok: true, text: "epoch 1" }) });
                await sent;
                return [asked, result(), actions.busy];
                """
            )
            assert said == ["asked, waiting for the answer", "", False]
    finally:
        dashboard.kill()
