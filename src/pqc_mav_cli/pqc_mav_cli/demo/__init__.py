"""`pqcmav demo`: the demo and its scenarios, watched and judged."""
