# SPDX-License-Identifier: Apache-2.0
"""What the keys of a vector file mean, for the comment at its top. Those of a handshake are in vectors/README.md."""

from __future__ import annotations

import textwrap

from vectorfile import VectorFile

WIDTH = 118
SHARED = "[keys] has what all cases share: suite to key as in data.txt."
WITH_SHARED = frozenset({"control", "compact", "bundles"})
KEYS = {
    "data": (
        "Keys: suite, session_id, epoch, direction (d2g or g2d), key (32 bytes of that direction; Ascon uses the "
        "first 16), sequence, payload, datagram (header, ciphertext, tag)."
    ),
    "control": (
        "Keys: sequence, content, datagram, and outcome: control, or drop_decrypt_fail if the content is unusable as "
        "a whole. Sections tlv-<name> hold one TLV each, its fields as tlv_<field>."
    ),
    "compact": (
        "The gcs receives under index, and the highest sequence it has verified is expected - 1 (0: none). sequence "
        "and content give datagram, the compact form, and long; outcome is what the compact one must meet. Two have a "
        "sequence that cannot be found (lost-...)."
    ),
    "bundles": (
        "Keys: sequence, index, content, datagram (compact), long; outcome is delivered, with the lengths of its "
        "datagrams (with commas), or drop_decrypt_fail."
    ),
    "mavlink": (
        "Keys: datagram, the count of its messages (0 if it is not of whole messages), in have each one's "
        "version/sequence/system/component/id/size, in index its class of shaping."
    ),
    "line": (
        "Keys: line and datagram, the raw frame, and, numbers going on, the MAVLink messages. Or a stream, what it "
        "is, what a receiver must have of it (line/datagram) and the count of errors."
    ),
    "receive": (
        "[receiver] is one receiver (keys as in data.txt, window_bits, features, index) that has seen nothing. It is "
        "given the datagrams of [step-00], [step-01], ... in order: outcome names the counter each must raise, "
        "plaintext what was delivered, what says it in words."
    ),
    "suites": (
        "Named by the suite's id: short_code, level, core (1 for the 72), header_ids (bytes 1-4 of every long header)."
    ),
    "datagrams": (
        "A handshake of the default suite. [inputs]: psk, attempt, k_f (64 bytes), m1_sha256 ... m4_sha256. Then "
        "limit-<1200|548>-m<message>-<index> in the order of first sending: message, total, size, index, packet, "
        "datagram. Between header and tag is the FRAGMENT, and after each of M2 an ACK of M1: echo 0, delay_ms 7, "
        "base 1. M2 must come out whole without its fragment 2, too."
    ),
    "acks": (
        "States of a message: count fragments, of which those in have (0-3,5) are here; echo, delay_ms; then base, "
        "bitmap and the whole frame, whose message is 2."
    ),
    "retry": (
        "Keys: psk, attempt, cookie_key (K_c), host and port of the drone, t, m1; the datagram before (packet 0), the "
        "cookie, the datagram retry, and after (packet 3): M1 with the cookie."
    ),
    "rejects": ("[inputs]: psk, m0, m1; per code code, retry_ms, mac, frame."),
    "ratchets": (
        "Cases: flags-3 (hybrid), flags-2 (pure), flags-0. Of the session before: suite, hybrid, features, "
        "prev_session, epoch, ck_prev; session_id is the new one's, whose epoch is one more, modulo 256. psk, "
        "kem_secret_key (of the drone), x25519_drone_scalar, x25519_gcs_scalar (each empty without its flag); the "
        "frames r1, r2; th, ss_kem, ss_x25519, prk, k_d2g, k_g2d, k_cs, ck, confirm_s; reject, the frame that refuses "
        "this R1. With compact headers the indices are 200 and 0x1234."
    ),
    "proofs": (
        "[inputs]: psk_drone, gcs_id, psk, restart_key, drone_id. return-<n>: host of the drone, serial, address_tag, "
        "return_key, got_check (of the GOT that answers that RETURN), and m1, a whole frame with the proof. "
        "restart-<n>: session_id, token, the datagram that a restarted gcs sends, got_check."
    ),
}


def begin(kind: str, title: str, name: str = "") -> VectorFile:
    """A file with this comment and its first section, which has the kind's name unless another one is given."""
    shared = f"{SHARED} " if kind in WITH_SHARED else ""
    head = f"{title} of the PQC-MAV wire protocol, version 3; see README.md. Fixed keys, for tests only."
    file = VectorFile(f"{head}\n{textwrap.fill(shared + KEYS[kind], WIDTH)}")
    file.section("vector").put(kind=kind, name=name or kind)
    return file
