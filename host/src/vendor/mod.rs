//! AMD's own libraries of matrix products, to compare with: rocBLAS and hipBLASLt.
//!
//! They are found at run time and called through their C interfaces, for the same [`Problem`]s, on the same operands and
//! between the same HIP events as [`Gemm`](crate::gemm::Gemm)'s kernels. They compute α·A·B + β·C, and no more of what a
//! problem may ask for. Their kernels run on GPUs only: a report leaves them out on the emulator.
//!
//! Some failures cannot be caught here: rocBLAS ends the process if it has no kernels for the GPU.

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
    gemm::{OperandError, Operands, Operation, Problem},
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
    /// Both of them.
    pub const ALL: [Vendor; 2] = [Vendor::RocBlas, Vendor::HipBlasLt];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Vendor::RocBlas => "rocBLAS",
            Vendor::HipBlasLt => "hipBLASLt",
        }
    }

    /// The environment variable that names its file, by path or by a name for the system to find.
    pub const fn variable(self) -> &'static str {
        match self {
            Vendor::RocBlas => "FERROWAVE_ROCBLAS_LIBRARY",
            Vendor::HipBlasLt => "FERROWAVE_HIPBLASLT_LIBRARY",
        }
    }

    /// What its file is called, newest first; the last is there only with development files.
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

/// Why a library computes nothing.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum VendorError {
    /// None of the usual names is a library that can be loaded.
    #[error("{vendor} was not found ({}); {} may name it", .tried.join("; "), .vendor.variable())]
    NotFound {
        /// The library.
        vendor: Vendor,
        /// What the system said to each name.
        tried: Vec<String>,
    },
    /// A library that was named can't be loaded.
    #[error("{vendor}: `{}` cannot be loaded: {reason}", .path.display())]
    Named {
        /// The library.
        vendor: Vendor,
        /// Its name.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// It lacks a function.
    #[error("{vendor}: `{}` lacks the function {function}", .library.display())]
    MissingFunction {
        /// The library.
        vendor: Vendor,
        /// Its file.
        library: PathBuf,
        /// The function.
        function: &'static str,
    },
    /// Its interface is another one.
    #[error("{vendor} {version} is too old; {least} or later is needed")]
    TooOld {
        /// The library.
        vendor: Vendor,
        /// What it says it is.
        version: String,
        /// The first version with the interface.
        least: &'static str,
    },
    /// A function did not succeed.
    #[error("{vendor}: {function} failed with {name} ({status})")]
    Status {
        /// The library.
        vendor: Vendor,
        /// The function.
        function: &'static str,
        /// What it returned.
        status: i32,
        /// Its name.
        name: &'static str,
    },
    /// It has no kernel for a problem.
    #[error("{vendor} has no kernel for the problem")]
    NoKernel {
        /// The library.
        vendor: Vendor,
    },
    /// It computes nothing of the kind.
    #[error("{vendor} does not compute {what}")]
    Unsupported {
        /// The library.
        vendor: Vendor,
        /// What the problem has.
        what: String,
    },
    /// A matrix is not the problem's.
    #[error(transparent)]
    Operand(#[from] OperandError),
    /// There is no room for its workspace.
    #[error("no workspace of {bytes} bytes: {error}")]
    Workspace {
        /// How much it takes.
        bytes: usize,
        /// Why there is none.
        error: BufferError,
    },
    /// HIP's.
    #[error(transparent)]
    Hip(#[from] HipError),
}

enum Backend {
    RocBlas(RocBlas),
    HipBlasLt(HipBlasLt),
}

/// A library, loaded for a device.
pub struct VendorGemm {
    // Before the stream, which it uses until it is dropped.
    backend: Backend,
    version: String,
    context: Context,
    stream: Stream,
    start: Event,
    end: Event,
}

/// A problem that a library has prepared itself for.
pub struct VendorProduct<'a> {
    gemm: &'a VendorGemm,
    problem: Problem,
    call: ColumnMajor,
    plan: Option<hipblaslt::Plan<'a>>,
}

impl VendorGemm {
    /// Loads a library: the file that [`Vendor::variable`] names; or else one of [`Vendor::library_names`], beside the HIP
    /// library if that is known by its path, or where the system finds it.
    ///
    /// # Errors
    /// If it is not there, not what it should be, or does not start.
    pub fn open(vendor: Vendor, context: &Context) -> Result<Self, VendorError> {
        let library = library::find(vendor, context.device().api().source())?;
        Self::start(vendor, &library, context)
    }

    /// The same of a file.
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

    /// Its version, as it says itself.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Prepares a problem: what takes time before the first launch, but belongs to none.
    ///
    /// # Errors
    /// If the library does not compute it.
    pub fn product(&self, problem: &Problem) -> Result<VendorProduct<'_>, VendorError> {
        let vendor = self.vendor();
        let refused = |what: String| Err(VendorError::Unsupported { vendor, what });
        if problem.bias() != Bias::None {
            return refused("a bias as problems here have it".into());
        }
        for operation in [problem.prologue(), problem.epilogue()] {
            if operation != Operation::None {
                return refused(format!("the operation `{operation}`"));
            }
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
    /// Computes it and waits for it; the time between HIP events around the library's launches.
    ///
    /// # Errors
    /// If an operand is not the problem's, or the library or the device fails.
    pub fn run(&self, operands: Operands<'_>) -> Result<Duration, VendorError> {
        let gemm = self.gemm;
        operands.check(&self.problem, gemm.context.device())?;
        let addresses = operands.addresses();
        let scalars = [self.problem.alpha(), self.problem.beta()]
            .map(|factor| Scalar::new(factor, self.problem.types().accumulator));
        gemm.start.record(&gemm.stream)?;
        // SAFETY: the matrices are as long as the problem's layouts, which the call describes, are of this device and live
        // until the synchronization below; C is borrowed for writing. The stream is the context's, which recording the
        // event has made current.
        unsafe {
            match (&gemm.backend, &self.plan) {
                (Backend::HipBlasLt(library), Some(plan)) => {
                    library.run(plan, &addresses, &scalars, &gemm.stream)
                }
                (Backend::RocBlas(library), _) => {
                    library.run(self.problem.types(), &self.call, &addresses, &scalars)
                }
                (Backend::HipBlasLt(_), None) => Err(VendorError::NoKernel {
                    vendor: Vendor::HipBlasLt,
                }),
            }
        }?;
        gemm.end.record(&gemm.stream)?;
        gemm.stream.synchronize()?;
        Ok(gemm.end.duration_since(&gemm.start)?)
    }
}

/// α or β in the type of the sums, as the libraries read it through a pointer.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(8))]
struct Scalar([u8; 8]);

impl Scalar {
    fn new(value: f64, accumulator: ElementType) -> Self {
        let mut bytes = [0; 8];
        match accumulator {
            ElementType::F64 => bytes = value.to_ne_bytes(),
            // A problem's factor of integers is one.
            ElementType::I32 => bytes[..4].copy_from_slice(&(value as i32).to_ne_bytes()),
            _ => bytes[..4].copy_from_slice(&(value as f32).to_ne_bytes()),
        }
        Scalar(bytes)
    }
}

#[cfg(test)]
mod tests;
