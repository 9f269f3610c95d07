//! What device and host must agree on: the kernel catalogue, argument structs, tile shapes.
