"""tinygrad's tests of units."""
