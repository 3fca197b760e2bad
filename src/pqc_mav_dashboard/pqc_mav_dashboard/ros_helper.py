# SPDX-License-Identifier: Apache-2.0
"""A process beside the server that listens to ROS: JSON lines on stdout, requests on stdin, gone when stdin closes.

Nothing wakes up for a message. Once a second what the middleware has kept is taken as bytes, and of each topic the
newest is decoded and told: a stream of ten messages a second costs as little as one. Figures of tunnels, which control
sockets tell as well, are only listened to when asked for. Services have a node and an executor of their own.
"""

import importlib
import json
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TextIO

from pqc_mav_common.errors import one_line
from pqc_mav_common.lean_imports import without_code_generator
from pqc_mav_common.ros_log import KEEP_NONE
from pqc_mav_dashboard.picture import fields_of
from pqc_mav_dashboard.topics import TUNNEL, is_wanted, node_of, short_type

TELL_S = 1.0
LOOK_EVERY = 2  # rounds
ON_REQUEST = frozenset(TUNNEL) - {"TunnelStatus"}
MOST = 4096  # messages of a topic that are taken in a round
LINE = 256  # messages told at once: on a slow computer the first of many are not old when the last are decoded
CALL_S = 10.0


class Helper:
    """Subscriptions of one node, which no executor serves, and calls of another one."""

    def __init__(self, listening: Any, calling: Any, out: TextIO) -> None:
        self._node = listening
        self._calling = calling
        self._out = out
        self._lock = threading.Lock()  # of `out`
        self._subscriptions: dict[str, tuple[str, Any]] = {}
        self._wanted: frozenset[str] = frozenset()  # proxies whose figures are asked for
        self._calls: dict[Any, float] = {}
        self._clients: dict[str, Any] = {}
        self.ended = threading.Event()

    def run(self) -> None:
        """Until stdin closes."""
        rounds = 0
        while not self.ended.is_set():
            if rounds % LOOK_EVERY == 0:
                self.look()
            rounds += 1
            self.tell()
            self.ended.wait(TELL_S)

    def request(self, asked: dict[str, Any]) -> None:
        """From the thread that reads stdin."""
        if "want" in asked:
            self._wanted = frozenset(asked["want"])
            return
        try:
            self._call(asked)
        except Exception as error:  # whatever it is, who asked must not wait for it
            self._answer(asked, False, one_line(error))

    def look(self) -> None:
        """Subscribes to what has appeared."""
        for topic, types in self._node.get_topic_names_and_types():
            if topic in self._subscriptions or not is_wanted(types[0]):
                continue
            kind = short_type(types[0])
            if kind in ON_REQUEST and node_of(topic) not in self._wanted:
                continue
            publishers = self._node.get_publishers_info_by_topic(topic)
            if publishers:
                self._subscribe(topic, types[0], kind, publishers)

    def _subscribe(self, topic: str, type_name: str, kind: str, publishers: Any) -> None:
        from pqc_mav_recorder.topics import matching_qos

        message_class = getattr(importlib.import_module("pqc_mav_interfaces.msg"), kind)
        profile = matching_qos(publishers)
        # One topic tells of many drones: a round of a large fleet has to fit. Of other topics the newest is enough.
        profile.depth = MOST if kind in TUNNEL else 1
        made = self._node.create_subscription(message_class, topic, _never, profile, raw=True)
        self._subscriptions[topic] = (type_name, made)

    def tell(self) -> None:
        """What has come since the last time."""
        from rclpy.serialization import deserialize_message

        messages = []
        for topic, (type_name, subscription) in self._subscriptions.items():
            for data in _taken(subscription):
                at_s = time.monotonic()
                fields = fields_of(deserialize_message(data, subscription.msg_type))
                messages.append({"topic": topic, "type": type_name, "at_s": at_s, "fields": fields})
                if len(messages) == LINE:
                    self._say({"messages": messages})
                    messages = []
        if messages:
            self._say({"messages": messages})
        now_s = time.monotonic()
        for future in [future for future, until_s in list(self._calls.items()) if until_s < now_s]:
            self._calls.pop(future, None)
            future.cancel()

    def _call(self, asked: Mapping[str, Any]) -> None:
        from pqc_mav_interfaces.srv import PinSuite, Rekey, SetMode
        from rcl_interfaces.srv import SetParameters

        kinds = {
            "mode": SetMode,
            "pin": PinSuite,
            "rekey": Rekey,
            "set_parameter": SetParameters,
        }
        kind = kinds[asked["call"]]
        client = self._clients.get(asked["service"])
        if client is None:
            client = self._clients[asked["service"]] = self._calling.create_client(kind, asked["service"])
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
                self._answer(asked, *_outcome(asked, ended.result()))

        future.add_done_callback(done)

    def _answer(self, asked: Mapping[str, Any], ok: bool, text: str) -> None:
        self._say({"id": asked.get("id"), "ok": ok, "text": text})

    def _say(self, content: Mapping[str, Any]) -> None:
        try:
            with self._lock:
                self._out.write(json.dumps(content, separators=(",", ":")) + "\n")
                self._out.flush()
        except BrokenPipeError:  # the server has gone
            os._exit(0)


def _never(_data: bytes) -> None:
    """A callback that no executor calls."""


def _taken(subscription: Any) -> Iterator[bytes]:
    """What the middleware has kept for it, as rclpy's executors take it, oldest first."""
    with subscription.handle:
        for _ in range(MOST):
            taken = subscription.handle.take_message(subscription.msg_type, True)
            if taken is None:
                return
            yield bytes(taken[0])


def _request(asked: Mapping[str, Any], kind: Any) -> Any:
    if asked["call"] == "mode":
        return kind.Request(mode=asked["mode"])
    if asked["call"] == "pin":
        return kind.Request(suite=asked["suite"])
    if asked["call"] == "rekey":
        names = ("suite", "kind", "drone_id")
        return kind.Request(reason="dashboard", **{name: asked.get(name, "") for name in names})
    from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue

    value = ParameterValue(type=ParameterType.PARAMETER_STRING, string_value=asked["value"])
    return kind.Request(parameters=[Parameter(name=asked["name"], value=value)])


def _outcome(asked: Mapping[str, Any], answer: Any) -> tuple[bool, str]:
    if asked["call"] == "set_parameter":
        result = answer.results[0]
        return bool(result.successful), str(result.reason or "Done.")
    return bool(answer.ok), str(answer.message)


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
    rclpy.init(args=list(KEEP_NONE), context=context, signal_handler_options=SignalHandlerOptions.NO)
    nodes = [
        rclpy.create_node(
            f"pqcmav_dashboard_{what}{os.getpid()}",
            context=context,
            enable_rosout=False,
            start_parameter_services=False,
        )
        for what in ("", "calls_")
    ]
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(nodes[1])
    threading.Thread(target=executor.spin, daemon=True).start()
    helper = Helper(nodes[0], nodes[1], out)
    threading.Thread(target=_read, args=(helper.request, helper.ended.set), daemon=True).start()
    try:
        helper.run()
    except Exception:
        traceback.print_exc()  # the server says that it is on its terminal
    finally:
        # Nothing here needs an orderly end, and middlewares have been seen to hang in theirs.
        os._exit(0)


if __name__ == "__main__":
    main()
