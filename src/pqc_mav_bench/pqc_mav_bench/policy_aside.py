# SPDX-License-Identifier: Apache-2.0
"""Keeps a policy from changing suites while a campaign measures them, and lets it go on afterwards."""

import threading
from typing import Any

from pqc_mav_interfaces.msg import PolicyDecision
from pqc_mav_interfaces.srv import SetMode

from pqc_mav_bench.errors import BenchError, StoreError
from pqc_mav_bench.ros_call import RosCall
from pqc_mav_bench.store import CampaignStore
from pqc_mav_common import qos

HOLD = "hold"
#: In the manifest while the policy holds, its mode before: a controller that is killed cannot give it back, but the
#: one that resumes the campaign can.
BEFORE = "policy_before"
# A policy that has just been started is found so late on a busy machine. Taken for none, it would change suites.
FOUND_S = 10.0
ANSWER_S = 5.0
HEARD_S = 3.0  # a policy decides once a second


class PolicyAside:
    """The policy `name` ("/drone/pqc_policy"), or none: then nothing happens. An empty name: there is none."""

    def __init__(self, node: Any, name: str) -> None:
        self._name = name
        self._call = RosCall(node, SetMode, f"{name}/set_mode") if name else None
        self._heard = threading.Event()
        self._mode = ""
        if name:
            node.create_subscription(PolicyDecision, f"{name}/decision", self._take, qos.periodic(8))

    def step_aside(self, store: CampaignStore) -> str:
        """Puts it on hold. Returns one sentence, "" where there is no policy. Raises BenchError when it refuses."""
        if self._call is None or not self._call.offered(FOUND_S):
            return ""
        # Without a word of it: it is not active, or slow; being on hold does no harm to either.
        before = self._mode if self._heard.wait(HEARD_S) else "auto"
        manifest = store.manifest()
        if before == HOLD:
            before = manifest.get(BEFORE, HOLD)
        else:
            store.save_manifest({**manifest, BEFORE: before})
        try:
            answer = self._call(SetMode.Request(mode=HOLD), ANSWER_S)
        except TimeoutError as error:
            raise BenchError(f"{self._name} would change suites during the campaign: {error}.") from None
        if not answer.ok:
            store.save_manifest(manifest)
            raise BenchError(
                f"{self._name} would change suites during the campaign and does not hold: {answer.message} End it, or "
                "set its mode to hold."
            )
        return f"{self._name} is on hold during the campaign; it was in mode {before}."

    def go_on(self, store: CampaignStore) -> str:
        """Gives it back its mode. Returns what went wrong, "" when nothing did."""
        try:
            manifest = store.manifest()
            before = manifest.pop(BEFORE, "")
            if self._call is None or not before:
                return ""
            answer = self._call(SetMode.Request(mode=before), ANSWER_S)
            if answer.ok:
                store.save_manifest(manifest)
        except (TimeoutError, StoreError) as error:
            return f"{self._name} stays on hold: {str(error).rstrip('.')}."
        return "" if answer.ok else f"{self._name} stays on hold: {answer.message}"

    def _take(self, message: Any) -> None:
        self._mode = message.mode
        self._heard.set()
