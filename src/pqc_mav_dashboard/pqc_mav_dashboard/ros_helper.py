# SPDX-License-Identifier: Apache-2.0
"""A process beside the server that listens to ROS: JSON lines on stdout, requests on stdin, gone when stdin closes.

Topics are taken as bytes. Once a second the newest of each is decoded and told, so that a stream of many messages a
second costs little. Figures of tunnels, which control sockets tell as well, are only listened to when asked for.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, TextIO

from pqc_mav_common.errors import one_line
from pqc_mav_common.lean_imports import without_code_generator
from pqc_mav_dashboard.picture import fields_of
from pqc_mav_dashboard.topics import is_wanted, node_of, short_type

LOOK_S, TELL_S = 1.0, 1.0
EVERY = ("TunnelStatus", "HandshakeReport")  # of these no message may be left out
ON_REQUEST = ("TunnelStats", "LinkQuality", "HandshakeReport")
KEPT = 4096
CALL_S = 10.0


class Helper:
    """Subscriptions and calls of one node."""

    def __init__(self, node: Any, out: TextIO) -> None:
        self._node = node
        self._out = out
        self._subscribed: set[str] = set()
        self._wanted: set[str] = set()  # proxies whose figures are asked for
        self._waiting: deque[tuple[str, str, Any, bytes, float]] = deque(maxlen=KEPT)
        self._newest: dict[str, tuple[str, Any, bytes, float]] = {}
        self._asked: deque[dict[str, Any]] = deque()
        self._calls: dict[Any, float] = {}
        self._clients: dict[str, Any] = {}
        self._guard = node.create_guard_condition(self._serve)
        self._timers = [node.create_timer(LOOK_S, self.look), node.create_timer(TELL_S, self.tell)]
        self.look()

    def request(self, asked: dict[str, Any]) -> None:
        """From the thread that reads stdin."""
        self._asked.append(asked)
        self._guard.trigger()

    def look(self) -> None:
        """Subscribes to what has appeared."""
        for topic, types in self._node.get_topic_names_and_types():
            if topic in self._subscribed or not is_wanted(types[0]):
                continue
            kind = short_type(types[0])
            if kind in ON_REQUEST and node_of(topic) not in self._wanted:
                continue
            publishers = self._node.get_publishers_info_by_topic(topic)
            if publishers:
                self._subscribe(topic, types[0], kind, publishers)

    def _subscribe(self, topic: str, type_name: str, kind: str, publishers: Any) -> None:
        from pqc_mav_recorder.topics import matching_qos

        self._subscribed.add(topic)
        message_class = getattr(importlib.import_module("pqc_mav_interfaces.msg"), kind)
        # Of one topic come messages about many drones.
        every = kind in EVERY or kind in ON_REQUEST

        def take(data: bytes) -> None:
            now_s = time.monotonic()
            if every:
                self._waiting.append((topic, type_name, message_class, bytes(data), now_s))
            else:
                self._newest[topic] = (type_name, message_class, bytes(data), now_s)

        self._node.create_subscription(message_class, topic, take, matching_qos(publishers), raw=True)

    def tell(self) -> None:
        """What has come since the last time, as one line."""
        from rclpy.serialization import deserialize_message

        taken = [*self._waiting, *((topic, *rest) for topic, rest in self._newest.items())]
        self._waiting.clear()
        self._newest.clear()
        messages = []
        for topic, type_name, message_class, data, at_s in taken:
            fields = fields_of(deserialize_message(data, message_class))
            messages.append({"topic": topic, "type": type_name, "at_s": at_s, "fields": fields})
        self._say({"messages": messages})
        now_s = time.monotonic()
        for future in [future for future, until_s in self._calls.items() if until_s < now_s]:
            del self._calls[future]
            future.cancel()

    def _serve(self) -> None:
        while self._asked:
            asked = self._asked.popleft()
            if "want" in asked:
                self._wanted = set(asked["want"])
                self.look()
            else:
                try:
                    self._call(asked)
                except Exception as error:  # whatever it is, who asked must not wait for it
                    self._answer(asked, False, one_line(error))

    def _call(self, asked: Mapping[str, Any]) -> None:
        from pqc_mav_interfaces.srv import PinSuite, Rekey, SetMode
        from rcl_interfaces.srv import GetParameters, SetParameters

        kinds = {
            "mode": SetMode,
            "pin": PinSuite,
            "rekey": Rekey,
            "parameters": GetParameters,
            "set_parameter": SetParameters,
        }
        kind = kinds[asked["call"]]
        client = self._clients.get(asked["service"])
        if client is None:
            client = self._clients[asked["service"]] = self._node.create_client(kind, asked["service"])
        if not client.wait_for_service(timeout_sec=1.0):
            self._answer(asked, False, f"There is no service {asked['service']}; is its node running?")
            return
        future = client.call_async(_request(asked, kind))
        self._calls[future] = time.monotonic() + float(asked.get("timeout_s", CALL_S))

        def done(ended: Any) -> None:
            self._calls.pop(ended, None)
            if ended.cancelled():
                self._answer(asked, False, f"No answer from {asked['service']}.")
            elif ended.exception() is not None:
                self._answer(asked, False, one_line(ended.exception()))
            else:
                ok, text, values = _outcome(asked, ended.result())
                self._answer(asked, ok, text, values)

        future.add_done_callback(done)

    def _answer(self, asked: Mapping[str, Any], ok: bool, text: str, values: Any = None) -> None:
        self._say({"id": asked.get("id"), "ok": ok, "text": text, "values": values})

    def _say(self, content: Mapping[str, Any]) -> None:
        try:
            self._out.write(json.dumps(content, separators=(",", ":")) + "\n")
            self._out.flush()
        except BrokenPipeError:  # the server has gone
            os._exit(0)


def _request(asked: Mapping[str, Any], kind: Any) -> Any:
    if asked["call"] == "mode":
        return kind.Request(mode=asked["mode"])
    if asked["call"] == "pin":
        return kind.Request(suite=asked["suite"])
    if asked["call"] == "rekey":
        names = ("suite", "kind", "drone_id")
        return kind.Request(reason="dashboard", **{name: asked.get(name, "") for name in names})
    if asked["call"] == "parameters":
        return kind.Request(names=asked["names"])
    from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue

    value = ParameterValue(type=ParameterType.PARAMETER_STRING, string_value=asked["value"])
    return kind.Request(parameters=[Parameter(name=asked["name"], value=value)])


def _outcome(asked: Mapping[str, Any], answer: Any) -> tuple[bool, str, Any]:
    if asked["call"] == "parameters":
        from rclpy.parameter import parameter_value_to_python

        values = (parameter_value_to_python(value) for value in answer.values)
        plain = {
            name: list(value) if hasattr(value, "tolist") else value
            for name, value in zip(asked["names"], values, strict=False)
            if value is not None
        }
        return True, "", plain
    if asked["call"] == "set_parameter":
        result = answer.results[0]
        return bool(result.successful), str(result.reason or "Done."), None
    return bool(answer.ok), str(answer.message), None


def _read(take: Callable[[dict[str, Any]], None], end: Callable[[], None]) -> None:
    for line in sys.stdin:
        take(json.loads(line))
    end()


def main() -> None:
    """Until stdin closes."""
    # Libraries in C and C++ print on descriptor 1; lines for the server have one of their own.
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    without_code_generator()
    import rclpy
    from rclpy.executors import SingleThreadedExecutor
    from rclpy.signals import SignalHandlerOptions

    context = rclpy.Context()
    rclpy.init(args=[], context=context, signal_handler_options=SignalHandlerOptions.NO)
    node = rclpy.create_node(
        f"pqcmav_dashboard_{os.getpid()}", context=context, enable_rosout=False, start_parameter_services=False
    )
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    helper = Helper(node, out)
    reader = threading.Thread(target=_read, args=(helper.request, executor.shutdown), daemon=True)
    reader.start()
    try:
        with suppress(Exception):  # it is ended from the other thread, which it does not like
            executor.spin()
    finally:
        out.flush()
        # Nothing here needs an orderly end, and middlewares have been seen to hang in theirs.
        os._exit(0)


if __name__ == "__main__":
    main()
