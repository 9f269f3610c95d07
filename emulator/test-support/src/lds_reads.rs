//! Published cycles of `ds_read_b128` on MI355X, and kernels that read LDS as the published ones do: AMD's Gluon
//! tutorials (ROCm/gfx950-gluon-tutorials), `experiments/lds_throughput_validation`.

/// Rows of 1024 bytes in LDS, with padding. A lane reads 32 bytes of one of sixteen rows, in two instructions.
#[derive(Clone, Copy, Debug)]
pub struct LdsReads {
    /// The padding as the tutorials write it: bytes after each so many.
    pub padding: &'static str,
    /// Bytes after each row.
    each: u32,
    /// Bytes after each second row, in addition.
    each_second: u32,
    /// Cycles of an instruction of each wave: with one wave on the compute unit, and with four.
    pub cycles: [f64; 2],
}

const fn reads(padding: &'static str, each: u32, cycles: [f64; 2]) -> LdsReads {
    LdsReads {
        padding,
        each,
        each_second: 0,
        cycles,
    }
}

/// All published rows.
pub const LDS_READS: [LdsReads; 7] = [
    reads("1024:+16", 16, [8.0, 32.0]),
    reads("1024:+32", 32, [8.0, 32.0]),
    reads("1024:+64", 64, [8.0, 32.0]),
    reads("1024:+128", 128, [16.0, 64.0]),
    reads("1024:+256", 256, [32.0, 128.0]),
    reads("1024:+4", 4, [64.0, 256.0]),
    LdsReads {
        each_second: 32,
        ..reads("1024:+16,2048:+32", 16, [8.0, 16.0])
    },
];

/// Bytes of LDS that the kernels use.
pub const LDS_BYTES: u32 = 32 << 10;

impl LdsReads {
    /// Puts the address of a lane in `v1`: its row is the number of the lane modulo 16, and each quarter of a wave reads
    /// other 32 bytes. Waves are 128 bytes apart.
    pub fn address(&self) -> String {
        format!(
            "  v_and_b32 v1, 15, v0
  v_lshrrev_b32 v2, 1, v1
  v_mul_u32_u24 v1, {}, v1
  v_mul_u32_u24 v2, {}, v2
  v_add_u32 v1, v1, v2
  v_and_b32 v2, 48, v0
  v_lshlrev_b32 v2, 1, v2
  v_add_u32 v1, v1, v2
  v_lshrrev_b32 v2, 6, v0
  v_lshlrev_b32 v2, 7, v2
  v_add_u32 v1, v1, v2
",
            1024 + self.each,
            self.each_second
        )
    }

    /// Sixteen instructions: the two of eight pieces of 32 bytes, 128 bytes apart.
    pub fn instructions() -> String {
        let instruction = |n: u32| {
            let first = 4 * (n + 2);
            let offset = n / 2 * 128 + n % 2 * 16;
            format!(
                "  ds_read_b128 v[{first}:{}], v1 offset:{offset}\n",
                first + 3
            )
        };
        (0..16).map(instruction).collect()
    }
}
