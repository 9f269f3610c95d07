"""A package, for Python has one of its own by this name."""
