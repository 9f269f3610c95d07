//! Grids and blocks on a command line.

use std::str::FromStr;

/// Extents along x, y and z; missing ones are 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape(pub [u32; 3]);

impl FromStr for Shape {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut shape = [1; 3];
        let parts: Vec<_> = text.split(',').collect();
        if parts.len() > 3 {
            return Err("there are three axes at most: x,y,z".into());
        }
        for (axis, part) in shape.iter_mut().zip(parts) {
            *axis = part
                .trim()
                .parse()
                .map_err(|_| format!("`{part}` is no number of workgroups or work-items"))?;
        }
        Ok(Shape(shape))
    }
}
