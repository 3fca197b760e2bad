"""The cascade: nine rules in strict order."""
