"""test_jit's only test with this network is for tinygrad's CPU device, and skipped on others."""

ResBlock = None
