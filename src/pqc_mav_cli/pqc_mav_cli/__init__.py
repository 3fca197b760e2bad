"""The `pqcmav` command."""
