"""`pqcmav policy`: the drone's policy, watched, set, compared and trained."""
