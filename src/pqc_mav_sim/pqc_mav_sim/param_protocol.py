# SPDX-License-Identifier: Apache-2.0
"""The parameter protocol, vehicle side: list, read, set. No sockets, no clock.

Microservice: https://mavlink.io/en/services/parameter.html. The list is paced, so that a slow link is not flooded; a
second request starts it over.
"""

from collections.abc import Callable

from pymavlink.dialects.v20 import common as mavlink

from pqc_mav_sim.frames import Frame
from pqc_mav_sim.mav_types import Message
from pqc_mav_sim.missions import Partner
from pqc_mav_sim.modes import Event, Severity
from pqc_mav_sim.params import HASH_NAME, NAME_BYTES, ParamRefusedError, ParamTable, encode_name

LIST_HZ = 200.0
_NO_INDEX = 65535
_VALUE_BYTES = 4
_UINT32 = 5


class RawParamValue(mavlink.MAVLink_param_value_message):
    """PARAM_VALUE whose value field carries four given bytes, so that an integer's bit pattern survives."""

    def __init__(self, raw: bytes, name: str, kind: int, count: int, index: int) -> None:
        super().__init__(encode_name(name), 0.0, kind, count, index)
        self._raw = raw

    def pack(self, mav: mavlink.MAVLink, force_mavlink1: bool = False) -> bytes:
        """Pack with the raw bytes in place of the float, which is the first field on the wire."""
        name = encode_name(self.param_id)
        fields = self.unpacker.pack(0.0, self.param_count, self.param_index, name, self.param_type)
        payload = self._raw + fields[_VALUE_BYTES:]
        return bytes(self._pack(mav, self.crc_extra, payload, force_mavlink1=force_mavlink1))


class ParamProtocol:
    """Serves one table; `changed` is called after every accepted write."""

    def __init__(self, table: ParamTable, changed: Callable[[], None]) -> None:
        self.table = table
        self._changed = changed
        self._next_index: int | None = None
        self._next_at = 0.0

    def request_list(self, t: float) -> None:
        """Begin to send every parameter."""
        self._next_index, self._next_at = 0, t

    def request_read(self, partner: Partner, index: int, name: str) -> list[Message]:
        """Answer one PARAM_REQUEST_READ: by index, or by name when the index is -1."""
        if index >= 0:
            if index < len(self.table):
                return [self._value(index)]
            return [self._error(partner, "", index, ParamRefusedError.DOES_NOT_EXIST)]
        if name == HASH_NAME:
            raw = self.table.hash().to_bytes(4, "little")
            return [RawParamValue(raw, HASH_NAME, _UINT32, len(self.table), _NO_INDEX)]
        known = self.table.index(name)
        if known is None:
            return [self._error(partner, name, -1, ParamRefusedError.DOES_NOT_EXIST)]
        return [self._value(known)]

    def set(self, partner: Partner, frame: Frame, msg: Message) -> tuple[list[Message], Event | None]:
        """Carry out a PARAM_SET; the frame gives the value's exact bytes.

        Returns:
            The answer (the value that now holds, after an error report if it was refused) and what to tell the pilot.
        """
        name, index = msg.param_id, self.table.index(msg.param_id)
        try:
            self.table.set_raw(name, frame.payload[:_VALUE_BYTES], msg.param_type)
        except ParamRefusedError as refused:
            error = self._error(partner, name, -1, refused.code)
            value = [] if index is None else [self._value(index)]
            return [error, *value], Event(Severity.WARNING, str(refused))
        self._changed()
        return self.request_read(partner, -1, name), None

    def tick(self, t: float) -> list[Message]:
        """Return the parameters of a running list that are due at t."""
        messages: list[Message] = []
        while self._next_index is not None and self._next_at <= t:
            messages.append(self._value(self._next_index))
            self._next_index += 1
            self._next_at = max(self._next_at + 1.0 / LIST_HZ, t - 0.05)
            if self._next_index == len(self.table):
                self._next_index = None
        return messages

    def next_deadline(self) -> float | None:
        """Return when `tick` has something to send, None when no list is running."""
        return None if self._next_index is None else self._next_at

    def _value(self, index: int) -> Message:
        spec = self.table.specs[index]
        return RawParamValue(self.table.raw(spec.name), spec.name, spec.type, len(self.table), index)

    @staticmethod
    def _error(partner: Partner, name: str, index: int, code: int) -> Message:
        raw = name.encode("ascii", "replace")[:NAME_BYTES].ljust(NAME_BYTES, b"\0")
        return mavlink.MAVLink_param_error_message(partner.sysid, partner.compid, raw, index, code)
