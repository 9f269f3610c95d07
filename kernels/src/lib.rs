//! The matrix multiplication kernels, one idea a file.
