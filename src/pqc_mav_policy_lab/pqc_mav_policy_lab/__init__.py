# SPDX-License-Identifier: Apache-2.0
"""Missions, their comparison, replay and training: everything of the policy that needs a simulation."""
