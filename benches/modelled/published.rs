//! Published kernels, written anew with the same structure and compiled by today's clang.

use std::{env, fs, path::Path, process::Command, sync::Arc};

use ferrowave_emulator::dispatch::{self, LaunchConfig};
use ferrowave_emulator::exec::SimdLevel;
use ferrowave_emulator::memory::DeviceMemory;
use ferrowave_emulator::program::Program;
use ferrowave_gpu::Product;
use ferrowave_timing::{self as timing, Timing};

use crate::{
    Choice, LAUNCH, allocate, cold, rows,
    statistics::{Group, Pair},
};

/// A file of kernels that multiply matrices of one size on one machine.
pub(crate) struct Source {
    name: &'static str,
    text: Text,
    machine: Product,
    /// m, n, k.
    size: [usize; 3],
    /// Bytes of an element of A and B, and of C.
    bytes: [usize; 2],
    kernels: &'static [Published],
    /// The kernel's arguments.
    kernarg: fn(&Launch) -> Vec<u8>,
    /// Names the kernels whose product is wrong.
    check: fn(&Self, &Program, &Arc<DeviceMemory>) -> Vec<&'static str>,
}

enum Text {
    Hip(&'static str),
    /// In the folder `src` of [`SGEMM`].
    Sgemm,
}

/// A kernel, and its published time.
struct Published {
    kernel: &'static str,
    grid: [u32; 2],
    block: [u32; 2],
    milliseconds: f64,
}

struct Launch {
    /// Addresses of A, B and C.
    addresses: [u64; 3],
    size: [usize; 3],
    grid: [u32; 2],
    block: [u32; 2],
}

const fn published(
    kernel: &'static str,
    grid: [u32; 2],
    block: [u32; 2],
    milliseconds: f64,
) -> Published {
    Published {
        kernel,
        grid,
        block,
        milliseconds,
    }
}

pub(crate) const SOURCES: [Source; 6] = [
    Source {
        name: "documents.hip",
        text: Text::Hip(include_str!("documents.hip")),
        machine: Product::Mi100,
        size: [2048, 1024, 2048],
        bytes: [4, 4],
        kernels: &[
            published("naive", [32, 64], [32, 32], 13.70),
            published("uncached", [32, 64], [128, 2], 4.339),
            published("cached_in_each_step", [32, 64], [128, 2], 3.025),
            published("cached_in_each_tile", [32, 64], [128, 2], 3.025),
            published("double_buffered_in_each_step", [32, 64], [128, 2], 1.455),
            published("double_buffered_in_each_tile", [32, 64], [128, 2], 1.455),
            published("fragments", [32, 64], [128, 2], 1.340),
            published("block_order", [16, 32], [64, 1], 29.04),
            published("pass_order", [16, 32], [64, 1], 26.12),
            published("block_order_one_by_one", [16, 32], [64, 1], 29.04),
            published("pass_order_one_by_one", [16, 32], [64, 1], 26.12),
        ],
        kernarg: |launch| bytemuck::cast_slice(&launch.addresses).to_vec(),
        // The size is fixed in the code, and computing it takes too long.
        check: |_, _, _| Vec::new(),
    },
    Source {
        name: "ladder.hip",
        text: Text::Hip(include_str!("ladder.hip")),
        machine: Product::Mi355x,
        size: [LADDER; 3],
        bytes: [1, 2],
        kernels: &[
            published("naive", [256, 256], [16, 16], 119.767),
            published("tiled", [256, 256], [16, 16], 28.612),
            published("mfma", [128, 128], [64, 4], 4.593),
            published("mfma_wide", [128, 128], [64, 4], 0.4032),
            published("direct_to_lds", [128, 128], [64, 4], 0.2742),
            published("mfma_swizzled", [128, 128], [64, 4], 0.2778),
            published("double_buffered", [64, 64], [64, 4], 0.1195),
            published("tile_128_8_waves", [32, 32], [512, 1], 0.0760),
            published("tile_256_8_waves", [16, 16], [512, 1], 0.0686),
            published("tile_256_16_waves", [16, 16], [1024, 1], 0.0660),
            published("ping_pong_4096", [256, 1], [512, 1], 0.0519),
        ],
        kernarg: ladder_kernarg,
        check: check_ladder,
    },
    Source {
        name: "sgemm.hip",
        text: Text::Hip(include_str!("sgemm.hip")),
        machine: Product::Rx7900Xtx,
        size: [LADDER; 3],
        bytes: [4, 4],
        kernels: &[
            published("naive", [256, 256], [16, 16], 136.006),
            published("lds_tiles", [128, 128], [32, 32], 34.2059),
            published("registers", [32, 32], [256, 1], 6.0341),
            published("double_buffered", [32, 32], [256, 1], 5.3772),
            published("padded", [32, 32], [128, 1], 4.0994),
        ],
        kernarg: sgemm_kernarg,
        check: check_sgemm,
    },
    assembly(
        "kernel6_valu_optim.s",
        &[published("kernel", [32, 32], [128, 1], 3.6368)],
    ),
    assembly(
        "kernel7_unroll.s",
        &[published("kernel", [32, 32], [128, 1], 3.3314)],
    ),
    Source {
        // Its addresses are those of this size.
        check: |_, _, _| Vec::new(),
        ..assembly(
            "kernel8_batched_gmem.s",
            &[published("kernel", [32, 32], [128, 1], 2.8032)],
        )
    },
];

/// Names a checkout of github.com/seb-v/fp32_sgemm_amd, whose last three kernels are assembly and are taken from there.
const SGEMM: &str = "FERROWAVE_SGEMM_AMD";

/// A kernel of that checkout.
const fn assembly(name: &'static str, kernels: &'static [Published]) -> Source {
    Source {
        name,
        text: Text::Sgemm,
        machine: Product::Rx7900Xtx,
        size: [LADDER; 3],
        bytes: [4, 4],
        kernels,
        kernarg: sgemm_kernarg,
        check: check_sgemm,
    }
}

const LADDER: usize = 4096;

/// The size of products that are computed. They take elements whose sums are whole numbers that bf16 can hold.
const CHECKED: usize = 512;

/// Bytes behind each matrix that kernels may read: the last kernel of seb-v's ladder loads the step after the last.
const PAST_END: usize = 16 * 4 * LADDER;

/// -1, 0 and 1.
fn operand(seed: usize) -> Vec<i32> {
    (0..CHECKED * CHECKED)
        .map(|i| (i + seed).wrapping_mul(0x9e37_79b9) as i32 >> 16 & 3)
        .map(|value| (value - 1) % 2)
        .collect()
}

/// The product of A, row-major, and B, column-major.
fn product(a: &[i32], b: &[i32]) -> Vec<i32> {
    let sum = |i: usize| -> i32 {
        let rows = [(a, i / CHECKED), (b, i % CHECKED)];
        let [a, b] = rows.map(|(matrix, row)| &matrix[row * CHECKED..][..CHECKED]);
        a.iter().zip(b).map(|(a, b)| a * b).sum()
    };
    (0..CHECKED * CHECKED).map(sum).collect()
}

/// `Product` of `sgemm.hip`: A, B and C row-major, α = 1, β = 0.
fn sgemm_kernarg(launch: &Launch) -> Vec<u8> {
    let [one, zero] = [1_f32, 0.0].map(f32::to_bits);
    let mut bytes = bytemuck::cast_slice(&launch.addresses).to_vec();
    bytes.extend_from_slice(bytemuck::cast_slice(&[launch.size[0] as u32, one, zero, 0]));
    bytes
}

fn check_sgemm(
    source: &Source,
    program: &Program,
    memory: &Arc<DeviceMemory>,
) -> Vec<&'static str> {
    let [a, b] = [1, 2].map(operand);
    let floats =
        |values: &[i32]| -> Vec<f32> { values.iter().map(|&value| value as f32).collect() };
    let b_columns: Vec<i32> = (0..CHECKED * CHECKED)
        .map(|i| b[i % CHECKED * CHECKED + i / CHECKED])
        .collect();
    let expected: Vec<u8> = bytemuck::cast_slice(&floats(&product(&a, &b_columns))).to_vec();
    let addresses = [4; 3].map(|bytes| allocate(memory, CHECKED * CHECKED * bytes + PAST_END));
    for (address, values) in addresses.into_iter().zip([&a, &b]) {
        memory
            .write(address, bytemuck::cast_slice(&floats(values)))
            .expect("the allocation is as long");
    }
    source.wrong(program, memory, addresses, &expected)
}

