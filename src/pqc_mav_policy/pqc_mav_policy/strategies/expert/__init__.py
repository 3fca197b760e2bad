"""The expert: looks suites up in measured performance."""
