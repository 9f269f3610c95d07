//! Kernels for gfx1151 with published code and times: products of 8-bit and 4-bit integers on Radeon 8060S, by
//! github.com/SamGinzburg/strix-halo-int4-gemms (`benchmarks/gfx1151_native_peak_4096.json`, medians). A fork of Triton
//! compiled them; the assembly is taken from a checkout. They are all of those that multiply row-major matrices and neither
//! split k nor apply a function.

use std::{env, path::Path, sync::Arc};

use ferrowave_emulator::dispatch::{self, LaunchConfig};
use ferrowave_emulator::exec::SimdLevel;
use ferrowave_emulator::memory::DeviceMemory;
use ferrowave_emulator::program::{Kernel, Program};
use ferrowave_gpu::Product;
use ferrowave_timing::{self as timing, Parameters, Timing};

use crate::{
    Choice, LAUNCH, allocate,
    published::clang,
    rows,
    statistics::{Group, Pair},
};

/// Names the checkout.
const CHECKOUT: &str = "FERROWAVE_STRIX_HALO_GEMMS";

const MACHINE: Product = Product::Radeon8060s;

/// m = n = k of the published times.
const SIZE: usize = 4096;

/// m = n = k of the products that are computed.
const CHECKED: usize = 512;

struct Published {
    /// Its file, without the first and last parts that all have.
    name: &'static str,
    lds_bytes: u32,
    milliseconds: f64,
}

/// Names, bytes of LDS, and milliseconds.
#[rustfmt::skip]
const PUBLISHED: [(&str, u32, f64); 24] = [
    ("int4xint4_nn_pc_none_bm64_bn512_bk32_gm4_w16_s2", 9216, 1.809),
    ("int4xint4_nn_pc_none_bm32_bn512_bk32_gm4_w16_s2", 8704, 1.999),
    ("int4xint4_nn_pc_none_bm64_bn128_bk32_gm4_w16_s2", 3072, 2.359),
    ("int4xint4_nn_pc_none_bm16_bn512_bk32_gm4_w16_s2", 8448, 3.105),
    ("int4xint4_nn_pc_none_bm32_bn128_bk32_gm4_w16_s2", 2560, 3.731),
    ("int4xint4_nn_pc_none_bm16_bn128_bk32_gm4_w16_s2", 2304, 48.329),
    ("int4xint4_nn_sc256_none_bm64_bn128_bk128_gm1_w16_s2", 12288, 2.155),
    ("int4xint4_nn_sc256_none_bm64_bn128_bk128_gm4_w16_s2", 12288, 2.226),
    ("int4xint4_nn_sc256_none_bm32_bn128_bk128_gm1_w16_s2", 10240, 3.393),
    ("int4xint4_nn_sc256_none_bm32_bn128_bk128_gm4_w16_s2", 10240, 3.431),
    ("int4xint4_nn_sc256_none_bm16_bn128_bk128_gm4_w16_s2", 9216, 99.989),
    ("int4xint4_nn_sc256_none_bm16_bn128_bk128_gm1_w16_s2", 9216, 101.686),
    ("int8xint8_nn_pc_none_bm64_bn256_bk64_gm4_w8_s3", 40960, 5.344),
    ("int8xint8_nn_pc_none_bm64_bn128_bk64_gm4_w8_s3", 24576, 6.304),
    ("int8xint8_nn_pc_none_bm32_bn256_bk64_gm4_w8_s3", 36864, 6.327),
    ("int8xint8_nn_pc_none_bm32_bn128_bk64_gm4_w8_s3", 20480, 7.181),
    ("int8xint8_nn_pc_none_bm16_bn256_bk64_gm4_w8_s3", 34816, 8.786),
    ("int8xint8_nn_pc_none_bm16_bn128_bk64_gm4_w8_s3", 18432, 9.531),
    ("int8xint8_nn_sc256_none_bm64_bn256_bk64_gm4_w8_s3", 41984, 5.612),
    ("int8xint8_nn_sc256_none_bm32_bn256_bk64_gm4_w8_s3", 37888, 6.513),
    ("int8xint8_nn_sc256_none_bm32_bn128_bk64_gm4_w8_s3", 20480, 7.659),
    ("int8xint8_nn_sc256_none_bm64_bn128_bk64_gm4_w8_s3", 24576, 8.559),
    ("int8xint8_nn_sc256_none_bm16_bn256_bk64_gm4_w8_s3", 35840, 9.241),
    ("int8xint8_nn_sc256_none_bm16_bn128_bk64_gm4_w8_s3", 18432, 10.684),
];

