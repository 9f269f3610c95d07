//! The launches of a kernel that compute a problem.

use super::{
    access::{Misfit, check_addresses, check_layouts},
    launch_split::{self, Chunk},
    layout::Layout,
    machine::Machine,
    operands::Addresses,
    problem::Problem,
    tiles::GROUP_LOG,
};
use crate::hip::Arguments;
use ferrowave_shared::{
    Bias, ElementTypes, GemmArguments, GemmParameters, GpuSet, Grid, Kernel, ScaleParameters,
    ScaledGemmArguments, TileOrder, Workspace, catalogue::Reduction, workspace,
};
use thiserror::Error;

/// The launches of one kernel that together compute a problem.
///
/// There is one launch, unless the problem exceeds the device's largest grid or the budget of the workspace. Then the
/// problem is cut along the batch, the rows and the columns of C.
///
/// | [`TileOrder`] | [`Reduction`] | grid |
/// |---|---|---|
/// | `Plane` | `None` | columns of tiles × rows of tiles × batch |
/// | `Linear` | `None` | tiles × 1 × batch |
/// | `Linear` | `SplitK` | tiles · parts × 1 × batch |
/// | `Linear` | `StreamK` | parts × 1 × batch |
///
/// Where all workgroups run at the same time on the only XCD, the grid of `None`, and of `SplitK` with one part, is that of `Plane`.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    kernel: &'static Kernel,
    problem: Problem,
    parts: u32,
    xcds: u32,
    /// Up to how many workgroups a grid in linear order may be [two-dimensional](TileOrder::PLANE_GRID).
    most_in_plane: u32,
    chunk: Chunk,
}

/// One launch of a [`Plan`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Launch {
    /// The grid of workgroups.
    pub grid: Grid,
    /// Offset of the first element of A that this launch uses, in elements.
    pub offset_a: u64,
    /// Offset of the first element of B that this launch uses, in elements.
    pub offset_b: u64,
    /// Offset of the first element of C that this launch computes, in elements.
    pub offset_c: u64,
    /// Offset of the first element of the bias that this launch uses, in elements.
    pub offset_bias: u64,
    /// Offset of the first of A's scales that this launch uses, or of its indices; 0 for other types.
    pub offset_scale_a: u64,
    /// Offset of the first of B's scales that this launch uses, likewise.
    pub offset_scale_b: u64,
    /// The part of the problem that this launch computes.
    pub parameters: GemmParameters,
    /// The workspace that it needs.
    pub workspace: Workspace,
}

impl Plan {
    /// Plans the launches of `kernel` that compute `problem` on `machine`.
    ///
    /// # Errors
    /// The kernel is not built for the GPU, or not for the problem's element types or layouts.
    pub fn new(
        kernel: &'static Kernel,
        problem: &Problem,
        machine: &Machine,
    ) -> Result<Self, PlanError> {
        Self::with_parts(
            kernel,
            problem,
            machine,
            launch_split::parts(kernel, problem, machine),
        )
    }

    /// The same with k divided into `parts`; for [`Reduction::StreamK`] with `parts` workgroups per product, or one per
    /// step if there are fewer steps.
    ///
    /// # Errors
    /// As [`Self::new`]; [`PlanError::Parts`] if a tile has fewer steps than `parts`.
    pub fn with_parts(
        kernel: &'static Kernel,
        problem: &Problem,
        machine: &Machine,
        parts: u32,
    ) -> Result<Self, PlanError> {
        if !kernel.gpus.contains(&machine.gpu) {
            return Err(PlanError::NotBuiltFor {
                kernel: kernel.symbol,
                gpu: machine.gpu.clone(),
                built_for: kernel.gpus,
            });
        }
        if !kernel.computes(problem.types()) {
            return Err(PlanError::WrongTypes {
                kernel: kernel.symbol,
                computes: kernel.types,
                wanted: problem.types(),
            });
        }
        check_layouts(kernel.access, problem).map_err(|misfit| misfits(kernel, misfit))?;
        let max = match kernel.reduction {
            Reduction::None => 1,
            Reduction::SplitK => workspace::steps(problem.k(), kernel.tile),
            Reduction::StreamK => machine.limits.x,
        };
        if !(1..=max).contains(&parts) {
            return Err(PlanError::Parts {
                kernel: kernel.symbol,
                parts,
                max,
            });
        }
        Ok(Self {
            kernel,
            problem: *problem,
            parts,
            xcds: machine.xcds,
            most_in_plane: match machine.xcds {
                1 => machine.workgroups_at_once(kernel).min(machine.limits.y),
                _ => 0,
            },
            chunk: Chunk::new(kernel, problem, machine, parts),
        })
    }

