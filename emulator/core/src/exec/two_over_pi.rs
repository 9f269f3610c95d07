//! The bits of 2/π that reduce the argument of a sine: `v_trig_preop_f64`.

/// The first 1216 bits of the fraction of 2/π; the instruction uses 1201.
const BITS: [u64; 19] = [
    0xa2f9_836e_4e44_1529,
    0xfc27_57d1_f534_ddc0,
    0xdb62_9599_3c43_9041,
    0xfe51_63ab_debb_c561,
    0xb724_6e3a_424d_d2e0,
    0x0649_2eea_09d1_921c,
    0xfe1d_eb1c_b129_a73e,
    0xe882_35f5_2ebb_4484,
    0xe99c_7026_b45f_7e41,
    0x3991_d639_8353_39f4,
    0x9c84_5f8b_bdf9_283b,
    0x1ff8_97ff_de05_980f,
    0xef2f_118b_5a0a_6d1f,
    0x6d36_7ecf_27cb_09b7,
    0x4f46_3f66_9e5f_ea2d,
    0x7527_bac7_ebe5_f17b,
    0x3d07_39f7_8a52_92ea,
    0x6bfb_5fb1_1f8d_5d08,
    0x5603_3046_fc7b_0000,
];

/// Bits of a segment: f64's fraction and its leading one.
const SEGMENT: u32 = 53;

/// Bit `index` of the fraction, the highest first; zeros after the last.
fn bit(index: u32) -> u64 {
    BITS.get((index / 64) as usize)
        .map_or(0, |word| word >> (63 - index % 64) & 1)
}

/// The 53 bits of 2/π for segment `number` (its five low bits) of the argument with bits `x`. Earlier bits give whole
/// turns for an argument of this size and are skipped.
pub(super) fn segment(x: u64, number: u32) -> f64 {
    let exponent = (x >> 52 & 0x7ff) as u32;
    let skipped = (number & 31) * SEGMENT + exponent.saturating_sub(1077);
    let bits = (skipped..skipped + SEGMENT).fold(0, |bits, index| bits << 1 | bit(index));
    // Programs scale large arguments down; this compensates for it.
    let up = if exponent >= 1968 { 128 } else { 0 };
    libm::scalbn(bits as f64, up - (SEGMENT + skipped) as i32)
}
