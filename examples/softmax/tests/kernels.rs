//! Compares the kernels, on the device that `cargo gpu-amdgpu test` selects, with f64 on the host.

use ferrowave_host::hip::{Context, Device};
use softmax::{Matrix, softmax, transpose};

/// Shapes around the sizes that a workgroup handles at once: 256 columns of a row, tiles of 32 × 32.
const SHAPES: [(u32, u32); 6] = [(1, 1), (3, 5), (2, 256), (33, 31), (4, 1000), (64, 65)];

/// A bound on relative rounding errors: of the powers, which the GPU computes to about two units in the last place after a
/// rounded product (exponents here are below 32, so the error is 32 · 2⁻²⁴ of a power), and of the sum.
const TOLERANCE: f64 = 1e-5;

fn context() -> Context {
    let device = Device::from_environment().expect("a device");
    Context::new(&device).expect("a context")
}

/// Numbers without a pattern, from -16 to 16.
fn matrix((rows, columns): (u32, u32)) -> Matrix {
    let elements = (0..rows * columns)
        .map(|i| (i.wrapping_mul(2_654_435_761) >> 8) as f32 / 524_288.0 - 16.0)
        .collect();
    Matrix {
        rows,
        columns,
        elements,
    }
}

#[test]
fn rows_of_softmax_are_those_of_the_host() {
    let context = context();
    for shape in SHAPES {
        let input = matrix(shape);
        let output = softmax(&context, &input).expect("a launch");
        let columns = input.columns as usize;
        let rows = input.elements.chunks(columns);
        for (row, computed) in rows.zip(output.elements.chunks(columns)) {
            let powers: Vec<f64> = row.iter().map(|&x| f64::from(x).exp()).collect();
            let sum: f64 = powers.iter().sum();
            for (power, &computed) in powers.iter().zip(computed) {
                let expected = power / sum;
                let error = (f64::from(computed) - expected).abs() / expected;
                assert!(error < TOLERANCE, "{shape:?}: {computed} for {expected}");
            }
        }
    }
}

#[test]
fn large_numbers_do_not_overflow() {
    let input = Matrix {
        rows: 1,
        columns: 2,
        elements: vec![1e30, 1e30],
    };
    let output = softmax(&context(), &input).expect("a launch");
    assert_eq!(output.elements, [0.5, 0.5]);
}

#[test]
fn transposes_exchange_rows_and_columns() {
    let context = context();
    for shape in SHAPES {
        let input = matrix(shape);
        let output = transpose(&context, &input).expect("a launch");
        let (rows, columns) = (input.rows as usize, input.columns as usize);
        for row in 0..rows {
            for column in 0..columns {
                assert_eq!(
                    output.elements[column * rows + row],
                    input.elements[row * columns + column],
                    "{shape:?} at {row}, {column}"
                );
            }
        }
    }
}
