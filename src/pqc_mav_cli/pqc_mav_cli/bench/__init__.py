# SPDX-License-Identifier: Apache-2.0
"""`pqcmav bench`: campaigns and isolated primitives, asked for and shown."""
