# SPDX-License-Identifier: Apache-2.0
"""Simulated serial telemetry radios: what their firmware does with bytes, the air between them, pseudo terminals.

Compared with SiK's own code (50189f2), compiled for this machine by test/sik_firmware.py:

* the turns (tdm.c): window, silence, packet latency, time of a byte and longest packet are equal, to the tick of
  16 us, at all 13 rates of the air, with ECC and without;
* the framing (packet.c): 90,000 random steps (messages of both versions, signed, cut, foreign bytes, four sizes of
  room) gave the same packets. A message for which the end of a turn has no room is cut in two after as long as its
  bytes take on the line;
* the AT commands (at.c, parameters.c): 20 random sessions gave the same answers. A fourth plus does not end `+++`.

Not compared: the radio chip, hopping, listening before talking, duty cycles, and how radios find each other's turns.
"""
