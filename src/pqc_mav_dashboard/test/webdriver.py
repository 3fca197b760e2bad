# SPDX-License-Identifier: Apache-2.0
"""Drives Debian's Chromium, Firefox and WebKitGTK by the WebDriver protocol (W3C); the standard library is enough.

Chromium and WebKitGTK have drivers that speak it over HTTP. Firefox speaks it by itself, under the same names, as JSON
over TCP (Marionette), so its driver is not needed.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import socket
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol

import pytest

from pqc_mav_common.free_ports import free_port
from pqc_mav_common.testing import Running, until

ANSWER_S = 150.0
SCRIPT_S = 120.0  # a thousand rows, drawn without a graphics card beside other work
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # W3C WebDriver, 12: how JSON names an element
COMMANDS = {
    "Navigate": ("POST", "/url"),
    "ExecuteScript": ("POST", "/execute/sync"),
    "ExecuteAsyncScript": ("POST", "/execute/async"),
    "ElementClick": ("POST", "/element/{id}/click"),
    "PerformActions": ("POST", "/actions"),
    "SetTimeouts": ("POST", "/timeouts"),
    "SetWindowRect": ("POST", "/window/rect"),
    "TakeScreenshot": ("GET", "/screenshot"),
}
KEYS = {"Tab": "\ue004", "Enter": "\ue007", "Escape": "\ue00c", "End": "\ue010", "Home": "\ue011", "Down": "\ue015"}
BINARIES = {
    "chromium": ["chromium"],
    "firefox": ["firefox-esr", "firefox"],
    "webkit": [str(path) for path in Path("/usr/lib").glob("*/webkit2gtk-4.*/MiniBrowser")],
}
NEEDS = {"chromium": ["chromedriver"], "firefox": [], "webkit": ["WebKitWebDriver", "Xvfb"]}
PACKAGES = {"chromium": "chromium chromium-driver", "firefox": "firefox-esr", "webkit": "webkit2gtk-driver xvfb"}


class WebDriverError(Exception):
    """What a browser says it could not do."""


class Line(Protocol):
    """How commands come to a browser."""

    def call(self, name: str, **parameters: Any) -> Any:
        """One command by its name in COMMANDS, and its value."""


class Http:
    """chromedriver and WebKitWebDriver."""

    def __init__(self, port: int, capabilities: dict[str, Any]) -> None:
        self._base = f"http://127.0.0.1:{port}"
        until(self._ready, "the driver answers")
        made = self.ask("POST", "/session", {"capabilities": {"alwaysMatch": capabilities}})
        self._base += f"/session/{made['sessionId']}"

    def _ready(self) -> bool:
        try:
            return bool(self.ask("GET", "/status")["ready"])
        except OSError:
            return False

    def ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """One request. Raises WebDriverError."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._base + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=ANSWER_S) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            with error:
                said = json.load(error)["value"]
            raise WebDriverError(f"{said['error']}: {said['message'][:500]}") from None

    def call(self, name: str, **parameters: Any) -> Any:
        """One command."""
        method, path = COMMANDS[name]
        return self.ask(method, path.format(**parameters), None if method == "GET" else parameters)

    def close(self) -> None:
        """The session, and the browser with it."""
        with suppress(OSError, WebDriverError):
            self.ask("DELETE", "")


class Marionette:
    """Firefox: a message is its length, a colon, and [0, number, command, parameters] or [1, number, error, value]."""

    def __init__(self, port: int) -> None:
        def connected() -> socket.socket | None:
            with suppress(OSError):
                return socket.create_connection(("127.0.0.1", port), ANSWER_S)
            return None

        self._socket: socket.socket = until(connected, "Firefox answers")
        self._file = self._socket.makefile("rb")
        self._number = 0
        self._read()  # its greeting
        self.call("NewSession")

    def _read(self) -> Any:
        digits = b""
        while not digits.endswith(b":"):
            byte = self._file.read(1)
            if not byte:
                raise WebDriverError("Firefox has gone.")
            digits += byte
        return json.loads(self._file.read(int(digits[:-1])))

    def call(self, name: str, **parameters: Any) -> Any:
        """One command."""
        self._number += 1
        text = json.dumps([0, self._number, f"WebDriver:{name}", parameters]).encode()
        self._socket.sendall(b"%d:%s" % (len(text), text))
        _, _, error, value = self._read()
        if error:
            raise WebDriverError(f"{error['error']}: {error['message'][:500]}")
        return value["value"] if isinstance(value, dict) and set(value) == {"value"} else value

    def close(self) -> None:
        """The connection; the process is ended by the code that started it."""
        self._file.close()
        self._socket.close()


