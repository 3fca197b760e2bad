# SPDX-License-Identifier: Apache-2.0
"""`pqcmav demo`: the demo and its scenarios, watched and judged."""
