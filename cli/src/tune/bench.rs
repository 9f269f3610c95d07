//! Modelled cycles of plans.

use ferrowave::{
    gemm::{Gemm, Machine, Plan, Problem, tuned::checksum},
    hip::{Context, Device, DeviceSelector},
};
use ferrowave_code_object::CodeObject;
use ferrowave_gpu::{Occupancy, Product};
use ferrowave_hip::timing::{self, Settings};
use ferrowave_launch::DeviceOption;
use ferrowave_shared::Kernel;
use ferrowave_timing::Parameters;

use crate::cli::{Failure, code_object, product::run_unset};

/// The kernels of a machine, on the emulator.
pub(crate) struct Bench {
    gemm: Gemm,
    code_object: CodeObject,
    parameters: Parameters,
}

impl Bench {
    /// Loads the kernels for a machine. The options limit its launches.
    pub(crate) fn new(product: Product, options: &DeviceOption) -> Result<Self, Failure> {
        let parameters = Parameters::try_from(product).map_err(Failure::usage)?;
        let device = Device::open(&DeviceSelector::of_product(product)).map_err(Failure::failed)?;
        options.limit_launches(&device)?;
        let bytes = code_object(&device)?;
        let context = Context::new(&device).map_err(Failure::failed)?;
        let gemm = Gemm::new(&context, bytes).map_err(Failure::failed)?;
        let specifications = product.specifications();
        let machine = Machine {
            compute_units: specifications.compute_units,
            xcds: specifications.xcds,
            ..Machine::of(&device)
        };
        Ok(Self {
            gemm: gemm.planned_for(machine),
            code_object: CodeObject::parse(bytes).map_err(Failure::failed)?,
            parameters,
        })
    }

    /// What launches are planned for.
    pub(crate) fn machine(&self) -> &Machine {
        self.gemm.machine()
    }

    /// The checksum of a kernel's machine code.
    pub(crate) fn code(&self, kernel: &Kernel) -> Result<u32, Failure> {
        let code = self.code_object.kernel(kernel.symbol).and_then(|built| {
            let size = built.code.end - built.code.start;
            self.code_object.file_bytes(built.code.start, size)
        });
        code.map(checksum)
            .ok_or_else(|| Failure::failed(format!("{} is not in the code object", kernel.symbol)))
    }

    /// Workgroups of a kernel that a compute unit holds at once.
    pub(crate) fn resident(&self, kernel: &Kernel) -> u32 {
        let built = self.code_object.kernel(kernel.symbol);
        built.map_or(1, |built| {
            let resources = built.resources(kernel.block.threads() as u32, kernel.lds_bytes as u32);
            let gpu = self.parameters.hardware.gpu;
            Occupancy::of(gpu, resources)
                .workgroups_per_compute_unit
                .max(1)
        })
    }

    /// The modelled cycles of a kernel with k in `parts`. Runs only what the model needs.
    pub(crate) fn cycles(
        &self,
        kernel: &'static Kernel,
        problem: &Problem,
        parts: u32,
    ) -> Result<f64, Failure> {
        let plan =
            Plan::with_parts(kernel, problem, self.machine(), parts).map_err(Failure::failed)?;
        let settings = Settings {
            machine: Some(self.parameters),
            estimate: true,
            ..Settings::default()
        };
        // The size of the one that is left from another problem would change what fits in the Infinity Cache.
        self.gemm.release_workspace();
        let (ran, timings) = timing::during(settings, || run_unset(&self.gemm, &plan));
        ran?;
        if let Some(error) = timings.missed.into_iter().next() {
            return Err(Failure::failed(error));
        }
        Ok(timings
            .modelled
            .iter()
            .map(|timing| timing.cycles as f64)
            .sum())
    }
}
