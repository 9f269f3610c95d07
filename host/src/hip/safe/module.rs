//! Loaded code objects and their kernels.

use std::{ffi::CString, fmt, sync::Arc};

use ferrowave_code_object::{self as code_object, CodeObject, CodeObjectError, KernelMetadata};
use ferrowave_hip_abi::{ihipModule_t, ihipModuleSymbol_t};
use thiserror::Error;

use super::{
    Arguments, Context, DeviceProperties, Event, Handle, LaunchConfig, LaunchError, Stream, launch,
};
use crate::hip::{Api, HipError};

/// A loaded code object. Clones are the same module. It stays loaded as long as one of its kernels lives.
#[derive(Clone)]
pub struct Module(Arc<Loaded>);

struct Loaded {
    context: Context,
    handle: Handle<ihipModule_t>,
    /// Keeps the bytes, too, since HIP may read them later.
    object: CodeObject,
}

/// A kernel of a loaded module.
#[derive(Clone)]
pub struct Kernel {
    module: Module,
    handle: Handle<ihipModuleSymbol_t>,
    metadata: Arc<KernelMetadata>,
}

/// Why a module can't be loaded, or a kernel or variable can't be found.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModuleError {
    /// The bytes are not a code object.
    #[error("not a code object: {0}")]
    CodeObject(#[from] CodeObjectError),
    /// The code object is for another GPU, or for another setting of its features.
    #[error("the code object is for {object}, but the device is {device}")]
    WrongGpu {
        /// The code object's target.
        object: String,
        /// The device's target.
        device: String,
    },
    /// The module has no kernel with that name.
    #[error("no kernel `{name}` in the module, which has {}", .kernels.join(", "))]
    NoKernel {
        /// The name.
        name: String,
        /// The module's kernels.
        kernels: Vec<String>,
    },
    /// The module has no variable with that name.
    #[error("no variable `{name}` in the module")]
    NoVariable {
        /// The name.
        name: String,
    },
    /// An error of HIP.
    #[error(transparent)]
    Hip(#[from] HipError),
}

impl Module {
    pub(super) fn load(context: &Context, bytes: &[u8]) -> Result<Self, ModuleError> {
        let object = CodeObject::parse(bytes)?;
        check_target(object.target(), context.device().properties())?;
        let api = context.bind()?;
        // SAFETY: the bytes are a code object, and live as long as the module.
        let handle = Handle(unsafe { api.module_load(object.bytes()) }?);
        Ok(Module(Arc::new(Loaded {
            context: context.clone(),
            handle,
            object,
        })))
    }

    /// The code object.
    pub fn code_object(&self) -> &CodeObject {
        &self.0.object
    }

    /// The context that the module belongs to.
    pub fn context(&self) -> &Context {
        &self.0.context
    }

    /// A kernel by its name in the source.
    ///
    /// # Errors
    /// [`ModuleError::NoKernel`] with the module's kernels; HIP's.
    pub fn kernel(&self, name: &str) -> Result<Kernel, ModuleError> {
        let kernels = self.0.object.kernels();
        let (Some(kernel), Ok(c_name)) = (self.0.object.kernel(name), CString::new(name)) else {
            let kernels = kernels
                .iter()
                .map(|kernel| kernel.metadata.name.clone())
                .collect();
            return Err(ModuleError::NoKernel {
                name: name.to_owned(),
                kernels,
            });
        };
        let api = self.0.context.bind()?;
        // SAFETY: the module is loaded as long as this.
        let handle = Handle(unsafe { api.module_function(self.0.handle.0, &c_name) }?);
        Ok(Kernel {
            module: self.clone(),
            handle,
            metadata: Arc::clone(&kernel.metadata),
        })
    }

    /// The address of a variable, and its length in bytes.
    ///
    /// # Errors
    /// [`ModuleError::NoVariable`]; HIP's.
    pub fn variable(&self, name: &str) -> Result<(u64, usize), ModuleError> {
        let (Some(_), Ok(c_name)) = (self.0.object.global(name), CString::new(name)) else {
            return Err(ModuleError::NoVariable {
                name: name.to_owned(),
            });
        };
        let api = self.0.context.bind()?;
        // SAFETY: the module is loaded as long as this.
        Ok(unsafe { api.module_global(self.0.handle.0, &c_name) }?)
    }
}

/// Rejects code for another GPU, or for another setting of the device's features.
fn check_target(target: code_object::Target, device: &DeviceProperties) -> Result<(), ModuleError> {
    let features = [("xnack", target.xnack), ("sramecc", target.sramecc)];
    let runs = device.gpu().is_some_and(|gpu| target.runs_on(gpu))
        && features
            .into_iter()
            .all(|(name, setting)| device.feature(name).is_none_or(|on| setting.allows(on)));
    if runs {
        return Ok(());
    }
    Err(ModuleError::WrongGpu {
        object: target.to_string(),
        device: device.target.clone(),
    })
}

impl Drop for Loaded {
    fn drop(&mut self) {
        self.context.release(|api| {
            // Running kernels need their code.
            let done = api.device_synchronize();
            // SAFETY: the handle is from `module_load`; kernels keep the module alive, so none is left.
            let unloaded = unsafe { api.module_unload(self.handle.0) };
            done.and(unloaded)
        });
    }
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Module").field(&self.0.handle.0).finish()
    }
}

