# SPDX-License-Identifier: Apache-2.0
"""`pqcmav metrics`: what the engines of this machine count, for Prometheus (docs/monitoring.md). No ROS."""
