# SPDX-License-Identifier: Apache-2.0
"""One registry for the drones of several ground stations."""
