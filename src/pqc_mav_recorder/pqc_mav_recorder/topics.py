# SPDX-License-Identifier: Apache-2.0
"""Finds the topics of a flight and feeds them to a recorder, as bytes: nothing is decoded on the way."""

import importlib
from collections.abc import Callable, Sequence
from typing import Any

from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy

from pqc_mav_recorder.recorder import Recorder, SteadyClock
from pqc_mav_recorder.schema import SchemaError, installed_topic, split_type

NAMESPACES = ("/drone", "/gcs")
ALWAYS = ("/diagnostics",)
LOOK_S = 0.5
DEPTH = 1000  # messages that may wait for the executor; the recorder's own queue takes over from there


def wanted(topic: str, namespaces: Sequence[str], extra: Sequence[str] = ALWAYS) -> bool:
    """Whether a flight's recording has this topic: below one of the namespaces, or named outright, but never hidden."""
    if any(part.startswith("_") for part in topic.split("/")):
        return False
    below = (f"/{name.strip('/')}/".replace("//", "/") for name in namespaces)  # of the root's everything
    return topic in extra or any(topic.startswith(each) for each in below)


def matching_qos(publishers: Sequence[Any]) -> QoSProfile:
    """What every publisher can serve: reliable and latched only when all of them are."""
    reliable = all(info.qos_profile.reliability == ReliabilityPolicy.RELIABLE for info in publishers)
    latched = all(info.qos_profile.durability == DurabilityPolicy.TRANSIENT_LOCAL for info in publishers)
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST,
        depth=DEPTH,
        reliability=ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE,
    )


class TopicRecorder:
    """Subscribes to every wanted topic once it is published. `warn` gets one sentence for each topic left out."""

    def __init__(
        self,
        node: Any,
        recorder: Recorder,
        namespaces: Sequence[str] = NAMESPACES,
        extra: Sequence[str] = (),
        warn: Callable[[str], None] = lambda _sentence: None,
    ) -> None:
        self._node = node
        self._recorder = recorder
        self._namespaces = tuple(namespaces)
        self._extra = (*ALWAYS, *extra)
        self._warn = warn
        self._clock = SteadyClock()
        self._seen: set[str] = set()
        self._subscriptions: list[Any] = []
        self.topics: list[str] = []
        self._timer = node.create_timer(LOOK_S, self.look)
        self.look()

    def close(self) -> None:
        """Unsubscribes."""
        self._node.destroy_timer(self._timer)
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)
        self._subscriptions.clear()

    def look(self) -> None:
        """Subscribes to what has appeared since the last look."""
        for topic, types in self._node.get_topic_names_and_types():
            if topic in self._seen or not wanted(topic, self._namespaces, self._extra):
                continue
            publishers = self._node.get_publishers_info_by_topic(topic)
            if not publishers:
                continue  # only subscribers so far; the publisher decides on the quality of service
            self._seen.add(topic)
            try:
                self._subscribe(topic, types[0], matching_qos(publishers))
            except SchemaError as error:
                self._warn(f"{topic} is not recorded: {error}")

    def _subscribe(self, topic: str, type_name: str, qos: QoSProfile) -> None:
        package, name = split_type(type_name)
        info = installed_topic(topic, type_name)
        try:
            message_class = getattr(importlib.import_module(f"{package}.msg"), name)
        except (ImportError, AttributeError):
            raise SchemaError(f"The ROS package '{package}' has no Python messages installed here.") from None

        def take(data: bytes, details: Any) -> None:
            now_ns = self._clock.now_ns()
            # Some middlewares give no source time, then it is 0.
            sent_ns = int(details.get("source_timestamp") or 0) if isinstance(details, dict) else 0
            self._recorder.put(info, bytes(data), now_ns, sent_ns if sent_ns > 0 else now_ns)

        self._subscriptions.append(self._node.create_subscription(message_class, topic, take, qos, raw=True))
        self.topics.append(topic)
