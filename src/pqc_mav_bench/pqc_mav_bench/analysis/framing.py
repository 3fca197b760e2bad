# SPDX-License-Identifier: Apache-2.0
"""Packet arithmetic: header, overhead, bandwidth and offered packets."""

from __future__ import annotations

import struct

#: Layout of the protected header, authenticated as associated data.
HEADER_STRUCT = "!BBBBB8sQB"
HEADER_BYTES = struct.calcsize(HEADER_STRUCT)
TAG_BYTES = 16
#: The nonce is derived from epoch and sequence number and never sent.
NONCE_BYTES = 12


def overhead_bytes(tag_bytes: int = TAG_BYTES) -> int:
    """Bytes added to every packet: header and AEAD tag."""
    return HEADER_BYTES + tag_bytes
