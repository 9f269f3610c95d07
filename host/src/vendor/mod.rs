//! AMD's libraries for matrix products, for comparison: rocBLAS and hipBLASLt.
//!
//! They are loaded at run time and called through their C interfaces, for the same [`Problem`]s, on the same operands
//! and between the same HIP events as [`Gemm`](crate::gemm::Gemm)'s kernels. Only α·A·B + β·C is supported here,
//! without bias and operations. On the emulator, a library needs a process in which
//! the emulator is `libamdhip64.so`, as in reports.
//!
//! Some failures cannot be caught: rocBLAS ends the process if it has no kernels for the GPU.

mod column_major;
mod hipblaslt;
mod library;
mod rocblas;

use std::{
    fmt,
    path::{Path, PathBuf},
    time::Duration,
};

use ferrowave_shared::{Bias, ElementType};
use thiserror::Error;

use crate::{
    gemm::{Addresses, OperandError, Operands, Operation, Problem},
    hip::{BufferError, Context, Event, HipError, Stream},
};
use column_major::ColumnMajor;
use hipblaslt::HipBlasLt;
use library::Found;
use rocblas::RocBlas;

/// A library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Vendor {
    /// `librocblas.so`: f32, f64, f16, bf16 and i8.
    RocBlas,
    /// `libhipblaslt.so`: f32, xf32, f16, bf16, i8 and 8-bit floats.
    HipBlasLt,
}

impl Vendor {
    /// Both libraries.
    pub const ALL: [Vendor; 2] = [Vendor::RocBlas, Vendor::HipBlasLt];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Vendor::RocBlas => "rocBLAS",
            Vendor::HipBlasLt => "hipBLASLt",
        }
    }

    /// The environment variable that names its file, by path or by a name that the system searches for.
    pub const fn variable(self) -> &'static str {
        match self {
            Vendor::RocBlas => "FERROWAVE_ROCBLAS_LIBRARY",
            Vendor::HipBlasLt => "FERROWAVE_HIPBLASLT_LIBRARY",
        }
    }

    /// The names of its file, newest first. The last is installed only with development files.
    pub const fn library_names(self) -> &'static [&'static str] {
        match self {
            Vendor::RocBlas => &["librocblas.so.5", "librocblas.so.4", "librocblas.so"],
            Vendor::HipBlasLt => &["libhipblaslt.so.1", "libhipblaslt.so.0", "libhipblaslt.so"],
        }
    }
}

impl fmt::Display for Vendor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Why a library can't compute a problem.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum VendorError {
    /// None of the usual names is a library that can be loaded.
    #[error("{vendor} was not found ({}); set {} to its path", .tried.join("; "), .vendor.variable())]
    NotFound {
        /// The library.
        vendor: Vendor,
        /// The system's message for each name.
        tried: Vec<String>,
    },
    /// The named library can't be loaded.
    #[error("{vendor}: `{}` cannot be loaded: {reason}", .path.display())]
    Named {
        /// The library.
        vendor: Vendor,
        /// Its path or name.
        path: PathBuf,
        /// The system's message.
        reason: String,
    },
    /// The library lacks a function.
    #[error("{vendor}: `{}` lacks the function {function}", .library.display())]
    MissingFunction {
        /// The library.
        vendor: Vendor,
        /// Its file.
        library: PathBuf,
        /// The function.
        function: &'static str,
    },
    /// The library's version has another interface.
    #[error("{vendor} {version} is too old; {least} or later is needed")]
    TooOld {
        /// The library.
        vendor: Vendor,
        /// The version that it reports.
        version: String,
        /// The first version with the interface.
        least: &'static str,
    },
    /// A function of the library failed.
    #[error("{vendor}: {function} failed with {name} ({status})")]
    Status {
        /// The library.
        vendor: Vendor,
        /// The function.
        function: &'static str,
        /// The status that it returned.
        status: i32,
        /// The status's name.
        name: &'static str,
    },
    /// The library has no kernel for the problem.
    #[error("{vendor} has no kernel for the problem")]
    NoKernel {
        /// The library.
        vendor: Vendor,
    },
    /// The library, as it is used here, does not support the problem.
    #[error("{vendor} does not compute {what}")]
    Unsupported {
        /// The library.
        vendor: Vendor,
        /// The unsupported part of the problem.
        what: String,
    },
    /// A matrix does not fit the problem.
    #[error(transparent)]
    Operand(#[from] OperandError),
    /// The library's workspace can't be allocated.
    #[error("cannot allocate a workspace of {bytes} bytes: {error}")]
    Workspace {
        /// Its size.
        bytes: usize,
        /// Why it can't be allocated.
        error: BufferError,
    },
    /// An error of HIP.
    #[error(transparent)]
    Hip(#[from] HipError),
}

enum Backend {
    RocBlas(RocBlas),
    HipBlasLt(HipBlasLt),
}

/// A library, loaded for a device.
pub struct VendorGemm {
    // Declared before the stream, so that it is dropped first: it uses the stream until then.
    backend: Backend,
    version: String,
    context: Context,
    stream: Stream,
    start: Event,
    end: Event,
}

/// A problem that a library is prepared for.
pub struct VendorProduct<'a> {
    gemm: &'a VendorGemm,
    problem: Problem,
    call: ColumnMajor,
    plan: Option<hipblaslt::Plan<'a>>,
}

