# SPDX-License-Identifier: Apache-2.0
from pqc_mav_wirespec.mavlink import COMMANDS, REST, STREAMS, TRANSFERS, class_of, walk

ATTITUDE = bytes.fromhex("fd 04 00 00 07 01 02 1e 00 00") + bytes(6)
COMMAND = bytes.fromhex("fe 02 09 ff be 4c") + bytes(4)


def test_walks_through_both_versions():
    headers = walk(ATTITUDE + COMMAND)
    assert headers is not None
    assert [(each.version, each.message_id, each.size) for each in headers] == [(2, 30, 16), (1, 76, 10)]
    assert (headers[1].sequence, headers[1].system, headers[1].component) == (9, 255, 190)


def test_what_is_cut_or_followed_is_unreadable():
    for datagram in (b"", ATTITUDE[:-1], COMMAND + b"\0", ATTITUDE + COMMAND[:5], b"\x55" * 30):
        assert walk(datagram) is None
        assert class_of(datagram) == REST


def test_the_best_class_counts():
    assert class_of(ATTITUDE) == STREAMS
    assert class_of(ATTITUDE + COMMAND) == COMMANDS
    assert class_of(ATTITUDE[:7] + b"\x16" + ATTITUDE[8:]) == TRANSFERS
    assert class_of(ATTITUDE[:7] + b"\x6e" + ATTITUDE[8:]) == REST
