"""`pqcmav doctor`: checks of this machine, each with its remedy."""
