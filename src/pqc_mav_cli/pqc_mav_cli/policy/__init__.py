# SPDX-License-Identifier: Apache-2.0
"""`pqcmav policy`: the drone's policy, watched, set, compared and trained."""
