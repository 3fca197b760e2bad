# SPDX-License-Identifier: Apache-2.0
"""The lifecycle node around the engine: parameters, transitions, events; its topics are in topics.py.

configure -> the configuration is checked and the keys are read; activate -> sockets and threads;
deactivate -> sessions closed and keys wiped. What the engine says and does it is asked through its door (docs/
control-socket.md), and this relays it. The engine is in this process, or in a pqcmav-tunneld (`tunnel`), whose link
outlives this node. Statuses are published from the thread that hears events, other events from the executor, what is
periodic from a thread of its own. Packets never come here.
"""

from __future__ import annotations

import os
import queue
import sys
import time
from contextlib import nullcontext, suppress
from typing import Any

import pqc_mav_tunnel
from rclpy.lifecycle import LifecycleState, TransitionCallbackReturn

from pqc_mav_common import config_file
from pqc_mav_common.errors import ExitCode, ProcessError, one_line
from pqc_mav_common.lifecycle import FAILURE, ManagedNode
from pqc_mav_common.local_socket import INSIDE, ControlError
from pqc_mav_common.parameters import AUTOSTART, given_parameters, plain_values
from pqc_mav_common.repeater import Repeater
from pqc_mav_proxy import parameters
from pqc_mav_proxy.daemon_host import DaemonHost
from pqc_mav_proxy.engine_host import EngineHost
from pqc_mav_proxy.facts import offer_facts, offer_paths
from pqc_mav_proxy.rekey_server import RekeyServer
from pqc_mav_proxy.topics import ProxyTopics

NODE_NAME = "pqc_proxy"
TICK_S = 1.0
SERVER_TICK_S = 0.1
AGAIN_S = 5.0  # between two tries to open the tunnel of a daemon that could not when it was started again


