//! Products of AMD's rocBLAS and hipBLASLt that others have timed on their GPUs, beside the modelled times of the libraries'
//! own kernels. `benches/libraries.sh` fetches the libraries, Debian's, and estimates what they launch.

use std::{io, path::Path, process::Command};

use ferrowave::vendor::Vendor::{self, HipBlasLt, RocBlas};
use ferrowave_gpu::Product::{self, Mi210, Rx7900Xtx, Rx9070Xt};

use crate::{
    Choice, rows,
    statistics::{Group, Pair},
};

/// What a library reached, in 10¹² operations a second.
struct Published {
    machine: Product,
    library: Vendor,
    kind: &'static str,
    /// m = n = k, and the rate.
    rates: &'static [(u32, f64)],
}

const fn published(
    machine: Product,
    library: Vendor,
    kind: &'static str,
    rates: &'static [(u32, f64)],
) -> Published {
    Published {
        machine,
        library,
        kind,
        rates,
    }
}

/// The first two are AMD's, by `rocblas-bench` (ROCm/rocm-libraries, issue 9453). The next are rates of `torch.matmul`
/// (zzc0721/torch-performance-test-data), whose calls take longer than the kernels at 1024³: MI210 with ROCm 7.2 (issue 195), RX
/// 9070 XT with ROCm 7.2 (173) and RX 7900 XTX with ROCm 6.3 (58), the releases next to Debian's libraries. PyTorch calls
/// hipBLASLt on the first two and rocBLAS on the third (`blasPreferredBackend` in its `Context.cpp`). The last is the figure beside
/// seb-v's ladder.
const PUBLISHED: [Published; 12] = [
    published(
        Mi210,
        RocBlas,
        "f32",
        &[(1024, 30.1), (2048, 34.6), (4096, 32.3), (8192, 37.9)],
    ),
    published(Mi210, RocBlas, "f64", &[(8192, 27.1)]),
    published(
        Mi210,
        HipBlasLt,
        "f32",
        &[(2048, 31.85), (4096, 33.13), (8192, 33.02)],
    ),
    published(
        Mi210,
        HipBlasLt,
        "f16",
        &[(2048, 106.24), (4096, 117.08), (8192, 120.18)],
    ),
    published(
        Mi210,
        HipBlasLt,
        "bf16",
        &[(2048, 102.47), (4096, 120.55), (8192, 124.18)],
    ),
    published(
        Rx9070Xt,
        HipBlasLt,
        "f32",
        &[(2048, 12.94), (4096, 15.15), (8192, 1.25)],
    ),
    published(
        Rx9070Xt,
        HipBlasLt,
        "f16",
        &[(2048, 116.7), (4096, 129.35), (8192, 112.83)],
    ),
    published(
        Rx9070Xt,
        HipBlasLt,
        "bf16",
        &[(2048, 116.55), (4096, 133.36), (8192, 116.63)],
    ),
    published(
        Rx7900Xtx,
        RocBlas,
        "f32",
        &[(2048, 24.47), (4096, 26.84), (8192, 25.8)],
    ),
    published(
        Rx7900Xtx,
        RocBlas,
        "f16",
        &[(2048, 70.78), (4096, 105.43), (8192, 96.09)],
    ),
    published(
        Rx7900Xtx,
        RocBlas,
        "bf16",
        &[(2048, 60.4), (4096, 99.37), (8192, 98.91)],
    ),
    // 4.4992 ms.
    published(Rx7900Xtx, RocBlas, "f32 (seb-v)", &[(4096, 30.5)]),
];

impl Published {
    fn element(&self) -> &str {
        self.kind.split(' ').next().unwrap_or(self.kind)
    }
}

/// A line of the script.
struct Modelled {
    microseconds: f64,
    tile: String,
    bound_by: String,
}

/// The lines of the script for a machine: the columns of each type and size.
fn run(machine: Product) -> io::Result<Vec<Vec<String>>> {
    let of_machine = || PUBLISHED.iter().filter(|row| row.machine == machine);
    let mut types: Vec<_> = of_machine().map(Published::element).collect();
    let mut sizes: Vec<_> = of_machine().flat_map(|row| row.rates).collect();
    sizes.sort_by_key(|(size, _)| *size);
    sizes.dedup_by_key(|(size, _)| *size);
    let sizes: Vec<_> = sizes.iter().map(|(size, _)| size.to_string()).collect();
    types.sort_unstable();
    types.dedup();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/libraries.sh");
    let output = Command::new(script)
        .arg("full")
        .args(types)
        .env("GPU", machine.name())
        .env("SIZES", sizes.join(" "))
        .output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        let error = String::from_utf8_lossy(&output.stderr);
        let last = error.lines().next_back().unwrap_or("no message");
        return Err(io::Error::other(last.to_owned()));
    }
    let columns = |line: &str| line.split('\t').map(str::to_owned).collect();
    Ok(text.lines().map(columns).collect())
}

/// What a library's columns say of a product.
fn modelled(lines: &[Vec<String>], row: &Published, size: u32) -> Option<Modelled> {
    let first = match row.library {
        HipBlasLt => 2,
        RocBlas => 5,
    };
    let size = size.to_string();
    let line = lines.iter().find(|line| {
        line.first().map(String::as_str) == Some(row.element()) && line.get(1) == Some(&size)
    })?;
    Some(Modelled {
        microseconds: line.get(first)?.parse().ok()?,
        tile: line.get(first + 1)?.clone(),
        bound_by: line.get(first + 2)?.clone(),
    })
}

pub(crate) fn print(choice: &Choice) {
    for machine in [Mi210, Rx9070Xt, Rx7900Xtx] {
        let is_chosen = |library: Vendor| choice.has(machine.name(), library.name());
        let rows = PUBLISHED.iter().filter(|row| row.machine == machine);
        let rows: Vec<_> = rows.filter(|row| is_chosen(row.library)).collect();
        if choice.is_quick || rows.is_empty() {
            continue;
        }
        println!(
            "\n| {machine} | type | size | published [µs] | modelled [µs] | ratio | tile | bound by |"
        );
        println!("|---|---|---|---|---|---|---|---|");
        let lines = match run(machine) {
            Ok(lines) => lines,
            Err(error) => {
                println!("| missing: the libraries do not run: {error} |");
                continue;
            }
        };
        let mut group = Group::default();
        for row in rows {
            for &(size, rate) in row.rates {
                let Some(found) = modelled(&lines, row, size) else {
                    println!("| {} | {} | {size}³ | missing |", row.library, row.kind);
                    continue;
                };
                let pair = Pair {
                    published: 2.0 * f64::from(size).powi(3) / (1e6 * rate),
                    modelled: found.microseconds,
                };
                println!(
                    "| {} | {} | {size}³ | {:.1} | {:.1} | {:.2} | {} | {} |",
                    row.library,
                    row.kind,
                    pair.published,
                    pair.modelled,
                    pair.ratio(),
                    found.tile,
                    found.bound_by
                );
                group.add(pair);
                let kernel = format!("{} {} {size}", row.library, row.kind);
                rows::add(
                    "AMD's libraries",
                    machine,
                    &kernel,
                    pair.ratio(),
                    found.bound_by,
                );
            }
        }
        group.print(&format!("AMD's libraries, {machine}"));
    }
}
