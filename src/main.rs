//! The command line `ferrowave`.
fn main() {}
