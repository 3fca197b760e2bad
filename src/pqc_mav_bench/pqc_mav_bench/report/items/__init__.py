"""The report's sections: one module per group of the feature list's items 166 to 193."""
