"""tinygrad's unit tests."""
