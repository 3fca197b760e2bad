# SPDX-License-Identifier: Apache-2.0
"""Ascon-AEAD128 as NIST SP 800-232 (August 2025) writes it: plain and slow, for a specification.

The state is one integer of 320 bits. Bytes and words are little-endian: byte 0 of a string is bits 0 to 7.
"""

from __future__ import annotations

import hmac

TAG_BYTES = 16
_RATE = 16
_WORD = (1 << 64) - 1
_IV = 0x00001000808C0001
# Section 3.2, table 5: constants of 12 rounds; fewer rounds take the last ones.
_CONSTANTS = (0xF0, 0xE1, 0xD2, 0xC3, 0xB4, 0xA5, 0x96, 0x87, 0x78, 0x69, 0x5A, 0x4B)
# Section 3.4: each word is combined with two rotations of itself to the right.
_ROTATIONS = ((19, 28), (61, 39), (1, 6), (10, 17), (7, 41))


def _substitute(a: int, b: int, c: int, d: int, e: int) -> list[int]:
    """Section 3.3: the S-box in its algebraic normal form, on all columns at once."""
    return [
        e & b ^ d ^ c & b ^ c ^ b & a ^ b ^ a,
        e ^ d & c ^ d & b ^ d ^ c & b ^ c ^ b ^ a,
        e & d ^ e ^ c ^ b ^ _WORD,
        e & a ^ e ^ d & a ^ d ^ c ^ b ^ a,
        e & b ^ e ^ d ^ b & a ^ b,
    ]


def _permute(state: int, rounds: int) -> int:
    words = [state >> 64 * place & _WORD for place in range(5)]
    for constant in _CONSTANTS[-rounds:]:
        words[2] ^= constant
        words = [
            word ^ (word >> first | word << 64 - first) & _WORD ^ (word >> second | word << 64 - second) & _WORD
            for word, (first, second) in zip(_substitute(*words), _ROTATIONS, strict=True)
        ]
    return sum(word << 64 * place for place, word in enumerate(words))


def _number(data: bytes) -> int:
    return int.from_bytes(data, "little")


def _blocks(data: bytes) -> list[bytes]:
    """Of the rate's length, and a last one that is shorter, perhaps empty."""
    return [data[at : at + _RATE] for at in range(0, len(data) + 1, _RATE)]


def _padded(block: bytes) -> int:
    return _number(block) | 1 << 8 * len(block)


def _begun(key: bytes, nonce: bytes, aad: bytes) -> int:
    state = _permute(_IV | _number(key) << 64 | _number(nonce) << 192, 12) ^ _number(key) << 192
    if aad:
        *whole, last = _blocks(aad)
        for block in whole:
            state = _permute(state ^ _number(block), 8)
        state = _permute(state ^ _padded(last), 8)
    return state ^ 1 << 319


def _tag(state: int, key: bytes) -> bytes:
    state = _permute(state ^ _number(key) << 128, 12) >> 192
    return (state ^ _number(key)).to_bytes(TAG_BYTES, "little")


def _crypt(key: bytes, nonce: bytes, aad: bytes, text: bytes, decrypts: bool) -> tuple[bytes, bytes]:
    state, out = _begun(key, nonce, aad), b""
    blocks = _blocks(text)
    for place, block in enumerate(blocks):
        last = place == len(blocks) - 1
        mask = (1 << 8 * len(block)) - 1
        out += ((state & mask) ^ _number(block)).to_bytes(len(block), "little")
        # The first bits of the state become the ciphertext.
        state ^= (state & mask) ^ _number(block) if decrypts else _number(block)
        state = state ^ 1 << 8 * len(block) if last else _permute(state, 8)
    return out, _tag(state, key)


def encrypt(key: bytes, nonce: bytes, aad: bytes, plaintext: bytes) -> bytes:
    """`ciphertext || tag`, by algorithm 3."""
    return b"".join(_crypt(key, nonce, aad, plaintext, decrypts=False))


def decrypt(key: bytes, nonce: bytes, aad: bytes, sealed: bytes) -> bytes | None:
    """The plaintext, by algorithm 4; None when the tag does not verify."""
    plaintext, tag = _crypt(key, nonce, aad, sealed[:-TAG_BYTES], decrypts=True)
    return plaintext if hmac.compare_digest(tag, sealed[-TAG_BYTES:]) else None
