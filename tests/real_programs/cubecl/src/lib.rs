//! Empty: the tests are in `tests`.
