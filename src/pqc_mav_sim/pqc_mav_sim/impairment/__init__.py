# SPDX-License-Identifier: Apache-2.0
"""A bad radio link for tests: delay, jitter, loss, bursts, duplicates, reordering, rate, cuts and a forgetful NAT."""
