//! Writes the ladder's code objects and a launch of each kernel, for the page: `ladder FOLDER DEVICE...`.
//!
//! For each device, the folder gets `GPU.co`. `ladder.json` has the products of 256³ that the page offers, with the names of
//! these files, and the kernels' sources. `kernels` lists machines and kernels, a line each.

use std::{collections::BTreeMap, env, error::Error, fs, path::Path};

use ferrowave::{
    embedded,
    gemm::{Addresses, Machine, Order, Plan, Request},
};
use ferrowave_shared::{CATALOGUE, ElementType, GemmArguments, GemmParameters};
use serde::Serialize;
use serde_json::json;

/// Extents of A, B and C.
const SIZE: u32 = 256;
/// Arguments of a kernel: pointers, then the parameters.
const ARGUMENTS: usize =
    (size_of::<GemmArguments>() - size_of::<GemmParameters>()) / size_of::<u64>() + 1;

/// The kernels of a device.
#[derive(Serialize)]
struct Ladder {
    title: String,
    /// The file with the code object.
    file: String,
    machine: String,
    launches: Vec<Launch>,
}

/// A launch as the page's form has it.
#[derive(Serialize)]
struct Launch {
    kernel: &'static str,
    grid: [u32; 3],
    block: [u32; 3],
    lds_bytes: usize,
    arguments: [String; ARGUMENTS],
    /// What the arguments are.
    names: [&'static str; ARGUMENTS],
    /// The bytes of the last argument.
    parameters: Vec<u8>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let folder = arguments.next().ok_or("usage: ladder FOLDER DEVICE...")?;
    let folder = Path::new(&folder);
    fs::create_dir_all(folder)?;
    let (mut devices, mut kernels) = (Vec::new(), String::new());
    for name in arguments {
        let launches = ladder(folder, &name)?;
        for launch in &launches.launches {
            kernels += &format!("{name} {}\n", launch.kernel);
        }
        devices.push(launches);
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .ok_or("no repository")?;
    let mut sources = BTreeMap::new();
    for folder in ["kernels/src", "shared/src"] {
        read(root, &root.join(folder), &mut sources)?;
    }
    let ladder = json!({ "devices": devices, "sources": sources, "root": root });
    fs::write(folder.join("ladder.json"), ladder.to_string())?;
    fs::write(folder.join("kernels"), kernels)?;
    Ok(())
}

/// Reads the files below a folder, by their paths in the repository.
fn read(
    root: &Path,
    folder: &Path,
    sources: &mut BTreeMap<String, String>,
) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            read(root, &path, sources)?;
        } else {
            let name = path.strip_prefix(root)?.display().to_string();
            sources.insert(name, fs::read_to_string(&path)?);
        }
    }
    Ok(())
}

/// Writes the code object of a device, and describes a launch of each of its kernels. Those of f64, xf32 and 8-bit floats are
/// left out.
fn ladder(folder: &Path, name: &str) -> Result<Ladder, Box<dyn Error>> {
    let device = embedded::open(&format!("emulator:{name}").parse()?)?;
    let machine = Machine::of(&device);
    let object = embedded::code_object(&machine.gpu).ok_or("no kernels were built for it")?;
    let file = format!("{}.co", machine.gpu);
    fs::write(folder.join(&file), object)?;
    let mut launches = Vec::new();
    for kernel in CATALOGUE {
        let input = kernel.types.a;
        let shown = [
            ElementType::F32,
            ElementType::F16,
            ElementType::Bf16,
            ElementType::I8,
        ];
        if !shown.contains(&input) {
            continue;
        }
        // Some kernels are not built for the GPU; some need both operands contiguous along k.
        let Some(plan) = [Order::RowMajor, Order::ColumnMajor]
            .into_iter()
            .find_map(|order_b| {
                let request = Request {
                    types: kernel.types,
                    order_b,
                    ..Request::new(SIZE.into(), SIZE.into(), SIZE.into())
                };
                Plan::new(kernel, &request.check().ok()?, &machine).ok()
            })
        else {
            continue;
        };
        let Some(launch) = plan.launches().next() else {
            continue;
        };
        let matrix = |contents: &str, element: ElementType| {
            format!("{contents}:{SIZE}x{SIZE}x{}", element.name())
        };
        let workspace = launch.workspace.size_bytes().unwrap_or(0);
        let parameters = plan.arguments(&launch, &Addresses::default(), 0).parameters;
        launches.push(Launch {
            kernel: kernel.symbol,
            grid: [launch.grid.x, launch.grid.y, launch.grid.z],
            block: [kernel.block.x as u32, kernel.block.y as u32, 1],
            lds_bytes: kernel.lds_bytes,
            arguments: [
                matrix("random", input),
                matrix("random", input),
                matrix("zeros", kernel.types.output),
                "u64=0".to_owned(),
                match workspace {
                    0 => "u64=0".to_owned(),
                    bytes => format!("zeros:{bytes}xu8"),
                },
                "u64=0".to_owned(),
                "u64=0".to_owned(),
                "value:parameters".to_owned(),
            ],
            names: [
                "A",
                "B",
                "C",
                "bias",
                "workspace",
                "amax",
                "epilogue input",
                "parameters",
            ],
            parameters: bytemuck::bytes_of(&parameters).to_vec(),
        });
    }
    Ok(Ladder {
        title: format!("The ladder, {SIZE}³, for {name}"),
        file,
        machine: name.to_owned(),
        launches,
    })
}
