# SPDX-License-Identifier: Apache-2.0
"""The mission protocol, vehicle side: upload, download, clear, set current. No sockets, no clock.

Microservice: https://mavlink.io/en/services/mission.html. Only the flight plan is stored; geofence and rally lists
exist and are empty, and an upload of them is answered with UNSUPPORTED.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from pymavlink.dialects.v20 import common as mavlink

from pqc_mav_sim.mav_types import Message
from pqc_mav_sim.mission_plan import MAX_ITEMS, POSITIONAL, MissionItem, MissionPlan

RETRY_S = 0.5
MAX_RETRIES = 6
_FLIGHT_PLAN = mavlink.MAV_MISSION_TYPE_MISSION
_CANCELLED = mavlink.MAV_MISSION_OPERATION_CANCELLED


@dataclass(frozen=True)
class Partner:
    """Who talks to us: MAVLink system and component id."""

    sysid: int
    compid: int


@dataclass
class _Upload:
    partner: Partner
    count: int
    asked_at: float
    retries: int = 0
    items: list[MissionItem] = field(default_factory=list)


def item_from_message(msg: Message) -> MissionItem:
    """Return the item in a MISSION_ITEM_INT or MISSION_ITEM."""
    params = (msg.param1, msg.param2, msg.param3, msg.param4)
    if msg.get_msgId() == mavlink.MAVLINK_MSG_ID_MISSION_ITEM_INT and msg.command in POSITIONAL:
        x, y = msg.x / 1e7, msg.y / 1e7
    else:
        x, y = float(msg.x), float(msg.y)
    return MissionItem(msg.seq, msg.frame, msg.command, params, x, y, msg.z, bool(msg.autocontinue))


def item_to_message(item: MissionItem, partner: Partner, current: bool, *, as_int: bool) -> Message:
    """Return an item as MISSION_ITEM_INT, or as the older MISSION_ITEM for a client that asked in that way."""
    head = (partner.sysid, partner.compid, item.seq, item.frame, item.command, int(current), int(item.autocontinue))
    if not as_int:
        xyz = (item.lat_deg, item.lon_deg, item.altitude)
        return mavlink.MAVLink_mission_item_message(*head, *item.params, *xyz, _FLIGHT_PLAN)
    scale = 1e7 if item.command in POSITIONAL else 1.0
    places = (item.lat_deg, item.lon_deg)
    xy = [max(-(2**31), min(2**31 - 1, round(v * scale))) if math.isfinite(v) else 0 for v in places]
    return mavlink.MAVLink_mission_item_int_message(*head, *item.params, *xy, item.altitude, _FLIGHT_PLAN)


class MissionProtocol:
    """Serves one plan. A finished upload replaces the plan as a whole; a broken one leaves it untouched."""

    def __init__(self, plan: MissionPlan) -> None:
        self.plan = plan
        self._upload: _Upload | None = None
        self._uploader: Partner | None = None  # of the last whole upload
        self.handlers: dict[int, Callable[[Partner, Message, float], list[Message]]] = {
            mavlink.MAVLINK_MSG_ID_MISSION_REQUEST_LIST: self._request_list,
            mavlink.MAVLINK_MSG_ID_MISSION_REQUEST_INT: self._request_item,
            mavlink.MAVLINK_MSG_ID_MISSION_REQUEST: self._request_item,
            mavlink.MAVLINK_MSG_ID_MISSION_COUNT: self._count,
            mavlink.MAVLINK_MSG_ID_MISSION_ITEM_INT: self._item,
            mavlink.MAVLINK_MSG_ID_MISSION_ITEM: self._item,
            mavlink.MAVLINK_MSG_ID_MISSION_CLEAR_ALL: self._clear,
            mavlink.MAVLINK_MSG_ID_MISSION_ACK: self._on_ack,
        }

    def handle(self, partner: Partner, msg: Message, t: float) -> list[Message]:
        """Answer one message of the mission protocol, which is one of `handlers`."""
        return self.handlers[msg.get_msgId()](partner, msg, t)

    def _request_list(self, partner: Partner, msg: Message, _t: float) -> list[Message]:
        """Begin a download: answer with the number of items."""
        count = len(self.plan.items) if msg.mission_type == _FLIGHT_PLAN else 0
        return [mavlink.MAVLink_mission_count_message(partner.sysid, partner.compid, count, msg.mission_type)]

    def _request_item(self, partner: Partner, msg: Message, _t: float) -> list[Message]:
        """Answer with one item of the plan."""
        if msg.mission_type != _FLIGHT_PLAN or msg.seq >= len(self.plan.items):
            return [self._ack(partner, mavlink.MAV_MISSION_INVALID_SEQUENCE, msg.mission_type)]
        as_int = msg.get_msgId() == mavlink.MAVLINK_MSG_ID_MISSION_REQUEST_INT
        return [item_to_message(self.plan.items[msg.seq], partner, msg.seq == self.plan.current, as_int=as_int)]

    def _clear(self, partner: Partner, msg: Message, _t: float) -> list[Message]:
        """Forget the plan."""
        if msg.mission_type in (_FLIGHT_PLAN, mavlink.MAV_MISSION_TYPE_ALL):
            self._install([])
        return [self._ack(partner, mavlink.MAV_MISSION_ACCEPTED, msg.mission_type)]

    def _count(self, partner: Partner, msg: Message, t: float) -> list[Message]:
        """Begin an upload; a second one from the same partner starts over, another partner has to wait."""
        upload, count, mission_type = self._upload, msg.count, msg.mission_type
        if mission_type != _FLIGHT_PLAN:
            verdict = mavlink.MAV_MISSION_UNSUPPORTED if count else mavlink.MAV_MISSION_ACCEPTED
            return [self._ack(partner, verdict, mission_type)]
        if upload is not None and upload.partner != partner:
            return [self._ack(partner, mavlink.MAV_MISSION_DENIED, mission_type)]
        if count > MAX_ITEMS:
            return [self._ack(partner, mavlink.MAV_MISSION_NO_SPACE, mission_type)]
        if count == 0:
            self._install([])
            return [self._ack(partner, mavlink.MAV_MISSION_ACCEPTED, mission_type)]
        self._upload = _Upload(partner, count, t)
        return [self._request(self._upload)]

    def _item(self, partner: Partner, msg: Message, t: float) -> list[Message]:
        """Take one item of the running upload."""
        upload = self._upload
        is_again = upload is None and partner == self._uploader and msg.seq == len(self.plan.items) - 1
        if is_again and msg.mission_type == _FLIGHT_PLAN:  # the first answer was lost
            return [self._ack(partner, mavlink.MAV_MISSION_ACCEPTED, _FLIGHT_PLAN)]
        if upload is None or upload.partner != partner or msg.mission_type != _FLIGHT_PLAN:
            return [self._ack(partner, mavlink.MAV_MISSION_ERROR, msg.mission_type)]
        upload.asked_at, upload.retries = t, 0
        if msg.seq != len(upload.items):
            return [self._request(upload)]
        item = item_from_message(msg)
        error = item.check()
        if error is not None:
            self._upload = None
            return [self._ack(partner, error, _FLIGHT_PLAN)]
        upload.items.append(item)
        if len(upload.items) < upload.count:
            return [self._request(upload)]
        self._install(upload.items)
        self._uploader = partner
        return [self._ack(partner, mavlink.MAV_MISSION_ACCEPTED, _FLIGHT_PLAN)]

    def _on_ack(self, partner: Partner, msg: Message, _t: float) -> list[Message]:
        """A partner that cancels ends its upload."""
        if self._upload is not None and self._upload.partner == partner and msg.type == _CANCELLED:
            self._upload = None
        return []

    def tick(self, t: float) -> list[Message]:
        """Ask again for an item that does not come; give the upload up after a few times."""
        upload = self._upload
        if upload is None or t - upload.asked_at < RETRY_S:
            return []
        if upload.retries >= MAX_RETRIES:
            self._upload = None
            return [self._ack(upload.partner, _CANCELLED, _FLIGHT_PLAN)]
        upload.asked_at = t
        upload.retries += 1
        return [self._request(upload)]

    def _install(self, items: list[MissionItem]) -> None:
        self._upload = None
        self.plan.items = items
        self.plan.restart()

    @staticmethod
    def _request(upload: _Upload) -> Message:
        partner = upload.partner
        return mavlink.MAVLink_mission_request_int_message(
            partner.sysid, partner.compid, len(upload.items), _FLIGHT_PLAN
        )

    @staticmethod
    def _ack(partner: Partner, result: int, mission_type: int) -> Message:
        return mavlink.MAVLink_mission_ack_message(partner.sysid, partner.compid, result, mission_type)
