//! Which launches of a kernel compute a problem.

use super::problem::Problem;
use ferrowave_shared::{
    CATALOGUE, ElementTypes, GemmArguments, GemmParameters, GpuSet, Grid, Kernel,
};
use std::fmt::Write as _;
use thiserror::Error;

/// The largest grid that a device launches, in workgroups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GridLimits {
    /// Along x.
    pub x: u32,
    /// Along y.
    pub y: u32,
    /// Along z.
    pub z: u32,
}

impl GridLimits {
    /// What HIP launches on every AMD GPU.
    pub const HIP: Self = Self {
        x: i32::MAX as u32,
        y: u16::MAX as u32,
        z: u16::MAX as u32,
    };
}

/// The launches of one kernel that together compute a problem.
///
/// They are one launch unless the problem exceeds the grid that the device launches; then it is
/// cut along the batch, the rows and the columns of C.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    kernel: &'static Kernel,
    problem: Problem,
    chunk: Chunk,
}

/// The most that one launch computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Chunk {
    m: u32,
    n: u32,
    batch: u32,
}

/// One launch of a [`Plan`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Launch {
    /// The grid of workgroups.
    pub grid: Grid,
    /// Elements from the first of A to the first that this launch uses.
    pub offset_a: u64,
    /// Elements from the first of B to the first that this launch uses.
    pub offset_b: u64,
    /// Elements from the first of C to the first that this launch computes.
    pub offset_c: u64,
    /// The part of the problem that this launch computes.
    pub parameters: GemmParameters,
}

impl Plan {
    /// Plans the launches of `kernel` that compute `problem` on the GPU that LLVM calls `gpu`.
    ///
    /// # Errors
    /// The kernel is not built for the GPU, or not for the problem's element types.
    pub fn new(
        kernel: &'static Kernel,
        problem: &Problem,
        gpu: &str,
        limits: GridLimits,
    ) -> Result<Self, PlanError> {
        if !kernel.gpus.contains(gpu) {
            return Err(PlanError::NotBuiltFor {
                kernel: kernel.symbol,
                gpu: gpu.to_owned(),
                built_for: kernel.gpus,
            });
        }
        if kernel.types != problem.types() {
            return Err(PlanError::WrongTypes {
                kernel: kernel.symbol,
                computes: kernel.types,
                wanted: problem.types(),
            });
        }
        // The queue's packets count work-items, in 32 bits for each dimension.
        let workgroups = |limit: u32, threads: usize| {
            let by_packet = u32::MAX as usize / threads.max(1);
            (limit as usize).min(by_packet).max(1)
        };
        let extent = |workgroups: usize, tile: usize| {
            u32::try_from(workgroups.saturating_mul(tile)).unwrap_or(u32::MAX)
        };
        Ok(Self {
            kernel,
            problem: *problem,
            chunk: Chunk {
                m: extent(workgroups(limits.y, kernel.block.y), kernel.tile.m),
                n: extent(workgroups(limits.x, kernel.block.x), kernel.tile.n),
                batch: limits.z.max(1),
            },
        })
    }

    /// The kernel that is launched.
    pub const fn kernel(&self) -> &'static Kernel {
        self.kernel
    }

    /// The problem that the launches compute.
    pub const fn problem(&self) -> &Problem {
        &self.problem
    }

    /// The launches, in any order of which the result is the same. None if C has no element.
    pub fn launches(&self) -> impl Iterator<Item = Launch> {
        let Chunk { m, n, batch } = self.chunk;
        let problem = self.problem;
        chunks(problem.batch(), batch).flat_map(move |batches| {
            chunks(problem.m(), m).flat_map(move |rows| {
                chunks(problem.n(), n).map(move |columns| self.launch(batches, rows, columns))
            })
        })
    }

    /// The arguments of one of the launches, when the first elements of A, B and C are at these
    /// device addresses.
    pub const fn arguments(&self, launch: &Launch, a: u64, b: u64, c: u64) -> GemmArguments {
        let types = self.problem.types();
        let input_bytes = types.input.size_bytes() as u64;
        let output_bytes = types.output.size_bytes() as u64;
        // Offsets of elements do not overflow, as the problem was checked; addresses that are
        // nonsense may, and then stay nonsense.
        GemmArguments {
            a: a.wrapping_add(launch.offset_a * input_bytes),
            b: b.wrapping_add(launch.offset_b * input_bytes),
            c: c.wrapping_add(launch.offset_c * output_bytes),
            bias: 0,
            workspace: 0,
            parameters: launch.parameters,
        }
    }

    fn launch(&self, batches: Part, rows: Part, columns: Part) -> Launch {
        let Self {
            kernel, problem, ..
        } = self;
        Launch {
            grid: kernel
                .tile
                .grid(rows.length, columns.length, batches.length),
            offset_a: problem.a().offset(batches.first, rows.first, 0),
            offset_b: problem.b().offset(batches.first, 0, columns.first),
            offset_c: problem.c().offset(batches.first, rows.first, columns.first),
            parameters: GemmParameters {
                m: rows.length,
                n: columns.length,
                batch: batches.length,
                ..problem.parameters()
            },
        }
    }
}

