# SPDX-License-Identifier: Apache-2.0
"""The adaptive policy: which cipher suite the tunnel uses and when its keys are renewed, and why."""
