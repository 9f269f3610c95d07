"""AMD GPU kernels on NumPy arrays, on a GPU or on Ferrowave's emulator.

>>> import ferrowave
>>> device = ferrowave.Device("gfx942")
>>> kernel = device.load("kernels.elf").kernel("axpy")
>>> kernel.launch(grid=4, block=256, args=[1000, 2.0, x, y])
"""

from ._native import (
    ArgumentError,
    Device,
    Error,
    Findings,
    Kernel,
    KernelFault,
    Module,
    Profile,
    Timing,
    __version__,
    kernels,
)

__all__ = [
    "ArgumentError",
    "Device",
    "Error",
    "Findings",
    "Kernel",
    "KernelFault",
    "Module",
    "Profile",
    "Timing",
    "__version__",
    "kernels",
]
