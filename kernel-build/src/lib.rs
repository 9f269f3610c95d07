//! Compiles Rust crates of AMD GPU kernels to code objects, and inspects the result.
