"""The learned strategy: a trained table within a safe set."""