/// `Matrices` of `ladder.hip`: A row-major, B column-major, C row-major, α = 1, β = 0.
fn ladder_kernarg(launch: &Launch) -> Vec<u8> {
    let [m, n, k] = launch.size.map(|extent| extent as u32);
    let integers = [m, n, k, k, k, n];
    let [one, zero] = [1_f32, 0.0].map(f32::to_bits);
    let mut bytes = bytemuck::cast_slice(&launch.addresses).to_vec();
    bytes.extend_from_slice(bytemuck::cast_slice(&integers));
    bytes.extend_from_slice(bytemuck::cast_slice(&[one, zero, launch.block[0], 0]));
    bytes
}

fn check_ladder(
    source: &Source,
    program: &Program,
    memory: &Arc<DeviceMemory>,
) -> Vec<&'static str> {
    // 1, 0 and -1 in OCP's E4M3.
    let codes = |values: &[i32]| -> Vec<u8> {
        let code = |&value: &i32| [0xb8, 0, 0x38][(value + 1) as usize];
        values.iter().map(code).collect()
    };
    let [a, b] = [1, 2].map(operand);
    let expected: Vec<u16> = product(&a, &b)
        .into_iter()
        .map(|sum| ((sum as f32).to_bits() >> 16) as u16)
        .collect();
    let addresses = [1, 1, 2].map(|bytes| allocate(memory, CHECKED * CHECKED * bytes));
    for (address, values) in addresses.into_iter().zip([&a, &b]) {
        memory
            .write(address, &codes(values))
            .expect("the allocation is as long");
    }
    source.wrong(program, memory, addresses, bytemuck::cast_slice(&expected))
}