/// The addresses of A, B, their scales and C.
type Matrices = [u64; 5];

/// -7 to 7, most of them 0.
fn operand(seed: usize) -> Vec<i8> {
    let number = |i: usize| (i + seed).wrapping_mul(0x9e37_79b9) >> 8;
    (0..CHECKED * CHECKED)
        .map(|i| match number(i) % 8 {
            0 => (number(i) / 8 % 15) as i8 - 7,
            _ => 0,
        })
        .collect()
}

impl Published {
    fn file(&self) -> String {
        format!("gfx1151_{}_weu2_sk1_evenk", self.name)
    }

    /// The number behind `prefix` in the name.
    fn number(&self, prefix: &str) -> u32 {
        let mut parts = self.name.split('_');
        let number = parts.find_map(|part| part.strip_prefix(prefix)?.parse().ok());
        number.expect("a part of every name")
    }

    fn bits(&self) -> usize {
        match self.name.starts_with("int4") {
            true => 4,
            false => 8,
        }
    }

    /// The code object, or why there is none.
    fn compile(&self, checkout: &Path) -> Result<Vec<u8>, String> {
        let source = checkout
            .join("kernels/amdgcn")
            .join(self.file())
            .with_extension("s");
        let gpu = MACHINE.gpu();
        let options = format!(
            "-x assembler -target amdgcn-amd-amdhsa -mcpu={gpu} -Xclangas -target-feature -Xclangas +real-true16"
        );
        clang(&source, &options)
    }

    /// The arguments' bytes: the matrices, a matrix that no kernel here has, m, n, k, and Triton's scratch memory.
    fn kernarg(matrices: Matrices, size: usize) -> Vec<u8> {
        let mut bytes = bytemuck::cast_slice(&matrices).to_vec();
        bytes.extend_from_slice(&[0; 8]);
        bytes.extend_from_slice(bytemuck::cast_slice(&[size as u32; 3]));
        bytes.extend_from_slice(&[0; 20]);
        bytes
    }

