# SPDX-License-Identifier: Apache-2.0
"""The traffic of a run: generators, meters, and the process that runs them."""
