//! CDNA: gfx908, gfx90a, gfx942 and gfx950. Only these modules know how their instructions are encoded and written.

mod decode;
mod lookup;
mod operand;
mod tables;
mod text;
mod wait;

pub(super) use decode::decode;
pub(super) use text::write;
pub(super) use wait::wait_counts;

#[cfg(test)]
mod tests {
    use ferrowave_gpu::Gpu::{Gfx90a, Gfx908, Gfx942, Gfx950};

    use super::tables::ROWS;
    use crate::Op;

    #[test]
    fn passes_are_a_quarter_of_the_cycles() {
        for (op, gpu, cycles) in [
            (Op::v_mfma_f32_32x32x2_f32, Gfx908, 64),
            (Op::v_mfma_f32_16x16x4_f32, Gfx90a, 32),
            (Op::v_mfma_f32_32x32x2_f32, Gfx942, 64),
            (Op::v_mfma_f32_16x16x4_f32, Gfx942, 32),
            (Op::v_mfma_f32_32x32x8_f16, Gfx90a, 64),
            (Op::v_mfma_f32_32x32x8_f16, Gfx942, 32),
            (Op::v_mfma_f32_16x16x16_f16, Gfx942, 16),
            (Op::v_mfma_f32_32x32x4_2b_f16, Gfx942, 64),
            (Op::v_mfma_f32_16x16x4_4b_f16, Gfx942, 32),
            (Op::v_mfma_f32_32x32x4_xf32, Gfx942, 32),
            (Op::v_mfma_f32_16x16x8_xf32, Gfx942, 16),
            (Op::v_mfma_i32_32x32x8i8, Gfx90a, 64),
            (Op::v_mfma_i32_32x32x16_i8, Gfx942, 32),
            (Op::v_mfma_i32_16x16x32_i8, Gfx942, 16),
            (Op::v_mfma_f32_32x32x16_f16, Gfx950, 32),
            (Op::v_mfma_f32_16x16x32_f16, Gfx950, 16),
            (Op::v_mfma_f64_16x16x4_f64, Gfx90a, 32),
            (Op::v_mfma_f64_16x16x4_f64, Gfx950, 64),
            (Op::v_mfma_f64_4x4x4_4b_f64, Gfx90a, 16),
            (Op::v_mfma_f32_4x4x4_16b_f16, Gfx942, 8),
            (Op::v_smfmac_f32_32x32x16_f16, Gfx942, 32),
        ] {
            let row = ROWS.iter().find(|row| row.op == op).expect("a row");
            let passes = row.passes[gpu.number_in_family()];
            assert_eq!(4 * i32::from(passes), cycles, "{op:?} on {gpu}");
        }
    }
}
