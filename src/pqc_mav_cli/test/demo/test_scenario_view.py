# SPDX-License-Identifier: Apache-2.0
from io import StringIO
from types import SimpleNamespace

from rich.console import Console
from scenario_flights import flown

from pqc_mav_cli.demo.scenario_view import progress_line, summary


def shown(result: object) -> str:
    console = Console(width=160, record=True, file=StringIO())
    console.print(result)
    return console.export_text()


def test_the_summary_tells_every_change_with_its_reason() -> None:
    result = flown("attack")
    result.plot = "attack.png"
    text = shown(summary(result))
    assert "REKEY" in text and "alarm at 20 s" in text and "attack ends" in text and "renew_keys" in text
    assert "plot: attack.png" in text and "PASSED" in text
    result.steps = {}
    text = shown(summary(result))
    assert "FAILED" in text and "the vehicle did not arm" in text


def test_a_line_with_everything_and_with_nothing() -> None:
    assert progress_line(0.0, 90.0, "handshake", {}).split() == ["0.0", "of", "90", "s", "handshake", "no", "session"]
    heard = {
        "status": SimpleNamespace(suite="cs-x"),
        "thermal": SimpleNamespace(temperature_c=float("nan")),
        "battery": SimpleNamespace(voltage_v=15.5),
        "link": SimpleNamespace(loss=0.25),
        "decision": SimpleNamespace(guard="link", reason="One step down."),
    }
    line = progress_line(12.5, 90.0, "flying", heard)
    assert "cs-x  -  15.50 V  loss 25.0 %  [link] One step down." in line
