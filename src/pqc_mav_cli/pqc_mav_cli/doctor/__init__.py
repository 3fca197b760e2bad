# SPDX-License-Identifier: Apache-2.0
"""`pqcmav doctor`: checks of this machine, each with its remedy."""
