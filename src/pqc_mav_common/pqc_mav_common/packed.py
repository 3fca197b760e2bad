# SPDX-License-Identifier: Apache-2.0
"""Files of which the large ones are kept compressed: those whose name ends in .gz."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

ENDING = ".gz"


def pack(content: bytes, path: Path) -> bytes:
    """What the file of this name holds: the same content gives the same bytes at any time."""
    return gzip.compress(content, mtime=0) if path.suffix == ENDING else content


def read(path: Path) -> bytes:
    """The content of a file. Raises OSError, and ValueError for a compressed one that is damaged."""
    content = path.read_bytes()
    if path.suffix != ENDING:
        return content
    try:
        return gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"it does not decompress: {error}") from None
