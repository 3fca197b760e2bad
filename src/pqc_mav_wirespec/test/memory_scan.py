# SPDX-License-Identifier: Apache-2.0
"""Search the memory of a running process for secrets; knows nothing of the protocol they belong to."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from pathlib import Path

CHUNK = 1 << 18
# What a saved vector register holds: half a key is as good a finding as a whole one.
PIECE = 16


def stack_pointers(pid: int) -> dict[int, str]:
    """Where the stacks of the threads stand that wait in a system call, with the threads' names."""
    pointers = {}
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            fields = (task / "syscall").read_text().split()
            if len(fields) > 2:
                pointers[int(fields[-2], 16)] = (task / "comm").read_text().strip()
        except OSError:
            continue  # the thread has ended
    return pointers


def leave_on_stack(pid: int, thread: str, depth: int, what: bytes) -> None:
    """As if a function that has returned had left it so far below the frames of a thread, once that one waits."""
    while not (pointers := [at for at, name in stack_pointers(pid).items() if name == thread]):
        time.sleep(0.01)
    (pointer,) = pointers
    with Path(f"/proc/{pid}/mem").open("r+b", buffering=0) as memory:
        memory.seek(pointer - depth)
        assert memory.write(what) == len(what)


def writable_regions(pid: int) -> Iterator[tuple[int, int, str]]:
    """(start, end, name) of everything in the process that it could have written to."""
    pointers = stack_pointers(pid)
    for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
        fields = line.split(maxsplit=5)
        start, end = (int(part, 16) for part in fields[0].split("-"))
        if "w" in fields[1]:
            stack = next((f"stack of {name}" for at, name in pointers.items() if start <= at < end), "anonymous")
            yield start, end, fields[5] if len(fields) > 5 else stack


def pieces_of(secrets: Mapping[str, bytes]) -> dict[bytes, str]:
    """Every whole piece of each secret, with its name."""
    pieces = {}
    for name, secret in secrets.items():
        assert len(secret) >= PIECE, f"{name} is too short to search for"
        for offset in range(0, len(secret) - PIECE + 1, PIECE):
            piece = secret[offset : offset + PIECE]
            assert len(set(piece)) > 4, f"{name} would be found anywhere"
            # As bytes, and as 64-bit words that were read in the other byte order (Ascon keeps its key so).
            swapped = b"".join(piece[i : i + 8][::-1] for i in range(0, PIECE, 8))
            pieces[piece] = pieces[swapped] = f"{name}[{offset}:{offset + PIECE}]"
    return pieces


def find_secrets(pid: int, secrets: Mapping[str, bytes]) -> list[str]:
    """Where pieces of the secrets are in the writable memory of the process, as "name in region at address".

    The process runs on meanwhile. Raises PermissionError where the system does not let us look.
    """
    pieces = pieces_of(secrets)
    nothing = bytes(CHUNK + PIECE)
    found = []
    with Path(f"/proc/{pid}/mem").open("rb", buffering=0) as memory:
        for start, end, region in writable_regions(pid):
            for at in range(start, end, CHUNK):
                size = min(CHUNK, end - at) + PIECE - 1  # a secret may lie across two chunks
                try:
                    memory.seek(at)
                    content = memory.read(min(size, end - at))
                except OSError:
                    continue  # gone meanwhile, or a device
                if content == nothing[: len(content)]:
                    continue  # most of it was never written to
                for piece, name in pieces.items():
                    place = content.find(piece)
                    while place >= 0:
                        found.append(f"{name} in {region} at {at + place:#x}")
                        place = content.find(piece, place + 1)
    return found
