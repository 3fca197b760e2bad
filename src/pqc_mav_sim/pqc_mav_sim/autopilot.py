# SPDX-License-Identifier: Apache-2.0
"""The autopilot as MAVLink sees it, without a socket: frames in, messages out, time as an argument.

The way of a frame: `receive` finds the handler by message id; the handler changes the flight, the tables or the streams
and puts answers into the outbox. The way of time: `tick` advances the plant, turns events into texts and empties the
outbox; `due` says which telemetry messages are to be built now. A handler never raises, whatever the frame holds.
"""

from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass

from pymavlink.dialects.v20 import common as mavlink

from pqc_mav_common.geodesy import LocalFrame
from pqc_mav_sim.commands import Command, CommandHandler
from pqc_mav_sim.flight_config import FlightConfig
from pqc_mav_sim.frames import Decoder, Frame
from pqc_mav_sim.gcs_monitor import GcsMonitor
from pqc_mav_sim.guidance import Sticks
from pqc_mav_sim.habits import HABITS
from pqc_mav_sim.identity import autopilot_version
from pqc_mav_sim.latency import LatencyHistogram
from pqc_mav_sim.mav_types import Message
from pqc_mav_sim.missions import MissionProtocol, Partner
from pqc_mav_sim.modes import Event, Severity
from pqc_mav_sim.param_protocol import ParamProtocol
from pqc_mav_sim.params import ParamTable
from pqc_mav_sim.plant import Plant
from pqc_mav_sim.profile import ProfileRunner, steps_of
from pqc_mav_sim.rates import StreamScheduler
from pqc_mav_sim.telemetry import Telemetry, statustext

COMPONENT_ID = mavlink.MAV_COMP_ID_AUTOPILOT1
MAX_SYSID = 250
OUTBOX_LIMIT = 1000
HOME = (47.397742, 8.545594, 488.0)
_FTP_NAK_BYTES = 251


@dataclass(frozen=True)
class AutopilotConfig:
    """What a vehicle is made of; ValueError from the parts for values out of range."""

    rate_hz: float = 320.0
    profile: str = "auto"
    sysid: int = 1
    seed: int = 1
    home: tuple[float, float, float] = HOME
    altitude_m: float = 8.0
    cruise_s: float = 10.0
    battery: float = 1.0
    shared_clock: bool = False
    on_request: bool = False  # streams only for who asked for them
    params: tuple[tuple[str, float], ...] = ()  # parameters other than their defaults
    like: str = ""  # one of HABITS

    def __post_init__(self) -> None:
        if not 1 <= self.sysid <= MAX_SYSID:
            raise ValueError(f"system id {self.sysid} is out of range: give 1 to {MAX_SYSID}")
        if not 2.0 <= self.altitude_m <= 120.0:
            raise ValueError(f"altitude {self.altitude_m:g} m is out of range: give 2 to 120")
        if not 0.0 <= self.cruise_s <= 86400.0:
            raise ValueError(f"cruise time {self.cruise_s:g} s is out of range: give 0 to 86400")
        if "MAV_SYS_ID" in dict(self.params):
            raise ValueError("MAV_SYS_ID follows the system id: give that")
        if self.like not in HABITS:
            known = ", ".join(name for name in HABITS if name)
            raise ValueError(f"there is no autopilot '{self.like}' to be like: give one of {known}")


