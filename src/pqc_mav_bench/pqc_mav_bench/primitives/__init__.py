"""Every cryptographic operation in isolation: times with confidence intervals, cycles and energy where measurable."""