/// A part of an extent.
#[derive(Clone, Copy)]
struct Part {
    first: u32,
    length: u32,
}

/// `extent` cut into parts of at most `length`.
fn chunks(extent: u32, length: u32) -> impl Iterator<Item = Part> {
    (0..extent).step_by(length as usize).map(move |first| Part {
        first,
        length: length.min(extent - first),
    })
}

/// The kernel of the variant called `name`, or with the symbol `name`, for these element types.
///
/// # Errors
/// There is none; the error lists those that there are.
pub fn kernel_named(name: &str, types: ElementTypes) -> Result<&'static Kernel, UnknownKernel> {
    Kernel::by_variant(name, types)
        .or_else(|| Kernel::by_symbol(name))
        .ok_or_else(|| UnknownKernel {
            name: name.to_owned(),
            types,
        })
}

/// There is no kernel of this name for these element types.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("unknown kernel `{name}`; for {} there are {}", .types.input, kernels_for(.types))]
pub struct UnknownKernel {
    /// What was asked for.
    pub name: String,
    /// For these element types.
    pub types: ElementTypes,
}

fn kernels_for(types: &ElementTypes) -> String {
    let mut list = String::new();
    for kernel in CATALOGUE.iter().filter(|kernel| kernel.types == *types) {
        let separator = if list.is_empty() { "" } else { ", " };
        // Writing to a string does not fail.
        let _ = write!(list, "{separator}{}", kernel.variant.name());
    }
    if list.is_empty() {
        list.push_str("none");
    }
    list
}