class Autopilot:
    """One vehicle. `t` is seconds since boot on a monotonic clock; `unix_offset` added to it gives UNIX time."""

    def __init__(self, config: AutopilotConfig, t: float, unix_offset: float = 0.0) -> None:
        self.config = config
        habits = HABITS[config.like]
        self.params = ParamTable(habits.specs(), {**dict(config.params), "MAV_SYS_ID": config.sysid})
        self.plant = Plant(
            LocalFrame(*config.home), FlightConfig.from_params(self.params.value), seed=config.seed, soc=config.battery
        )
        on_request = config.on_request or habits.on_request
        self.scheduler = StreamScheduler(config.rate_hz, t, habits.streams(), on_request)
        self.telemetry = Telemetry(self.plant, seed=config.seed, unix_offset=unix_offset)
        self.profile = ProfileRunner(steps_of(config.profile, altitude=config.altitude_m, cruise_s=config.cruise_s))
        self.gcs = GcsMonitor()
        self.uplink_latency = LatencyHistogram()
        self.received: Counter[str] = Counter()
        self.ignored: Counter[str] = Counter()
        self.outbox_dropped = 0
        flight = self.plant.flight
        self._commands = CommandHandler(flight, self.scheduler, self.telemetry, self._version)
        self._missions = MissionProtocol(flight.mission)
        self._param_protocol = ParamProtocol(self.params, self._reload_config)
        self._decoder = Decoder()
        self._outbox: deque[Message] = deque()
        self._text_id = 0
        self._handlers: dict[int, Callable[[Frame, Message, float], None]] = {
            mavlink.MAVLINK_MSG_ID_HEARTBEAT: self._on_heartbeat,
            mavlink.MAVLINK_MSG_ID_COMMAND_LONG: self._on_command_long,
            mavlink.MAVLINK_MSG_ID_COMMAND_INT: self._on_command_int,
            mavlink.MAVLINK_MSG_ID_SET_MODE: self._on_set_mode,
            mavlink.MAVLINK_MSG_ID_PARAM_REQUEST_LIST: self._on_param_list,
            mavlink.MAVLINK_MSG_ID_PARAM_REQUEST_READ: self._on_param_read,
            mavlink.MAVLINK_MSG_ID_PARAM_SET: self._on_param_set,
            **dict.fromkeys(self._missions.handlers, self._on_mission),
            mavlink.MAVLINK_MSG_ID_MISSION_SET_CURRENT: self._on_mission_set_current,
            mavlink.MAVLINK_MSG_ID_PING: self._on_ping,
            mavlink.MAVLINK_MSG_ID_TIMESYNC: self._on_timesync,
            mavlink.MAVLINK_MSG_ID_MANUAL_CONTROL: self._on_manual_control,
            mavlink.MAVLINK_MSG_ID_FILE_TRANSFER_PROTOCOL: self._on_ftp,
        }

    # time

    def tick(self, t: float) -> list[Message]:
        """Advance to t and return the answers, texts and paced parameters to send, in order."""
        flight = self.plant.flight
        self.plant.link_lost = self.gcs.lost(t, flight.config.link_loss_s)
        self.profile.run(t, flight)
        self.plant.advance(t)
        self._send(*self._param_protocol.tick(t), *self._missions.tick(t))
        for event in flight.events:
            self._text_id = self._text_id % 0xFFFF + 1
            self._send(*statustext(event, self._text_id))
        flight.events.clear()
        self._send(*(mavlink.MAVLink_mission_item_reached_message(seq) for seq in flight.reached))
        flight.reached.clear()
        messages = list(self._outbox)
        self._outbox.clear()
        return messages

    def due(self, t: float) -> list[int]:
        """Return the ids of the telemetry messages due at t; build them with `telemetry.build`."""
        return self.scheduler.due(t)

    def next_deadline(self, t: float) -> float:
        """Return when `tick` or `due` has something to do, at most 50 ms after t."""
        candidates = (self.scheduler.next_deadline(), self._param_protocol.next_deadline())
        return min((c for c in candidates if c is not None), default=t + 0.05)

    # frames

    def receive(self, frame: Frame, t: float) -> None:
        """Take one frame that arrived at t."""
        self.received[frame.name] += 1
        handler = self._handlers.get(frame.msg_id)
        if handler is None:
            self.ignored[frame.name] += 1
            return
        try:
            msg = self._decoder.decode(frame)
        except mavlink.MAVError:
            self.ignored["UNDECODABLE"] += 1
            return
        if not self._is_for_me(msg):
            self.ignored["NOT_FOR_ME"] += 1
            return
        handler(frame, msg, t)

    def _is_for_me(self, msg: Message) -> bool:
        system = getattr(msg, "target_system", 0)
        component = getattr(msg, "target_component", 0)
        return system in (0, self.config.sysid) and component in (0, COMPONENT_ID)

    def _send(self, *messages: Message) -> None:
        for message in messages:
            if len(self._outbox) >= OUTBOX_LIMIT:
                self.outbox_dropped += 1
            else:
                self._outbox.append(message)

    def _version(self) -> Message:
        return autopilot_version(self.config.sysid, self.config.seed)

    def _reload_config(self) -> None:
        self.plant.flight.config = FlightConfig.from_params(self.params.value)

    def _on_heartbeat(self, _frame: Frame, msg: Message, t: float) -> None:
        if msg.type == mavlink.MAV_TYPE_GCS:
            if self.gcs.heartbeats == 0:
                self.plant.flight.events.append(Event(Severity.INFO, "GCS connected"))
            self.gcs.heartbeat(t)

    def _on_command_long(self, frame: Frame, msg: Message, t: float) -> None:
        self._command(Command.from_long(msg), Partner(frame.sysid, frame.compid), t)

    def _on_command_int(self, frame: Frame, msg: Message, t: float) -> None:
        self._command(Command.from_int(msg), Partner(frame.sysid, frame.compid), t)

    def _on_set_mode(self, frame: Frame, msg: Message, t: float) -> None:
        main, sub = float(msg.custom_mode >> 16 & 0xFF), float(msg.custom_mode >> 24 & 0xFF)
        command = Command(mavlink.MAV_CMD_DO_SET_MODE, (float(msg.base_mode), main, sub, 0.0, 0.0, 0.0, 0.0))
        self._command(command, Partner(frame.sysid, frame.compid), t)

    def _command(self, command: Command, partner: Partner, t: float) -> None:
        answer = self._commands.handle(command, t)
        outcome = answer.outcome
        if outcome.ok and CommandHandler.flies(command.id):
            self.profile.stop()
        ack = mavlink.MAVLink_command_ack_message(
            command.id, outcome.result, target_system=partner.sysid, target_component=partner.compid
        )
        self._send(ack, *answer.messages)
        if outcome.text:
            self.plant.flight.events.append(Event(Severity.WARNING, outcome.text))

    def _on_param_list(self, _frame: Frame, _msg: Message, t: float) -> None:
        self._param_protocol.request_list(t)

    def _on_param_read(self, frame: Frame, msg: Message, _t: float) -> None:
        partner = Partner(frame.sysid, frame.compid)
        self._send(*self._param_protocol.request_read(partner, msg.param_index, msg.param_id))

    def _on_param_set(self, frame: Frame, msg: Message, _t: float) -> None:
        answer, event = self._param_protocol.set(Partner(frame.sysid, frame.compid), frame, msg)
        self._send(*answer)
        if event is not None:
            self.plant.flight.events.append(event)

    def _on_mission(self, frame: Frame, msg: Message, t: float) -> None:
        self._send(*self._missions.handle(Partner(frame.sysid, frame.compid), msg, t))

    def _on_mission_set_current(self, frame: Frame, msg: Message, t: float) -> None:
        command = Command(mavlink.MAV_CMD_DO_SET_MISSION_CURRENT, (float(msg.seq), 0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
        self._command(command, Partner(frame.sysid, frame.compid), t)

    def _on_ping(self, frame: Frame, msg: Message, t: float) -> None:
        if msg.target_system != 0:
            return
        if self.config.shared_clock:
            self.uplink_latency.add(t * 1e6 - msg.time_usec)
        self._send(mavlink.MAVLink_ping_message(msg.time_usec, msg.seq, frame.sysid, frame.compid))

    def _on_timesync(self, _frame: Frame, msg: Message, t: float) -> None:
        if msg.tc1 == 0:
            self._send(mavlink.MAVLink_timesync_message(int(t * 1e9), msg.ts1))

    def _on_manual_control(self, _frame: Frame, msg: Message, _t: float) -> None:
        if msg.target not in (0, self.config.sysid):
            return
        x, y, z, r = (max(-1000, min(1000, v)) / 1000.0 for v in (msg.x, msg.y, msg.z, msg.r))
        # z runs from 0 to 1000 with the middle as "hold the height"
        self.plant.flight.sticks(Sticks(x, y, 2.0 * z - 1.0 if z >= 0.0 else 0.0, r))

    def _on_ftp(self, frame: Frame, msg: Message, _t: float) -> None:
        """Refuse file transfer at once, so that clients fall back to the parameter protocol without a time-out."""
        request = bytes(msg.payload)
        sequence = (int.from_bytes(request[:2], "little") + 1) & 0xFFFF
        nak, unknown_command = 129, 7
        header = sequence.to_bytes(2, "little") + bytes((request[2], nak, 1, request[3], 0, 0, 0, 0, 0, 0))
        payload = (header + bytes((unknown_command,))).ljust(_FTP_NAK_BYTES, b"\0")
        self._send(mavlink.MAVLink_file_transfer_protocol_message(0, frame.sysid, frame.compid, list(payload)))