impl Kernel {
    /// The kernel's name in the source.
    pub fn name(&self) -> &str {
        &self.metadata.name
    }

    /// The kernel's metadata in the code object.
    pub fn metadata(&self) -> &KernelMetadata {
        &self.metadata
    }

    /// The module that the kernel belongs to.
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// Workgroups of `block_threads` work-items that a compute unit holds at once.
    ///
    /// # Errors
    /// HIP's.
    pub fn occupancy(&self, block_threads: u32, dynamic_lds_bytes: u32) -> Result<u32, HipError> {
        let api = self.module.context().bind()?;
        // SAFETY: the module is loaded as long as this.
        unsafe { api.occupancy(self.handle.0, block_threads, dynamic_lds_bytes) }
    }

    /// Launches the kernel in a stream. It may run after this returns; calls that wait for it return its errors.
    ///
    /// Grid, block, LDS and the arguments' sizes are checked against the device and the kernel's metadata first.
    ///
    /// # Errors
    /// A [`LaunchError`] with the requested and the allowed value; nothing is launched then.
    ///
    /// # Safety
    /// The caller promises what cannot be checked:
    /// - the arguments have the meaning that the kernel expects: each pointer is a device address of memory with the
    ///   type and length that the kernel reads and writes with this grid, and which lives until the launch is done;
    /// - no other launch, copy or host access touches memory that the kernel writes while it runs, unless the kernel
    ///   allows that;
    /// - the launch has as much LDS as the kernel uses with this block;
    /// - the kernel itself is sound: its accesses stay inside those buffers, and it ends.
    pub unsafe fn launch(
        &self,
        stream: &Stream,
        config: &LaunchConfig,
        arguments: &Arguments,
    ) -> Result<(), LaunchError> {
        let api = self.checked(stream, config, arguments)?;
        let LaunchConfig {
            grid,
            block,
            dynamic_lds_bytes,
        } = *config;
        // SAFETY: the module is loaded as long as this, the stream is on the same device, and the caller promises the
        // rest.
        unsafe {
            api.launch(
                self.handle.0,
                grid,
                block,
                dynamic_lds_bytes,
                stream.handle(),
                arguments.bytes(),
            )
        }?;
        Ok(())
    }

    /// As [`Self::launch`]. Once it has run, the time from `start` to `stop` is the kernel's: on a GPU, by the GPU's time
    /// stamps of the kernel alone. If the HIP library cannot tell those, the events are recorded in the stream, and the time
    /// contains what the host takes to launch.
    ///
    /// The events are of no use for the time of several kernels: see
    /// [`Api::launch_between`](crate::hip::Api::launch_between).
    ///
    /// # Errors
    /// As [`Self::launch`].
    ///
    /// # Safety
    /// As [`Self::launch`].
    pub unsafe fn launch_timed(
        &self,
        stream: &Stream,
        config: &LaunchConfig,
        arguments: &Arguments,
        start: &Event,
        stop: &Event,
    ) -> Result<(), LaunchError> {
        let api = self.checked(stream, config, arguments)?;
        let LaunchConfig {
            grid,
            block,
            dynamic_lds_bytes,
        } = *config;
        // SAFETY: the module is loaded as long as this, the stream is on the same device, the work-items have been counted,
        // events are made without flags, and the caller promises the rest.
        let launched = unsafe {
            api.launch_between(
                self.handle.0,
                grid,
                block,
                dynamic_lds_bytes,
                stream.handle(),
                arguments.bytes(),
                start.handle(),
                stop.handle(),
            )
        };
        match launched {
            Some(result) => Ok(result?),
            None => {
                start.record(stream)?;
                // SAFETY: as the caller promises.
                unsafe { self.launch(stream, config, arguments) }?;
                Ok(stop.record(stream)?)
            }
        }
    }

    /// Checks a launch, and makes the device current.
    fn checked(
        &self,
        stream: &Stream,
        config: &LaunchConfig,
        arguments: &Arguments,
    ) -> Result<&Api, LaunchError> {
        let context = self.module.context();
        let device = context.device();
        if stream.context().device() != device {
            return Err(LaunchError::OtherDevice {
                kernel: self.name().to_owned(),
                device: device.choice().to_owned(),
                stream: stream.context().device().choice().to_owned(),
            });
        }
        launch::check(&self.metadata, device.properties(), config, arguments)?;
        Ok(context.bind()?)
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Kernel").field(&self.metadata.name).finish()
    }
}