/// Why a kernel can't compute a problem.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum PlanError {
    /// The kernel does not exist for the GPU.
    #[error("{kernel} is not built for {gpu}, only for {built_for}")]
    NotBuiltFor {
        /// The kernel's symbol.
        kernel: &'static str,
        /// The device's GPU.
        gpu: String,
        /// The GPUs that the kernel exists for.
        built_for: GpuSet,
    },
    /// The kernel computes with other element types.
    #[error(
        "{kernel} computes {} from {}, not {} from {}",
        .computes.output, .computes.input, .wanted.output, .wanted.input
    )]
    WrongTypes {
        /// The kernel's symbol.
        kernel: &'static str,
        /// What it computes with.
        computes: ElementTypes,
        /// What the problem has.
        wanted: ElementTypes,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gemm::Request;
    use ferrowave_shared::catalogue::{MFMA_FRAGMENT_F32, NAIVE_F32};

    fn plan(request: Request, limits: GridLimits) -> Plan {
        let problem = request.check().expect("valid");
        Plan::new(&NAIVE_F32, &problem, "gfx942", limits).expect("built for gfx942")
    }

    #[test]
    fn a_problem_is_one_launch() {
        let request = Request {
            batch: 3,
            alpha: 2.0,
            beta: -1.0,
            ldc: Some(80),
            ..Request::new(9, 65, 7)
        };
        let launches: Vec<_> = plan(request, GridLimits::HIP).launches().collect();
        let [launch] = launches.as_slice() else {
            panic!("{launches:?}");
        };
        // Tiles of 4 × 64.
        assert_eq!(launch.grid, Grid { x: 2, y: 3, z: 3 });
        assert_eq!(
            (launch.offset_a, launch.offset_b, launch.offset_c),
            (0, 0, 0)
        );
        let p = launch.parameters;
        assert_eq!((p.m, p.n, p.k, p.batch), (9, 65, 7, 3));
        assert_eq!((p.lda, p.ldb, p.ldc), (7, 65, 80));
        assert_eq!((p.stride_a, p.stride_b, p.stride_c), (63, 455, 720));
        assert_eq!((p.alpha, p.beta), (2.0, -1.0));
    }

    #[test]
    fn without_elements_there_is_no_launch() {
        for request in [
            Request::new(0, 5, 5),
            Request::new(5, 0, 5),
            Request {
                batch: 0,
                ..Request::new(5, 5, 5)
            },
        ] {
            assert_eq!(plan(request, GridLimits::HIP).launches().count(), 0);
        }
        // C has elements to scale, though there are none to multiply.
        let scaling = plan(Request::new(5, 5, 0), GridLimits::HIP);
        assert_eq!(scaling.launches().count(), 1);
    }

    /// Every element of C is computed by one launch, from its own row of A and column of B.
    #[test]
    fn a_problem_beyond_the_grid_is_cut_into_launches_that_cover_it() {
        let limits = GridLimits { x: 1, y: 2, z: 2 };
        let request = Request {
            batch: 3,
            lda: Some(6),
            ..Request::new(17, 130, 5)
        };
        let plan = plan(request, limits);
        let problem = *plan.problem();
        let mut computed = vec![0; usize::try_from(problem.c().span()).expect("small")];
        for launch in plan.launches() {
            let Grid { x, y, z } = launch.grid;
            assert!(
                x <= limits.x && y <= limits.y && z <= limits.z,
                "{launch:?}"
            );
            let p = launch.parameters;
            let (corner, a, b) = (
                problem.c().place(launch.offset_c),
                problem.a().place(launch.offset_a),
                problem.b().place(launch.offset_b),
            );
            assert_eq!((a.batch, a.row, a.column), (corner.batch, corner.row, 0));
            assert_eq!((b.batch, b.row, b.column), (corner.batch, 0, corner.column));
            for batch in 0..p.batch {
                for row in 0..p.m {
                    for column in 0..p.n {
                        let offset = launch.offset_c + problem.c().offset(batch, row, column);
                        computed[usize::try_from(offset).expect("small")] += 1;
                    }
                }
            }
        }
        assert!(computed.iter().all(|&times| times == 1));
    }

    #[test]
    fn arguments_are_addresses_in_bytes() {
        let limits = GridLimits { x: 1, y: 1, z: 1 };
        let plan = plan(Request::new(5, 65, 10), limits);
        let last = plan.launches().last().expect("four launches");
        let arguments = plan.arguments(&last, 0x1000, 0x2000, 0x3000);
        // Row 4 of A, column 64 of B, element (4, 64) of C.
        assert_eq!(arguments.a, 0x1000 + 4 * 10 * 4);
        assert_eq!(arguments.b, 0x2000 + 64 * 4);
        assert_eq!(arguments.c, 0x3000 + (4 * 65 + 64) * 4);
        assert_eq!((arguments.parameters.m, arguments.parameters.n), (1, 1));
    }

    #[test]
    fn many_rows_exceed_what_hip_launches_along_y() {
        let launches: Vec<_> = plan(Request::new(262_141, 1, 1), GridLimits::HIP)
            .launches()
            .map(|launch| (launch.grid.y, launch.parameters.m))
            .collect();
        assert_eq!(launches, [(65_535, 262_140), (1, 1)]);
    }

    #[test]
    fn a_gpu_without_the_kernel_is_refused_with_those_that_have_it() {
        let problem = Request::new(1, 1, 1).check().expect("valid");
        let error =
            Plan::new(&MFMA_FRAGMENT_F32, &problem, "gfx1100", GridLimits::HIP).unwrap_err();
        assert_eq!(
            error.to_string(),
            "gemm_mfma_fragment_f32 is not built for gfx1100, only for gfx908, gfx90a, gfx942, gfx950"
        );
    }

    #[test]
    fn other_element_types_are_refused() {
        let types = ElementTypes {
            input: ferrowave_shared::ElementType::F16,
            ..ElementTypes::F32
        };
        let request = Request {
            types,
            ..Request::new(1, 1, 1)
        };
        let problem = request.check().expect("valid");
        let error = Plan::new(&NAIVE_F32, &problem, "gfx942", GridLimits::HIP).unwrap_err();
        assert_eq!(
            error.to_string(),
            "gemm_naive_f32 computes f32 from f32, not f32 from f16"
        );
    }

    #[test]
    fn kernels_go_by_variant_and_by_symbol() {
        for name in ["mfma_fragment", "gemm_mfma_fragment_f32"] {
            assert_eq!(
                kernel_named(name, ElementTypes::F32),
                Ok(&MFMA_FRAGMENT_F32)
            );
        }
        let error = kernel_named("fastest", ElementTypes::F32).unwrap_err();
        assert_eq!(
            error.to_string(),
            "unknown kernel `fastest`; for f32 there are naive, lds_tiled, register_tiled, mfma_fragment"
        );
    }
}
