"""`pqcmav bench`: campaigns and isolated primitives, asked for and shown."""
