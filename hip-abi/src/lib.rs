//! HIP's C types, error codes and the one table of functions.