    /// The kernel that is launched.
    pub const fn kernel(&self) -> &'static Kernel {
        self.kernel
    }

    /// Into how many parts k is divided; with [`Reduction::StreamK`] the number of workgroups.
    pub const fn parts(&self) -> u32 {
        self.parts
    }

    /// The problem that the launches compute.
    pub const fn problem(&self) -> &Problem {
        &self.problem
    }

    /// The launches; they may run in any order. None if C is empty. They may share a workspace if they run one after
    /// the other.
    pub fn launches(&self) -> impl Iterator<Item = Launch> {
        let Chunk { m, n, batch } = self.chunk;
        let problem = self.problem;
        chunks(problem.batch(), batch).flat_map(move |batches| {
            chunks(problem.m(), m).flat_map(move |rows| {
                chunks(problem.n(), n).map(move |columns| self.launch(batches, rows, columns))
            })
        })
    }

    /// Bytes of the largest workspace of a launch, and of the counters at its beginning, which must be 0; `None` if
    /// it exceeds the address space.
    pub fn workspace_bytes(&self) -> Option<WorkspaceBytes> {
        self.launches()
            .try_fold(WorkspaceBytes::default(), |most, launch| {
                Some(WorkspaceBytes {
                    all: most.all.max(launch.workspace.size_bytes()?),
                    counters: most.counters.max(launch.workspace.counter_bytes()),
                })
            })
    }

    /// Checks that the kernel can read matrices that begin at these addresses.
    ///
    /// # Errors
    /// [`PlanError::Misfit`] with the matrix and its address.
    pub fn check_addresses(&self, addresses: &Addresses) -> Result<(), PlanError> {
        check_addresses(self.kernel.access, addresses)
            .map_err(|misfit| misfits(self.kernel, misfit))
    }

    /// The arguments of one of the launches, for matrices and a workspace at these device addresses.
    pub const fn arguments(
        &self,
        launch: &Launch,
        addresses: &Addresses,
        workspace: u64,
    ) -> GemmArguments {
        let types = self.problem.types();
        let output_bytes = types.output.size_bytes() as u64;
        let bias_bytes = types.bias().size_bytes() as u64;
        let parameters = GemmParameters {
            options: addresses.options(launch.parameters.options),
            ..launch.parameters
        };
        // Offsets do not overflow, as the problem was checked. Sums with invalid addresses may wrap
        // around.
        GemmArguments {
            a: (addresses.a).wrapping_add(types.a.bytes(launch.offset_a as u128) as u64),
            b: (addresses.b).wrapping_add(types.b.bytes(launch.offset_b as u128) as u64),
            c: addresses.c.wrapping_add(launch.offset_c * output_bytes),
            bias: addresses.bias.wrapping_add(launch.offset_bias * bias_bytes),
            workspace,
            amax: addresses.amax,
            input: addresses.input.wrapping_add(launch.offset_c * bias_bytes),
            parameters,
        }
    }

    /// The same as a kernel takes them.
    pub fn kernel_arguments(
        &self,
        launch: &Launch,
        addresses: &Addresses,
        workspace: u64,
    ) -> Arguments {
        let gemm = self.arguments(launch, addresses, workspace);
        let addresses = Addresses {
            scale_a: addresses.scale_a.wrapping_add(launch.offset_scale_a),
            scale_b: addresses.scale_b.wrapping_add(launch.offset_scale_b),
            ..*addresses
        };
        let scales = self.problem.scale_parameters();
        kernel_arguments(self.problem.types(), gemm, &addresses, scales)
    }

    fn launch(&self, batches: Part, rows: Part, columns: Part) -> Launch {
        let Self {
            kernel, problem, ..
        } = self;
        let plane = kernel
            .tile
            .grid(rows.length, columns.length, batches.length);
        // A chunk's tiles, and the steps of all of them, fit in 32 bits.
        let tiles = || plane.x * plane.y;
        let steps = workspace::steps(problem.k(), kernel.tile);
        let mut order = GROUP_LOG << 16 | self.xcds;
        let (parts, grid) = match (kernel.order, kernel.reduction) {
            (TileOrder::Plane, _) => (1, plane),
            (TileOrder::Linear, Reduction::None | Reduction::SplitK)
                if self.parts == 1 && plane.workgroups() <= self.most_in_plane.into() =>
            {
                order = TileOrder::PLANE_GRID;
                (1, plane)
            }
            (TileOrder::Linear, Reduction::None | Reduction::SplitK) => {
                let x = tiles() * self.parts;
                (self.parts, Grid { x, y: 1, ..plane })
            }
            (TileOrder::Linear, Reduction::StreamK) => {
                let x = self.parts.min(tiles() * steps);
                (x, Grid { x, y: 1, ..plane })
            }
        };
        let slots_of = match kernel.reduction {
            Reduction::None => 0,
            Reduction::SplitK | Reduction::StreamK => tiles(),
        };
        let scales = |layout: Option<Layout>, first| {
            layout.map_or(0, |scales| scales.offset(batches.first, first, 0))
        };
        // Chunks begin at tiles, and so at blocks of indices.
        let indices = |batch: u32, first| {
            let stride = problem.scale_parameters().stride_a;
            problem.indices().map_or(0, |indices| {
                u64::from(batch) * stride + indices.offset_of_rows(first)
            })
        };
        Launch {
            grid,
            offset_a: problem.a().offset(batches.first, rows.first, 0),
            offset_b: problem.b().offset(batches.first, 0, columns.first),
            offset_c: problem.c().offset(batches.first, rows.first, columns.first),
            offset_bias: match problem.bias() {
                Bias::None => 0,
                Bias::Row => rows.first.into(),
                Bias::Column => columns.first.into(),
            },
            offset_scale_a: scales(problem.scales_a(), rows.first)
                + indices(batches.first, rows.first),
            offset_scale_b: scales(problem.scales_b(), columns.first),
            parameters: GemmParameters {
                m: rows.length,
                n: columns.length,
                batch: batches.length,
                parts,
                order,
                ..problem.parameters()
            },
            workspace: launch_split::workspace_of(kernel, slots_of, parts, batches.length),
        }
    }
}

