# SPDX-License-Identifier: Apache-2.0
"""Reproducible randomness for test vectors, in Python and in liboqs. Never for keys that protect anything."""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

from pqc_mav_wirespec.encoding import u64
from pqc_mav_wirespec.oqs_library import oqs_module

_CALLBACK = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_uint8), ctypes.c_size_t)


class SeededRandom:
    """Draw number n is `SHAKE256(seed || u64 n)`, of the length asked for."""

    def __init__(self, seed: bytes) -> None:
        self._seed = seed
        self._draws = 0

    def __call__(self, count: int) -> bytes:
        """The next `count` bytes."""
        drawn = hashlib.shake_256(self._seed + u64(self._draws)).digest(count)
        self._draws += 1
        return drawn

    @contextmanager
    def drives_liboqs(self) -> Iterator[None]:
        """Within this block liboqs draws from here too, in the whole process; afterwards from the system again."""

        def fill(target: ctypes._Pointer[ctypes.c_uint8], count: int) -> None:
            ctypes.memmove(target, self(count), count)

        native = oqs_module().native()
        native.OQS_randombytes_custom_algorithm.argtypes = [_CALLBACK]
        native.OQS_randombytes_custom_algorithm.restype = None
        callback = _CALLBACK(fill)  # has to outlive the block
        native.OQS_randombytes_custom_algorithm(callback)
        try:
            yield
        finally:
            native.OQS_randombytes_switch_algorithm(ctypes.c_char_p(b"system"))
