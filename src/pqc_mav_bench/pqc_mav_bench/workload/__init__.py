"""The traffic of a run: generators, meters, and the process that runs them."""