/// The code object that `CLANG`, or else `clang-22` or `clang`, makes of a file; or why there is none.
pub(crate) fn clang(source: &Path, options: &str) -> Result<Vec<u8>, String> {
    let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
    let object = directory.path().join("object");
    let named = env::var("CLANG").ok();
    let compilers = match &named {
        Some(clang) => vec![clang.as_str()],
        None => vec!["clang-22", "clang"],
    };
    let mut complaint = String::new();
    for clang in compilers {
        let output = Command::new(clang)
            .args(options.split(' '))
            .arg(source)
            .arg("-o")
            .arg(&object)
            .output();
        complaint = match output {
            Ok(output) if output.status.success() => {
                return fs::read(&object).map_err(|error| error.to_string());
            }
            Ok(output) => String::from_utf8_lossy(&output.stderr).into_owned(),
            Err(error) => error.to_string(),
        };
    }
    Err(format!(
        "no clang compiles {}: {complaint}",
        source.display()
    ))
}

impl Source {
    /// The kernels whose C is not as expected, for a product of [`CHECKED`] in each direction.
    fn wrong(
        &self,
        program: &Program,
        memory: &Arc<DeviceMemory>,
        addresses: [u64; 3],
        expected: &[u8],
    ) -> Vec<&'static str> {
        let ratio = (self.size[0] / CHECKED) as u32;
        let is_right = |published: &&Published| -> bool {
            let [x, y] = published.grid;
            let launch = Launch {
                addresses,
                size: [CHECKED; 3],
                grid: if y == 1 {
                    [x / (ratio * ratio), 1]
                } else {
                    [x / ratio, y / ratio]
                },
                block: published.block,
            };
            let name = published.kernel.replace("4096", "512");
            let kernel = program.kernel(&name).expect("one of the file's");
            let mut c = vec![0; expected.len()];
            memory
                // Not NaN, which times β = 0 is NaN.
                .fill(addresses[2], &[0x40], c.len())
                .and_then(|()| {
                    dispatch::launch(&kernel, &self.config(&launch, &(self.kernarg)(&launch)))
                        .expect("a kernel that runs");
                    memory.read(addresses[2], &mut c)
                })
                .expect("the allocation is as long");
            c == expected
        };
        let wrong = self.kernels.iter().filter(|kernel| !is_right(kernel));
        wrong.map(|published| published.kernel).collect()
    }

    fn config<'a>(&self, launch: &Launch, kernarg: &'a [u8]) -> LaunchConfig<'a> {
        LaunchConfig {
            grid: [launch.grid[0], launch.grid[1], 1],
            block: [launch.block[0], launch.block[1], 1],
            dynamic_lds_bytes: 0,
            kernarg,
            ..LAUNCH
        }
    }

    fn estimate(
        &self,
        program: &Program,
        memory: &Arc<DeviceMemory>,
        published: &Published,
    ) -> Timing {
        let [m, n, k] = self.size;
        let [input, output] = self.bytes;
        let launch = Launch {
            addresses: [m * k * input, k * n * input, m * n * output]
                .map(|bytes| allocate(memory, bytes + PAST_END)),
            size: self.size,
            grid: published.grid,
            block: published.block,
        };
        let kernarg = (self.kernarg)(&launch);
        let kernel = program.kernel(published.kernel).expect("one of the file's");
        let config = self.config(&launch, &kernarg);
        timing::estimate(&kernel, &config, cold(self.machine)).expect("a kernel for the machine")
    }

    /// The code object, or why it could not be compiled.
    fn compile(&self) -> Result<Vec<u8>, String> {
        let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
        let gpu = self.machine.gpu();
        let (source, options) = match self.text {
            Text::Hip(text) => {
                let source = directory.path().join(self.name);
                fs::write(&source, text).map_err(|error| error.to_string())?;
                let options = format!(
                    "-x hip -O3 --offload-arch={gpu} --offload-device-only --no-gpu-bundle-output -nogpulib -nogpuinc"
                );
                (source, options)
            }
            Text::Sgemm => {
                let checkout = env::var_os(SGEMM).ok_or_else(|| {
                    format!(
                        "{} is not run: {SGEMM} names no checkout of github.com/seb-v/fp32_sgemm_amd",
                        self.name
                    )
                })?;
                let source = Path::new(&checkout).join("src").join(self.name);
                (
                    source,
                    format!("-x assembler -target amdgcn-amd-amdhsa -mcpu={gpu}"),
                )
            }
        };
        clang(&source, &options)
    }

    pub(crate) fn print(&self, choice: &Choice) {
        let machine = self.machine.name();
        let is_chosen = |published: &&Published| choice.has(machine, published.kernel);
        if !self.kernels.iter().any(|published| is_chosen(&published)) {
            return;
        }
        let code_object = match self.compile() {
            Ok(code_object) => code_object,
            Err(complaint) => return println!("{complaint}"),
        };
        let memory = Arc::new(DeviceMemory::new(1 << 33));
        let gpu = self.machine.gpu();
        let program = Program::load(&code_object, gpu, &memory, SimdLevel::detect())
            .expect("clang's code object");
        let wrong = (self.check)(self, &program, &memory);
        let [m, n, k] = self.size;
        println!(
            "| {}, {machine}, {m}×{n}×{k} | published [ms] | modelled [ms] | clock [GHz] | ratio | bound by |",
            self.name
        );
        println!("|---|---|---|---|---|---|");
        let mut group = Group::default();
        for published in self.kernels.iter().filter(is_chosen) {
            if wrong.contains(&published.kernel) {
                println!("| `{}` | its product is wrong | | | | |", published.kernel);
                continue;
            }
            let timing = self.estimate(&program, &memory, published);
            // Published times are of kernels at the clock that the GPU had.
            let seconds = timing.sustained.seconds().unwrap_or(timing.seconds);
            let pair = Pair {
                published: published.milliseconds,
                modelled: 1e3 * seconds,
            };
            println!(
                "| `{}` | {:.4} | {:.4} | {:.2} | {:.2} | {} |",
                published.kernel,
                pair.published,
                pair.modelled,
                timing.cycles as f64 / seconds / 1e9,
                pair.ratio(),
                timing.bound_by.text()
            );
            group.add(pair);
            rows::add(
                self.name,
                self.machine,
                published.kernel,
                pair.ratio(),
                timing.bound_by.text(),
            );
            choice.say(timing);
        }
        group.print(&format!("{}, whole kernels", self.name));
    }
}
