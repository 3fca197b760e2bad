# SPDX-License-Identifier: Apache-2.0
"""Lets the kernel drop the messages nobody here reads, before they cost a system call.

Some five of six messages of a stream do not matter to sensing. The filter is classic BPF, which a socket takes without
privileges (Documentation/networking/filter.rst of the Linux kernel). It judges datagrams that hold exactly one frame;
all others pass, and so does everything where there are no such filters. The reader looks at every frame itself.
"""

import ctypes
import socket
import struct
from collections.abc import Collection

_SO_ATTACH_FILTER = 26  # asm-generic/socket.h
_UDP_HEADER = 8  # a filter of a UDP socket sees it, too
_V1, _V2 = 0xFE, 0xFD
# linux/bpf_common.h and linux/filter.h: class | size | mode of the instructions used.
_LOAD_BYTE, _LOAD_HALF, _LOAD_WORD, _LOAD_LENGTH = 0x30, 0x28, 0x20, 0x80
_AND, _MULTIPLY, _ADD, _ADD_X, _TO_X = 0x54, 0x24, 0x04, 0x0C, 0x07
_EQUAL, _EQUAL_X, _RETURN = 0x15, 0x1D, 0x06
_WHOLE, _NOTHING = 0xFFFF, 0  # bytes of the datagram that are kept

Instruction = tuple[int, int, int, int]  # code, how far to jump when it holds, when not, operand


def program(messages: Collection[int], component: int) -> list[Instruction]:
    """Passes single frames with these message ids from this component; both versions of MAVLink.

    Layout of the frames: https://mavlink.io/en/guide/serialization.html. Numbers are loaded big-endian.
    """
    at = _UDP_HEADER
    second = [(component << 24 | int.from_bytes(number.to_bytes(3, "little"), "big")) for number in sorted(messages)]
    first = [(component << 8 | number) for number in sorted(messages) if number < 256]
    version_2: list[Instruction] = [
        (_LOAD_BYTE, 0, 0, at + 2),  # a signature of 13 bytes follows where the first flag is set
        (_AND, 0, 0, 1),
        (_MULTIPLY, 0, 0, 13),
        (_TO_X, 0, 0, 0),
        (_LOAD_BYTE, 0, 0, at + 1),
        (_ADD_X, 0, 0, 0),
        (_ADD, 0, 0, at + 12),
        (_TO_X, 0, 0, 0),
        (_LOAD_LENGTH, 0, 0, 0),
        *_choice(_LOAD_WORD, at + 6, second),
    ]
    version_1: list[Instruction] = [
        (_LOAD_BYTE, 0, 0, at + 1),
        (_ADD, 0, 0, at + 8),
        (_TO_X, 0, 0, 0),
        (_LOAD_LENGTH, 0, 0, 0),
        *_choice(_LOAD_HALF, at + 4, first),
    ]
    return [
        (_LOAD_BYTE, 0, 0, at),
        (_EQUAL, 2, 0, _V2),
        (_EQUAL, 1 + len(version_2), 0, _V1),
        (_RETURN, 0, 0, _WHOLE),
        *version_2,
        *version_1,
    ]


def _choice(load: int, where: int, wanted: list[int]) -> list[Instruction]:
    """Pass unless the length is X and what is loaded is none of those wanted."""
    count = len(wanted)
    return [
        (_EQUAL_X, 0, count + 2, 0),
        (load, 0, 0, where),
        *((_EQUAL, count - index, 0, number) for index, number in enumerate(wanted)),
        (_RETURN, 0, 0, _NOTHING),
        (_RETURN, 0, 0, _WHOLE),
    ]


def attach(target: socket.socket, messages: Collection[int], component: int) -> bool:
    """Whether the kernel took the filter; without it the socket receives everything."""
    instructions = program(messages, component)
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *each) for each in instructions))
    try:
        target.setsockopt(
            socket.SOL_SOCKET, _SO_ATTACH_FILTER, struct.pack("HP", len(instructions), ctypes.addressof(code))
        )
    except OSError:
        return False
    return True