impl VendorGemm {
    /// Loads a library: the file that [`Vendor::variable`] names, or else the first of [`Vendor::library_names`], in
    /// the folder of the HIP library, where the system finds it, or in [`rocm_folders`](crate::hip::system::rocm_folders).
    ///
    /// # Errors
    /// If it can't be loaded, lacks a function, is too old, or does not start.
    pub fn open(vendor: Vendor, context: &Context) -> Result<Self, VendorError> {
        let library = library::find(vendor, context.device().api().source())?;
        Self::start(vendor, &library, context)
    }

    /// Loads a library from a file.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn open_file(vendor: Vendor, path: &Path, context: &Context) -> Result<Self, VendorError> {
        Self::start(vendor, &library::at(vendor, path)?, context)
    }

    fn start(vendor: Vendor, library: &Found, context: &Context) -> Result<Self, VendorError> {
        let stream = context.stream()?;
        context.bind()?;
        let (backend, version) = match vendor {
            Vendor::RocBlas => {
                let (backend, version) = RocBlas::new(library, &stream)?;
                (Backend::RocBlas(backend), version)
            }
            Vendor::HipBlasLt => {
                let (backend, version) = HipBlasLt::new(library)?;
                (Backend::HipBlasLt(backend), version)
            }
        };
        Ok(VendorGemm {
            backend,
            version,
            context: context.clone(),
            stream,
            start: context.event()?,
            end: context.event()?,
        })
    }

    /// Which library it is.
    pub fn vendor(&self) -> Vendor {
        match &self.backend {
            Backend::RocBlas(_) => Vendor::RocBlas,
            Backend::HipBlasLt(_) => Vendor::HipBlasLt,
        }
    }

    /// The version that the library reports.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Prepares a problem: work before the first launch that should not be timed.
    ///
    /// # Errors
    /// If the library does not support it.
    pub fn product(&self, problem: &Problem) -> Result<VendorProduct<'_>, VendorError> {
        let vendor = self.vendor();
        let refused = |what: String| Err(VendorError::Unsupported { vendor, what });
        if problem.bias() != Bias::None {
            return refused("a bias as problems define it".into());
        }
        for operation in [problem.prologue(), problem.epilogue()] {
            if operation != Operation::None {
                return refused(format!("the operation `{operation}`"));
            }
        }
        if problem.gate() {
            return refused("a gate".into());
        }
        if problem.types().is_sparse {
            return refused("a sparse A".into());
        }
        let call = ColumnMajor::of(problem);
        self.context.bind()?;
        let plan = match &self.backend {
            Backend::RocBlas(library) => {
                library.check(problem.types())?;
                None
            }
            Backend::HipBlasLt(library) => {
                Some(library.plan(problem.types(), &call, &self.context)?)
            }
        };
        Ok(VendorProduct {
            gemm: self,
            problem: *problem,
            call,
            plan,
        })
    }
}

impl VendorProduct<'_> {
    /// Computes the product and waits for it. Returns the time between HIP events around the library's launches, which
    /// contains what the library takes on the host.
    ///
    /// # Errors
    /// If an operand does not fit the problem, or the library or the device fails.
    pub fn run(&self, operands: Operands<'_>) -> Result<Duration, VendorError> {
        self.run_many(&mut [operands], 1)
    }

    /// Computes `runs` products one behind the other without waiting between them, with the operands in turn, and waits
    /// for the last. Returns the time between HIP events around all of them.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn run_many(
        &self,
        operands: &mut [Operands<'_>],
        runs: usize,
    ) -> Result<Duration, VendorError> {
        let gemm = self.gemm;
        let mut addresses = Vec::new();
        for operands in operands {
            operands.check(&self.problem, gemm.context.device())?;
            addresses.push(operands.addresses());
        }
        gemm.start.record(&gemm.stream)?;
        let mut run_all = addresses.iter().cycle().take(runs);
        let launched = run_all.try_for_each(|addresses| self.enqueue(addresses));
        gemm.end.record(&gemm.stream)?;
        // Also after an error: what was launched before it uses the operands.
        gemm.stream.synchronize()?;
        launched?;
        Ok(gemm.end.duration_since(&gemm.start)?)
    }

    /// Launches the product with checked operands.
    fn enqueue(&self, addresses: &Addresses) -> Result<(), VendorError> {
        let gemm = self.gemm;
        let scalars = [self.problem.alpha(), self.problem.beta()]
            .map(|factor| Scalar::new(factor, self.problem.types().accumulator));
        // SAFETY: the matrices have the length of the problem's layouts, which the call describes, are on this device
        // and live until the caller synchronizes the stream; C is borrowed mutably. The stream is of the context's
        // device, which recording the event has made current.
        unsafe {
            match (&gemm.backend, &self.plan) {
                (Backend::HipBlasLt(library), Some(plan)) => {
                    library.run(plan, addresses, &scalars, &gemm.stream)
                }
                (Backend::RocBlas(library), _) => {
                    library.run(self.problem.types(), &self.call, addresses, &scalars)
                }
                (Backend::HipBlasLt(_), None) => Err(VendorError::NoKernel {
                    vendor: Vendor::HipBlasLt,
                }),
            }
        }
    }
}

/// α or β in the accumulator type; the libraries read it through a pointer.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(8))]
struct Scalar([u8; 8]);

impl Scalar {
    fn new(value: f64, accumulator: ElementType) -> Self {
        let mut bytes = [0; 8];
        match accumulator {
            ElementType::F64 => bytes = value.to_ne_bytes(),
            // A checked problem's factor of integers is an i32.
            ElementType::I32 => bytes[..4].copy_from_slice(&(value as i32).to_ne_bytes()),
            _ => bytes[..4].copy_from_slice(&(value as f32).to_ne_bytes()),
        }
        Scalar(bytes)
    }
}

#[cfg(test)]
mod tests;
