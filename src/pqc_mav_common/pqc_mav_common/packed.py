# SPDX-License-Identifier: Apache-2.0
"""Files of which the large ones are kept compressed: those whose name ends in .gz. None unpacks to more than it may."""

import gzip
import zlib
from pathlib import Path

ENDING = ".gz"
# Deflate can make a thousand bytes of one; text of measurements makes some fifty.
MOST_BYTES, MOST_RATIO, ANY_RATIO_BYTES = 1 << 30, 300, 16 << 20
_GZIP = 16 + zlib.MAX_WBITS


def most_of(packed_bytes: int) -> int:
    """To how many bytes that many may unpack."""
    return min(MOST_BYTES, max(ANY_RATIO_BYTES, MOST_RATIO * packed_bytes))


def pack(content: bytes, path: Path) -> bytes:
    """What the file of this name holds: the same content gives the same bytes at any time."""
    return gzip.compress(content, mtime=0) if path.suffix == ENDING else content


def unpack(content: bytes) -> bytes:
    """What `pack` compressed. Raises ValueError for what is damaged, or made to fill the memory."""
    out = bytearray()
    most = most_of(len(content))
    rest = content
    try:
        while rest:
            member = zlib.decompressobj(_GZIP)
            out += member.decompress(rest, most - len(out) + 1)
            if len(out) > most:
                raise ValueError(f"it would unpack to more than {most:,} bytes")
            if not member.eof:
                raise ValueError("it does not decompress: it is cut off")
            rest = member.unused_data.lstrip(b"\0")  # as gzip pads
    except zlib.error as error:
        raise ValueError(f"it does not decompress: {error}") from None
    return bytes(out)


def content_of(content: bytes, path: Path) -> bytes:
    """The content of a file of this name. Raises ValueError for a compressed one that is damaged."""
    return unpack(content) if path.suffix == ENDING else content


def read(path: Path) -> bytes:
    """The content of a file. Raises OSError, and ValueError for a compressed one that is damaged."""
    return content_of(path.read_bytes(), path)
