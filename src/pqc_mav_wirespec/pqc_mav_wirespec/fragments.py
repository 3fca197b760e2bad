# SPDX-License-Identifier: Apache-2.0
"""A message cut into fragments with parity, and put together again (docs/protocol.md section 5)."""

from __future__ import annotations

from dataclasses import dataclass, field

from .hsframes import Fragment, fragment_bytes, fragment_count, parity_indices

FIRST_CONTACT_OVERHEAD_BYTES, SESSION_OVERHEAD_BYTES = 30, 62
ACK_ROOM_BYTES, SESSION_ACK_ROOM_BYTES = 20, 11


def fragment_size(total: int, limit: int, *, in_session: bool) -> int:
    """Rule 1: the size a message of `total` bytes is cut with where datagrams have at most `limit` bytes."""
    overhead = SESSION_OVERHEAD_BYTES if in_session else FIRST_CONTACT_OVERHEAD_BYTES
    if total <= limit - overhead:
        return total
    return limit - overhead - (SESSION_ACK_ROOM_BYTES if in_session else ACK_ROOM_BYTES)


def _xor(blocks: list[bytes], size: int) -> bytes:
    value = 0
    for block in blocks:
        value ^= int.from_bytes(block.ljust(size, b"\0"), "big")
    return value.to_bytes(size, "big")


class Cut:
    """A message as fragments of one size."""

    def __init__(self, whole_frame: bytes, size: int) -> None:
        self.message, self.total, self.size = whole_frame[4], len(whole_frame), size
        self.count = fragment_count(self.total, size)
        self._parts = [whole_frame[index * size : (index + 1) * size] for index in range(self.count)]
        self._parity = {
            index: _xor([self._parts[part] for part in group], size)
            for index, group in parity_indices(self.count).items()
        }

    def fragment(self, index: int) -> Fragment:
        """One fragment or parity fragment."""
        data = self._parts[index] if index < self.count else self._parity[index]
        return Fragment(self.message, self.total, self.size, index, data)

    def order(self, *, parity: bool) -> list[int]:
        """The order of first sending: each group's parity, where it is wanted, right behind the group."""
        after = {group[-1]: index for index, group in parity_indices(self.count).items()} if parity else {}
        order: list[int] = []
        for index in range(self.count):
            order.append(index)
            if index in after:
                order.append(after[index])
        return order


@dataclass
class Assembly:
    """A message on its way in. `have` holds the data fragments that are here, also rebuilt ones."""

    message: int
    total: int
    size: int
    rebuilt: int = 0
    _parts: dict[int, bytes] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """How many data fragments it has."""
        return fragment_count(self.total, self.size)

    @property
    def have(self) -> set[int]:
        """The data fragments that are here."""
        return {index for index in self._parts if index < self.count}

    @property
    def complete(self) -> bytes | None:
        """The whole frame once all of it is here."""
        if len(self.have) < self.count:
            return None
        return b"".join(self._parts[index] for index in range(self.count))

    def add(self, fragment: Fragment) -> bool:
        """Takes a fragment of this total and size; returns whether it was new."""
        if fragment.index in self._parts:
            return False
        before = len(self.have)
        self._parts[fragment.index] = fragment.data
        for index, group in parity_indices(self.count).items():
            missing = [part for part in group if part not in self._parts]
            if index in self._parts and len(missing) == 1:
                others = [self._parts[part] for part in group if part != missing[0]]
                block = _xor([self._parts[index], *others], self.size)
                self._parts[missing[0]] = block[: fragment_bytes(self.total, self.size, missing[0])]
                self.rebuilt += 1
        return fragment.index >= self.count or len(self.have) > before