/// Arguments as a kernel takes them: with the scales or indices, if the types have them.
pub(super) fn kernel_arguments(
    types: ElementTypes,
    gemm: GemmArguments,
    addresses: &Addresses,
    scales: ScaleParameters,
) -> Arguments {
    if types.block() == 1 {
        return Arguments::from_struct(&gemm);
    }
    Arguments::from_struct(&ScaledGemmArguments {
        gemm,
        scale_a: addresses.scale_a,
        scale_b: addresses.scale_b,
        scales,
    })
}

/// The size of the workspace of a plan's launches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkspaceBytes {
    /// All bytes.
    pub all: u64,
    /// Of the counters at its beginning.
    pub counters: u64,
}

/// A part of an extent.
#[derive(Clone, Copy)]
struct Part {
    first: u32,
    length: u32,
}

/// Cuts `extent` into parts of at most `length`.
fn chunks(extent: u32, length: u32) -> impl Iterator<Item = Part> {
    (0..extent).step_by(length as usize).map(move |first| Part {
        first,
        length: length.min(extent - first),
    })
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
        .computes.output, .computes.name(), .wanted.output, .wanted.name()
    )]
    WrongTypes {
        /// The kernel's symbol.
        kernel: &'static str,
        /// Its element types.
        computes: ElementTypes,
        /// The problem's.
        wanted: ElementTypes,
    },
    /// The kernel can't read the matrices in their layout or alignment.
    #[error(
        "{kernel} reads A and B 16 bytes at a time along k: {misfit}; other kernels read any layout"
    )]
    Misfit {
        /// The kernel's symbol.
        kernel: &'static str,
        /// Why it can't read them.
        misfit: Misfit,
    },
    /// The kernel can't divide k into that many parts.
    #[error("{kernel} cuts this problem into 1 to {max} parts, not {parts}")]
    Parts {
        /// The kernel's symbol.
        kernel: &'static str,
        /// The requested number.
        parts: u32,
        /// The largest allowed number.
        max: u32,
    },
}

