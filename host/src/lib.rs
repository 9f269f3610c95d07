//! HIP from Rust (result and safe layers), matrix products, verification.