class Browser:
    """One window. Everything a test does there is a script, a click, keys, a size or a picture."""

    def __init__(self, name: str, line: Line) -> None:
        self.name = name
        self._line = line

    def go(self, url: str) -> None:
        """Loads a page, even where only the part behind # is another."""
        self._line.call("Navigate", url="about:blank")
        self._line.call("Navigate", url=url)

    def run(self, script: str, *arguments: Any) -> Any:
        """The value of a function's body."""
        return self._line.call("ExecuteScript", script=script, args=list(arguments))

    def run_async(self, script: str, *arguments: Any) -> Any:
        """What the promise gives that a function's body returns; an error is raised as one."""
        wrapped = (
            "const done = arguments[arguments.length - 1];"
            f"(async function () {{ {script} }}).apply(null, arguments).then((v) => done([v]), (e) => done(String(e)));"
        )
        answer = self._line.call("ExecuteAsyncScript", script=wrapped, args=list(arguments))
        if isinstance(answer, str):
            raise WebDriverError(answer)
        return answer[0]

    def click(self, element: dict[str, str]) -> None:
        """As a pointer does: an element that is covered or not there is an error."""
        self._line.call("ElementClick", id=element[ELEMENT])

    def press(self, *keys: str) -> None:
        """Keys by name (see KEYS) or as they are; "Shift+Tab" holds the first."""
        actions: list[dict[str, str]] = []
        for key in keys:
            shift = key.startswith("Shift+")
            value = KEYS.get(key.removeprefix("Shift+"), key)
            held = ["\ue008"] if shift else []
            pressed = [*held, value]
            actions += [{"type": "keyDown", "value": each} for each in pressed]
            actions += [{"type": "keyUp", "value": each} for each in reversed(pressed)]
        self._line.call("PerformActions", actions=[{"type": "key", "id": "keys", "actions": actions}])

    def size(self, width: int, height: int) -> None:
        """Of the page, in its own pixels."""
        if self.name == "chromium":  # whose windows have a smallest width
            assert isinstance(self._line, Http)
            metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
            asked = {"cmd": "Emulation.setDeviceMetricsOverride", "params": metrics}
            self._line.ask("POST", "/goog/cdp/execute", asked)
        else:
            outer = (width, height)
            for _ in range(3):
                self._line.call("SetWindowRect", width=outer[0], height=outer[1], x=0, y=0)
                inner = self.run("return [innerWidth, innerHeight]")
                outer = (outer[0] + width - inner[0], outer[1] + height - inner[1])
        until(lambda: self.run("return innerWidth") == width, f"{self.name} is {width} px wide", 10)

    def picture(self) -> bytes:
        """PNG of what is in sight."""
        return base64.b64decode(self._line.call("TakeScreenshot"))


def missing(name: str) -> str:
    """Why a browser cannot be driven here; "" where it can."""
    there = any(shutil.which(binary) for binary in BINARIES[name]) and all(map(shutil.which, NEEDS[name]))
    return "" if there else f"{name} is not installed; 'apt-get install {PACKAGES[name]}' lets the page be tried in it"


@contextmanager
def opened(name: str) -> Iterator[Browser]:
    """A browser without a window on the user's screen. Skips the test where it is not installed."""
    if why := missing(name):
        pytest.skip(why)
    binary = next(path for each in BINARIES[name] if (path := shutil.which(each)))
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="pqcmav-browser-", ignore_cleanup_errors=True))
        line = _START[name](stack, binary, folder)
        stack.callback(line.close)
        line.call("SetTimeouts", script=int(SCRIPT_S * 1000))
        yield Browser(name, line)


def _running(stack: ExitStack, *command: str, **environment: str) -> Running:
    made = Running(command, environment)
    stack.callback(made.kill)
    return made


def _style(path: Path, text: str) -> None:
    """Of the window around the page, which is to be as narrow as a telephone."""
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")


def _chromium(stack: ExitStack, binary: str, folder: str) -> Any:
    port = free_port()
    _running(stack, "chromedriver", f"--port={port}")
    options = ["--headless", f"--user-data-dir={folder}", "--hide-scrollbars"]
    # Root has no sandbox; what is shown is our own page.
    options += ["--no-sandbox"] if os.geteuid() == 0 else []
    return Http(port, {"goog:chromeOptions": {"binary": binary, "args": options}})


def _firefox(stack: ExitStack, binary: str, folder: str) -> Any:
    port = free_port()
    preferences = {"marionette.port": port, "toolkit.legacyUserProfileCustomizations.stylesheets": True}
    lines = [f"user_pref({json.dumps(key)}, {json.dumps(value)});\n" for key, value in preferences.items()]
    (Path(folder) / "user.js").write_text("".join(lines), encoding="utf-8")
    _style(Path(folder) / "chrome" / "userChrome.css", ":root { min-width: 0 !important; }")
    _running(stack, binary, "--headless", "--marionette", "--no-remote", "--profile", folder, HOME=folder)
    return Marionette(port)


def _webkit(stack: ExitStack, binary: str, folder: str) -> Any:
    screen = _running(stack, "Xvfb", "-displayfd", "1", "-screen", "0", "1600x4000x24", "-nolisten", "tcp")
    number = until(lambda: next((line for line in screen.lines if line.strip().isdigit()), ""), "a screen")
    port = free_port()
    _style(
        Path(folder) / ".config" / "gtk-3.0" / "gtk.css", "* { min-width: 0; padding: 0; margin: 0; font-size: 6px; }"
    )
    # Its sandbox needs namespaces that containers lack; what is shown is our own page.
    _running(
        stack, "WebKitWebDriver", f"--port={port}",
        DISPLAY=f":{number.strip()}", HOME=folder, WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS="1", LC_ALL="C.UTF-8",
    )  # fmt: skip
    return Http(port, {"webkitgtk:browserOptions": {"binary": binary, "args": ["--automation"]}})


_START: dict[str, Callable[[ExitStack, str, str], Any]] = {
    "chromium": _chromium,
    "firefox": _firefox,
    "webkit": _webkit,
}