fn misfits(kernel: &Kernel, misfit: Misfit) -> PlanError {
    PlanError::Misfit {
        kernel: kernel.symbol,
        misfit,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gemm::Request;
    use crate::gemm::{GridLimits, Order};
    use ferrowave_shared::catalogue::{Access, MFMA_FRAGMENT_F32, NAIVE_F32};

    fn machine(limits: GridLimits) -> Machine {
        Machine {
            limits,
            compute_units: 304,
            xcds: 8,
            ..Machine::smallest("gfx942")
        }
    }

    fn plan_of(kernel: &'static Kernel, request: Request, limits: GridLimits) -> Plan {
        let problem = request.check().expect("valid");
        Plan::new(kernel, &problem, &machine(limits)).expect("built for gfx942")
    }

    fn plan(request: Request, limits: GridLimits) -> Plan {
        plan_of(&NAIVE_F32, request, limits)
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
        // With k = 0, C is still scaled.
        let scaling = plan(Request::new(5, 5, 0), GridLimits::HIP);
        assert_eq!(scaling.launches().count(), 1);
    }

    /// Every element of C is computed by exactly one launch, from its own row of A and column of B.
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
        let request = Request {
            bias: Bias::Column,
            ..Request::new(5, 65, 10)
        };
        let plan = plan(request, limits);
        let last = plan.launches().last().expect("four launches");
        let addresses = Addresses {
            a: 0x1000,
            b: 0x2000,
            c: 0x3000,
            bias: 0x4000,
            ..Addresses::default()
        };
        let arguments = plan.arguments(&last, &addresses, 0x5000);
        // Row 4 of A, column 64 of B, element (4, 64) of C.
        assert_eq!(arguments.a, 0x1000 + 4 * 10 * 4);
        assert_eq!(arguments.b, 0x2000 + 64 * 4);
        assert_eq!(arguments.c, 0x3000 + (4 * 65 + 64) * 4);
        assert_eq!(
            (arguments.bias, arguments.workspace),
            (0x4000 + 64 * 4, 0x5000)
        );
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
            Plan::new(&MFMA_FRAGMENT_F32, &problem, &Machine::smallest("gfx1100")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "gemm_mfma_fragment_f32 is not built for gfx1100, only for gfx908, gfx90a, gfx942, gfx950"
        );
    }

    #[test]
    fn other_element_types_are_refused() {
        let request = Request {
            types: ElementTypes::F16,
            ..Request::new(1, 1, 1)
        };
        let problem = request.check().expect("valid");
        let error = Plan::new(&NAIVE_F32, &problem, &Machine::smallest("gfx942")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "gemm_naive_f32 computes f32 from f32, not f16 from f16"
        );
    }

    /// A kernel in linear order with tiles of 4 × 64 × 32.
    const LINEAR: Kernel = Kernel {
        tile: ferrowave_shared::BlockTile { m: 4, n: 64, k: 32 },
        order: TileOrder::Linear,
        ..NAIVE_F32
    };

    #[test]
    fn tiles_in_linear_order_are_along_x() {
        let request = Request {
            batch: 5,
            ..Request::new(12, 128, 7)
        };
        let launches: Vec<_> = plan_of(&LINEAR, request, GridLimits::HIP)
            .launches()
            .collect();
        let [launch] = launches.as_slice() else {
            panic!("{launches:?}");
        };
        assert_eq!(launch.grid, Grid { x: 6, y: 1, z: 5 });
        assert_eq!(launch.parameters.order, 3 << 16 | 8);
        assert_eq!(launch.workspace.size_bytes(), Some(0));
    }

    #[test]
    fn a_grid_that_runs_at_once_on_one_xcd_is_two_dimensional() {
        const SPLIT: Kernel = Kernel {
            reduction: Reduction::SplitK,
            ..LINEAR
        };
        let grid = |kernel, rows: i64, parts, xcds| {
            let machine = Machine {
                compute_units: 2,
                xcds,
                ..Machine::smallest("gfx942")
            };
            let problem = Request::new(4 * rows, 128, 320).check().expect("valid");
            let plan = Plan::with_parts(kernel, &problem, &machine, parts).expect("fits");
            let launch = plan.launches().next().expect("one");
            (launch.grid.x, launch.grid.y, launch.parameters.order)
        };
        // Two units run four waves on each SIMD: eight workgroups of four waves.
        assert_eq!(grid(&LINEAR, 4, 1, 1), (2, 4, TileOrder::PLANE_GRID));
        assert_eq!(grid(&SPLIT, 4, 1, 1), (2, 4, TileOrder::PLANE_GRID));
        assert_eq!(grid(&LINEAR, 5, 1, 1), (10, 1, 3 << 16 | 1));
        assert_eq!(grid(&SPLIT, 2, 2, 1), (8, 1, 3 << 16 | 1));
        assert_eq!(grid(&LINEAR, 4, 1, 2), (8, 1, 3 << 16 | 2));
    }

    #[test]
    fn the_parts_of_split_k_are_workgroups_with_slots() {
        const SPLIT: Kernel = Kernel {
            reduction: Reduction::SplitK,
            ..LINEAR
        };
        let problem = Request::new(12, 128, 320).check().expect("valid");
        let parts = |parts| Plan::with_parts(&SPLIT, &problem, &machine(GridLimits::HIP), parts);
        let plan = parts(3).expect("ten steps");
        let launch = plan.launches().next().expect("one");
        assert_eq!(launch.grid, Grid { x: 18, y: 1, z: 1 });
        assert_eq!(launch.parameters.parts, 3);
        let bytes = WorkspaceBytes {
            all: 256 + 18 * 4 * 64 * 4,
            counters: 6 * 4,
        };
        assert_eq!(plan.workspace_bytes(), Some(bytes));
        let whole = parts(1).expect("one part");
        assert_eq!(whole.workspace_bytes(), Some(WorkspaceBytes::default()));
        for wrong in [0, 11] {
            assert_eq!(
                parts(wrong).unwrap_err().to_string(),
                format!("gemm_naive_f32 cuts this problem into 1 to 10 parts, not {wrong}")
            );
        }
    }

    #[test]
    fn stream_k_has_no_more_workgroups_than_steps() {
        const STREAM: Kernel = Kernel {
            reduction: Reduction::StreamK,
            ..LINEAR
        };
        let grid = |m, n, k| {
            let plan = plan_of(&STREAM, Request::new(m, n, k), GridLimits::HIP);
            let launch = plan.launches().next().expect("one");
            assert_eq!(launch.parameters.parts, launch.grid.x);
            launch.grid.x
        };
        assert_eq!(grid(12, 128, 320), 60);
        assert_eq!(grid(12, 128, 0), 6);
        // Four waves on each SIMD of 304 compute units, as the row states.
        assert_eq!(grid(1200, 1280, 320), 304 * 4);
    }

    #[test]
    fn a_misfit_is_named_with_the_kernel() {
        const ALONG_K: Kernel = Kernel {
            access: Access::WideAlongK,
            ..LINEAR
        };
        let machine = machine(GridLimits::HIP);
        let problem = Request::new(12, 128, 32).check().expect("valid");
        assert_eq!(
            Plan::new(&ALONG_K, &problem, &machine)
                .unwrap_err()
                .to_string(),
            "gemm_naive_f32 reads A and B 16 bytes at a time along k: B is row-major, but must be \
             column-major; other kernels read any layout"
        );
        let request = Request {
            order_b: Order::ColumnMajor,
            ..Request::new(12, 128, 32)
        };
        let plan = plan_of(&ALONG_K, request, GridLimits::HIP);
        let addresses = Addresses {
            a: 4,
            ..Addresses::default()
        };
        let error = plan.check_addresses(&addresses).unwrap_err().to_string();
        assert!(
            error.contains("A begins at 0x4, no multiple of 16"),
            "{error}"
        );
    }
}
