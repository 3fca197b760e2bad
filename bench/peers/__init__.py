# SPDX-License-Identifier: Apache-2.0
"""The tunnel beside other ways to carry datagrams, measured alternating on one machine; see bench/README.md."""
