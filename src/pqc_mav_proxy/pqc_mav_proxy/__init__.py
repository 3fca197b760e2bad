# SPDX-License-Identifier: Apache-2.0
"""The proxy node: hosts the tunnel engine in a ROS 2 lifecycle node."""