class PqcProxyNode(ManagedNode):
    """Hosts one engine, as drone or gcs; namespace `/drone` or `/gcs` by convention."""

    refusals = (ProcessError, pqc_mav_tunnel.TunnelError)
    at_rest = "the sessions are closed and their keys are wiped; nothing passes until it is activated again"

    def __init__(self, **node_arguments: Any) -> None:
        super().__init__(NODE_NAME, **node_arguments)
        of_all = sys.argv if node_arguments.get("use_global_arguments", True) else []
        self._command_line = [*of_all, *(node_arguments.get("cli_args") or [])]
        self._given = self._read = given_parameters(self)
        self._config = parameters.engine_config(self._given)
        self._written: Any = None  # what the engine of the last activation handed on beside it
        self._tunnel = parameters.TUNNEL.check(self.get_name(), self._given.get(parameters.TUNNEL.name, INSIDE))
        self._declare_parameters(self._given)
        self._host: EngineHost | DaemonHost | None = None
        self._events: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self._events_ready = self.create_guard_condition(self._handle_events)
        self._topics = ProxyTopics(self)
        self._away: bool | None = None  # whether the daemon is away; None: not heard of yet
        self._unsaid = ""  # why it is away, as long as the log does not say so
        self._boot = ""  # which daemon it was that was heard last
        self._again_s = 0.0
        # From the start: who asks for a rekey before there is a configuration is told so, and waits for no answer.
        offer_facts(self, self._counting)
        offer_paths(self, self._running_host)
        self._rekeys = RekeyServer(self, self._running_host)
        self._ticks = Repeater(TICK_S, self._publish_periodic, self._unexpected)
        self._detectors = Repeater(SERVER_TICK_S, self._publish_server, self._unexpected)

    @property
    def role(self) -> str:
        """'drone' or 'gcs'."""
        return str(self.get_parameter(parameters.ROLE).value)

    @property
    def _drone_id(self) -> str:
        return str(self._config.get("drone_id", ""))

    def _declare_parameters(self, given: dict[str, Any]) -> None:
        autostart = AUTOSTART.check(self.get_name(), given.get(AUTOSTART.name, AUTOSTART.default))
        role = self._config.get(parameters.ROLE)
        role = role if role in parameters.ROLES else parameters.ROLES[0]
        wanted = parameters.specs(role, pqc_mav_tunnel.config_schema(role))
        names = self._config.get(parameters.DRONES if role == "gcs" else parameters.PATHS, [])
        names = [str(name) for name in names] if isinstance(names, list) else []
        if role == "gcs":
            wanted += parameters.nested_specs("drone", names, pqc_mav_tunnel.per_drone_schema())
        else:
            wanted += parameters.nested_specs("path", names, pqc_mav_tunnel.per_path_schema())
        fixed = [spec.name for spec in wanted if spec.fixed]
        self._live = {spec.name for spec in wanted if spec.live}
        values = {spec.name: parameters.shown(spec, self._config) for spec in wanted}
        if self._tunnel != INSIDE:
            wanted.append(parameters.TUNNEL)
            fixed.append(parameters.TUNNEL.name)
            values[parameters.TUNNEL.name] = self._tunnel
        self.declare_settable([AUTOSTART, *wanted], {**values, AUTOSTART.name: autostart}, fixed)

    def offer(self) -> None:
        """The topics, with room for the drones that the configuration names."""
        self._topics.offer(self._config.get(parameters.DRONES) or [] if self.role == "gcs" else [])

    # --- configuration, read again while the engine runs ---

    def asked_parameters(self) -> dict[str, Any]:
        """What the files and the command line said when they were last read, and what was set since the start."""
        return {**self._given, **self._settable.changed}

    def reload(self) -> None:
        """Reads configuration and keys again, as `pqcmav reload` does; what came of it is in the log."""
        host = self._running_host()
        if host is None:
            self.get_logger().warning("Not reloaded: the node is not active; its next configure reads the files.")
            return
        try:
            host.ask("reload")
        except ControlError as error:
            self._log("error", f"Not reloaded: {error}")

    def _read_files(self) -> dict[str, Any]:
        return plain_values(config_file.given_by(self._command_line, self.get_namespace(), self.get_name()))

    def _read_again(self) -> dict[str, Any]:
        self._read = self._read_files()
        # What was set and counts already is no news.
        changed = {name: value for name, value in self._settable.changed.items() if name not in self._live}
        return parameters.engine_config({**self._read, **changed})

    def _taken(self) -> None:
        self._given = self._read
        self._config = parameters.engine_config(self.asked_parameters())

    # --- lifecycle ---

    def read_parameters(self) -> None:
        """The engine judges all of them, together with what was set since the start."""
        if not self._coming_up and config_file.named_files(self._command_line):
            self._given = self._read_files()
        self._config, self._written = parameters.engine_config(self.asked_parameters()), None

    def take_live(self, name: str, value: Any) -> bool:
        """The engine that runs takes it."""
        host = self._running_host()
        if host is None:
            return False
        try:
            return bool(host.ask("set", key=name, value=value)["now"])
        except ControlError as error:
            self._log("error", str(error))
            return False

    def set_up(self) -> None:
        """Checks the configuration and reads the keys. A daemon whose tunnel is open is left alone."""
        if self._tunnel == INSIDE:
            files = config_file.named_files(self._command_line)
            source = (self._read_again, self._taken, files) if files else None
            self._host = EngineHost(self._config, self._queue_events, source, self._written)
            return
        host = self._reach()
        self._send_settings(host)
        if (state := host.hello().get("state")) == "unconfigured" or (state == "inactive" and not self._coming_up):
            host.change("configure")

    def begin(self) -> None:
        """Starts the engine; a fresh one after a deactivation, which wiped the keys of the last.

        A daemon's tunnel that somebody paused is opened where that is asked for, and not because this node starts.
        """
        if self._tunnel == INSIDE and self._host is None:
            self.set_up()
        host = self._host or self._reach()
        if isinstance(host, DaemonHost) and (hello := host.hello()).get("state") != "active":
            if hello.get("wanted", True) or not self._coming_up:
                host.change("resume")
            else:
                self._log("warning", f"The tunnel stays closed: {hello['problem']}")
        self._away, self._unsaid, self._boot = None, "", ""
        host.start()
        if isinstance(host, EngineHost):  # its configuration may be older than what was set since and counts at once
            for name in self._live & self._settable.changed.keys():
                self.take_live(name, self._settable.changed[name])
        with suppress(ControlError):  # the next tick says so
            self._topics.publish_status(host, force=True)
        self._events_ready.trigger()  # for the events from before the topics were open
        self._ticks.start()

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Has a daemon close its tunnel; the end of this process alone closes none."""
        return super().on_deactivate(state) if self._succeeds(self._pause) else FAILURE

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """The same, for good."""
        if self.active:
            self._succeeds(self._pause)
        return super().on_shutdown(state)

    def _pause(self) -> None:
        host = self._running_host()
        if isinstance(host, DaemonHost):
            host.change("pause")
            self._topics.publish_status(host, force=True)
        elif host is not None:
            self._config, self._written = host.handed_on(self._config)

    def end(self) -> None:
        """Stops the engine, wipes its keys and publishes the last status; a daemon goes on."""
        self._ticks.stop()  # first: it starts and stops the other
        self._detectors.stop()
        host, self._host = self._host, None
        if host is None:
            return
        statuses = host.stop()
        self._handle_events()
        if statuses:
            self._topics.publish_last(statuses)

    # --- a daemon ---

    def _reach(self) -> DaemonHost:
        host = DaemonHost(self._config, self._tunnel, os.environ, self._queue_events)
        try:
            host.settle()
        except ControlError:
            host.stop()
            raise
        self._host = host
        return host

    def _send_settings(self, host: DaemonHost, *, again: bool = False) -> None:
        """What was set since the start lives in the daemon, which forgets it when it ends; `again`: it is open."""
        for name, value in self._settable.changed.items():
            try:
                host.ask("set", key=name, value=value)
            except ControlError as error:
                self._log("error", f"'{name}' could not be set: {error}")
        waiting = [f"'{name}'" for name in self._settable.changed if name not in self._live]
        if again and waiting:
            self._log("warning", f"Set since the start; counts again from the next configure: {', '.join(waiting)}.")

    def _on_door(self, event: dict[str, Any]) -> None:
        """From the thread that hears events."""
        host = self._running_host()
        if not isinstance(host, DaemonHost):
            return
        if not event["there"]:
            self._away, self._unsaid = True, event["reason"]
            self._topics.publish_lost(event["reason"], self._drone_id)
            return
        if self._away is not False:
            again = "pqcmav-tunneld is there again." if self._away else f"Asks pqcmav-tunneld at {host.path}."
            self._log("info", again)
            self._away, self._unsaid = False, ""
        if event["boot"] != self._boot:
            self._send_settings(host, again=bool(self._boot))
            self._boot = event["boot"]
        self._again_s = 0.0

    def _open_again(self, host: DaemonHost) -> None:
        """A daemon that was started again and could not open its tunnel then tries as often as a node would."""
        if host.hello().get("state") != "inactive" or time.monotonic() < self._again_s:
            return
        self._again_s = time.monotonic() + AGAIN_S
        now = host.ask("hello")  # somebody may have paused it since
        if now["wanted"] and not now["starting"]:
            host.ask("resume")

    def refused(self, error: Exception) -> ProcessError:
        """The engine's errors have exit codes of their own, and so have a daemon's."""
        if isinstance(error, pqc_mav_tunnel.TunnelError):
            return ProcessError(one_line(error), ExitCode.CONFIG if error.is_configuration else ExitCode.START)
        return super().refused(error)

    def destroy_node(self) -> None:
        """Frees the node, so that it leaves the ROS graph at once."""
        # rclpy does not free actions, which hold the node. Kilted also destroys a node whose making failed.
        if hasattr(self, "_rekeys"):
            self._rekeys.close()
        super().destroy_node()

    # --- engine events, and what is due periodically ---

    def _queue_events(self, events: list[dict[str, Any]]) -> None:
        """From the thread that hears them; no callback of the node waits for the status that they changed."""
        for event in events:
            if event["event"] == "door":
                self._on_door(event)
            self._events.put(event)
        self._events_ready.trigger()
        host = self._running_host()
        if host and self._topics.open and any(event["event"] != "log" for event in events):
            with suppress(ControlError):  # a tick says so
                self._topics.publish_status(host, force=True)

    def _handle_events(self) -> None:
        if not self._topics.open:
            return  # a quick handshake may end before the activation does: its report waits
        while True:
            try:
                event = self._events.get_nowait()
            except queue.Empty:
                break
            self._rekeys.on_event(event)
            if say := event.get("say"):
                self._log(say["level"], say["text"])
            if picture := event.get("picture"):
                self._topics.publish_handshake(picture, event["time"])

    def _log(self, level: str, text: str) -> None:
        # One line for each level: rclpy raises when the same line of a program logs with another severity.
        if level == "error":
            self.get_logger().error(one_line(text))
        elif level == "warning":
            self.get_logger().warning(one_line(text))
        else:
            self.get_logger().info(one_line(text))

    def _publish_periodic(self) -> None:
        host = self._running_host()
        if host is None or not self._topics.open:
            return
        self._serve_detectors()
        try:
            if isinstance(host, DaemonHost):
                self._open_again(host)
            self._topics.publish_picture(host)
        except ControlError as error:  # a daemon is away, or has no configuration
            if not isinstance(host, DaemonHost):
                raise
            if self._unsaid:  # at the next tick: one that ends together with this program needs no word
                self._log("error", self._unsaid)
                self._unsaid = ""
            self._topics.publish_lost(one_line(error), self._drone_id)

    def _serve_detectors(self) -> None:
        """`~/server_stats` flows only while somebody listens."""
        listened = self._topics.detector_listens
        if listened is self._detectors.running:
            return
        (self._detectors.start if listened else self._detectors.stop)()
        said = "flows: somebody listens" if listened else "rests: nobody listens"
        self.get_logger().debug(f"~/server_stats {said}")

    def _publish_server(self) -> None:
        if host := self._running_host():
            # What a daemon refuses, the other thread says.
            with suppress(ControlError) if isinstance(host, DaemonHost) else nullcontext():
                self._topics.publish_server(host)

    def _unexpected(self, error: Exception) -> None:
        self.get_logger().error(f"unexpected: {type(error).__name__}: {one_line(error)}")

    def _running_host(self) -> EngineHost | DaemonHost | None:
        host = self._host
        return host if host is not None and host.started else None

    def _counting(self) -> dict[str, Any]:
        """The configuration as it counts; what was asked for, as long as there is none."""
        host = self._host
        with suppress(ControlError) if isinstance(host, DaemonHost) else nullcontext():
            return host.ask("config")["config"] if host else self._config
        return self._config
