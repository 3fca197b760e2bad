# SPDX-License-Identifier: Apache-2.0
"""The PQC-MAV wire protocol, version 2, as an executable specification.

Written from `docs/protocol.md` alone, independently of the C++ engine, so that the two check each other. Test support:
Python cannot wipe secrets from memory and this code makes no attempt at speed.
"""