    fn config<'a>(&self, size: usize, kernarg: &'a [u8]) -> LaunchConfig<'a> {
        let tiles = ["bm", "bn"].map(|prefix| size as u32 / self.number(prefix));
        LaunchConfig {
            grid: [tiles[0] * tiles[1], 1, 1],
            block: [32 * self.number("w"), 1, 1],
            dynamic_lds_bytes: self.lds_bytes,
            kernarg,
            ..LAUNCH
        }
    }

    /// Whether the kernel multiplies two matrices of small numbers exactly, with scales of 1.
    fn is_right(&self, kernel: &Kernel, memory: &Arc<DeviceMemory>) -> bool {
        let [a, b] = [1, 2].map(operand);
        // Two 4-bit numbers that are neighbours along k are a byte.
        let nibbles = |low: i8, high: i8| (low & 15 | high << 4) as u8;
        let [a_bytes, b_bytes]: [Vec<u8>; 2] = match self.bits() {
            4 => [
                a.chunks(2).map(|pair| nibbles(pair[0], pair[1])).collect(),
                b.chunks(2 * CHECKED)
                    .flat_map(|rows| (0..CHECKED).map(|j| nibbles(rows[j], rows[CHECKED + j])))
                    .collect(),
            ],
            _ => [&a, &b].map(|matrix| bytemuck::cast_slice(matrix).to_vec()),
        };
        let ones = [1_f32.to_bits() >> 16; CHECKED * 2].map(|bits| bits as u16);
        let inputs = [
            &a_bytes[..],
            &b_bytes,
            bytemuck::cast_slice(&ones),
            bytemuck::cast_slice(&ones),
        ];
        let put = |bytes: &[u8]| {
            let address = allocate(memory, bytes.len());
            memory
                .write(address, bytes)
                .expect("the allocation is as long");
            address
        };
        let [a_at, b_at, of_rows, of_columns] = inputs.map(put);
        let mut c = vec![0_u16; CHECKED * CHECKED];
        let matrices = [
            a_at,
            b_at,
            of_rows,
            of_columns,
            allocate(memory, 2 * c.len()),
        ];
        let kernarg = Self::kernarg(matrices, CHECKED);
        dispatch::launch(kernel, &self.config(CHECKED, &kernarg)).expect("a kernel that runs");
        memory
            .read(matrices[4], bytemuck::cast_slice_mut(&mut c))
            .expect("the allocation is as long");
        (0..CHECKED * CHECKED).all(|at| {
            let (i, j) = (at / CHECKED, at % CHECKED);
            let products =
                (0..CHECKED).map(|l| i32::from(a[i * CHECKED + l]) * i32::from(b[l * CHECKED + j]));
            let sum = products.sum::<i32>() as f32;
            // bf16 has eight bits of a number.
            (f32::from_bits(u32::from(c[at]) << 16) - sum).abs() <= sum.abs() / 256.0
        })
    }

    fn estimate(&self, kernel: &Kernel, memory: &DeviceMemory) -> Timing {
        let bytes = SIZE * SIZE * self.bits() / 8;
        // Scales are of 16 bits, for 256 elements or more along k.
        let scales = SIZE * SIZE / 256 * 2;
        let matrices =
            [bytes, bytes, scales, scales, 2 * SIZE * SIZE].map(|bytes| allocate(memory, bytes));
        let kernarg = Self::kernarg(matrices, SIZE);
        let parameters = *Parameters::of(MACHINE).expect("a machine with parameters");
        timing::estimate(kernel, &self.config(SIZE, &kernarg), parameters)
            .expect("a kernel for the machine")
    }
}

pub(crate) fn print(choice: &Choice) {
    let all = PUBLISHED.map(|(name, lds_bytes, milliseconds)| Published {
        name,
        lds_bytes,
        milliseconds,
    });
    let is_chosen = |published: &&Published| choice.has(MACHINE.name(), published.name);
    if choice.is_quick || !all.iter().any(|published| is_chosen(&published)) {
        return;
    }
    let Some(checkout) = env::var_os(CHECKOUT) else {
        return println!(
            "\nproducts on {MACHINE} are not run: {CHECKOUT} names no checkout of github.com/SamGinzburg/strix-halo-int4-gemms"
        );
    };
    println!("\n| {MACHINE}, {SIZE}³ | published [ms] | modelled [ms] | ratio | bound by |");
    println!("|---|---|---|---|---|");
    let mut group = Group::default();
    for published in all.iter().filter(is_chosen) {
        let object = match published.compile(Path::new(&checkout)) {
            Ok(object) => object,
            Err(complaint) => {
                println!("{complaint}");
                continue;
            }
        };
        let memory = Arc::new(DeviceMemory::new(1 << 33));
        let program = Program::load(&object, MACHINE.gpu(), &memory, SimdLevel::detect())
            .expect("clang's code object");
        let symbol = format!("amd_strix_halo_{}", published.file());
        let kernel = program.kernel(&symbol).expect("the file's kernel");
        if !published.is_right(&kernel, &memory) {
            println!("| `{}` | its product is wrong | | | |", published.name);
            continue;
        }
        let timing = published.estimate(&kernel, &memory);
        let pair = Pair {
            published: published.milliseconds,
            modelled: 1e3 * timing.seconds,
        };
        println!(
            "| `{}` | {:.2} | {:.2} | {:.2} | {} |",
            published.name,
            pair.published,
            pair.modelled,
            pair.ratio(),
            timing.bound_by.text()
        );
        rows::add(
            "strix-halo-int4-gemms",
            MACHINE,
            published.name,
            pair.ratio(),
            timing.bound_by.text(),
        );
        group.add(pair);
        choice.say(timing);
    }
    group.print(&format!("integer products, {MACHINE}"));
}
