"""Makes this a package, because Python has one of its own with this name."""
