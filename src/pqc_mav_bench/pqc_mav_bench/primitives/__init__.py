# SPDX-License-Identifier: Apache-2.0
"""Every cryptographic operation in isolation: times with confidence intervals, cycles and energy where measurable."""
