# SPDX-License-Identifier: Apache-2.0
"""Parameter table and the wire encoding of its values. No sockets.

PX4 sends integers bytewise: the four bytes of the int32 are put where the message has a float
(MAV_PROTOCOL_CAPABILITY_PARAM_ENCODE_BYTEWISE), so this module works on the four raw bytes and never lets an
integer pass through a float, which could change a bit pattern that happens to be a NaN.
"""

import math
import struct
import zlib
from collections.abc import Iterable

from pqc_mav_sim.param_table import PARAM_SPECS, ParamSpec, ParamType

HASH_NAME = "_HASH_CHECK"
NAME_BYTES = 16


class ParamRefusedError(ValueError):
    """A value that is not set; `code` is the MAV_PARAM_ERROR to answer with."""

    DOES_NOT_EXIST = 1
    OUT_OF_RANGE = 2
    READ_ONLY = 5

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code


def encode_name(name: str) -> bytes:
    """Return a parameter name as the 16 bytes of param_id, zero-padded."""
    return name.encode("ascii").ljust(NAME_BYTES, b"\0")


class ParamTable:
    """Ordered by name, as PX4 indexes its parameters; raises ValueError for a table with doubled or bad entries."""

    def __init__(self, specs: Iterable[ParamSpec] = PARAM_SPECS, overrides: dict[str, float] | None = None) -> None:
        self.specs = sorted(specs, key=lambda spec: spec.name)
        self._index = {spec.name: i for i, spec in enumerate(self.specs)}
        if len(self._index) != len(self.specs):
            raise ValueError("parameter table has a name twice")
        self._values = {spec.name: self._stored(spec, spec.default) for spec in self.specs}
        for name, value in (overrides or {}).items():
            if name not in self._index:
                raise ValueError(f"parameter {name} does not exist")
            self._values[name] = self._checked(self.specs[self._index[name]], value)

    def __len__(self) -> int:
        return len(self.specs)

    def value(self, name: str) -> float:
        """Return a value; KeyError when the parameter does not exist."""
        return self._values[name]

    def index(self, name: str) -> int | None:
        """Return a parameter's index, None when it does not exist."""
        return self._index.get(name)

    def set(self, name: str, value: float) -> float:
        """Write a value and return what is stored (integers exact, reals rounded to float32).

        Raises:
            ParamRefusedError: no such parameter, read-only, not a number, or out of range.
        """
        index = self._index.get(name)
        if index is None:
            raise ParamRefusedError(ParamRefusedError.DOES_NOT_EXIST, f"unknown parameter {name[:NAME_BYTES]}")
        spec = self.specs[index]
        if spec.read_only:
            raise ParamRefusedError(ParamRefusedError.READ_ONLY, f"{name} is read-only")
        self._values[name] = self._checked(spec, value)
        return self._values[name]

    def set_raw(self, name: str, raw: bytes, kind: int) -> float:
        """Write a value as it arrived in PARAM_SET: its four bytes and its declared type. Raises ParamRefusedError."""
        index = self._index.get(name)
        if index is not None and kind != self.specs[index].type:
            expected = self.specs[index].type.name
            raise ParamRefusedError(ParamRefusedError.OUT_OF_RANGE, f"{name} has type {expected}")
        (value,) = struct.unpack("<i" if kind == ParamType.INT32 else "<f", raw)
        return self.set(name, value)

    def raw(self, name: str) -> bytes:
        """Return the four bytes of PARAM_VALUE.param_value; KeyError when the parameter does not exist."""
        spec = self.specs[self._index[name]]
        if spec.type is ParamType.INT32:
            return struct.pack("<i", int(self._values[name]))
        return struct.pack("<f", self._values[name])

    def hash(self) -> int:
        """CRC-32 over names and raw values in index order; lets a client tell that its copy is still good."""
        crc = 0
        for spec in self.specs:
            crc = zlib.crc32(self.raw(spec.name), zlib.crc32(spec.name.encode("ascii"), crc))
        return crc

    @staticmethod
    def _stored(spec: ParamSpec, value: float) -> float:
        if spec.type is ParamType.INT32:
            return int(value)
        return float(struct.unpack("<f", struct.pack("<f", value))[0])

    def _checked(self, spec: ParamSpec, value: float) -> float:
        if not math.isfinite(value):
            raise ParamRefusedError(ParamRefusedError.OUT_OF_RANGE, f"{spec.name} is not a number")
        # a float32 of the bound itself must pass, hence the small tolerance
        slack = 1e-6 * max(abs(spec.minimum), abs(spec.maximum), 1.0) if spec.type is ParamType.REAL32 else 0.0
        if not spec.minimum - slack <= value <= spec.maximum + slack:
            bounds = f"{spec.minimum:g}..{spec.maximum:g}"
            raise ParamRefusedError(ParamRefusedError.OUT_OF_RANGE, f"{spec.name} must be {bounds}")
        return self._stored(spec, value)
