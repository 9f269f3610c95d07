//! Loaded code objects and their kernels.

use std::{ffi::CString, fmt, sync::Arc};

use ferrowave_code_object::{self as code_object, CodeObject, CodeObjectError, KernelMetadata};
use ferrowave_hip_abi::{ihipModule_t, ihipModuleSymbol_t};
use thiserror::Error;

use super::{
    Arguments, Context, DeviceProperties, Handle, LaunchConfig, LaunchError, Stream, launch,
};
use crate::hip::HipError;

/// A code object that is loaded. Clones are the same module; it stays loaded as long as one of its kernels lives.
#[derive(Clone)]
pub struct Module(Arc<Loaded>);

struct Loaded {
    context: Context,
    handle: Handle<ihipModule_t>,
    /// Its bytes, too: HIP may read them later.
    object: CodeObject,
}

/// A kernel of a loaded module.
#[derive(Clone)]
pub struct Kernel {
    module: Module,
    handle: Handle<ihipModuleSymbol_t>,
    metadata: Arc<KernelMetadata>,
}

/// Why a module can't be loaded, or hasn't what it is asked for.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModuleError {
    /// It is no code object.
    #[error("not a code object: {0}")]
    CodeObject(#[from] CodeObjectError),
    /// It is for another GPU, or for another setting of its features.
    #[error("the code object is for {object}, but the device is {device}")]
    WrongGpu {
        /// What it is for.
        object: String,
        /// What the device is.
        device: String,
    },
    /// It has no kernel of that name.
    #[error("no kernel `{name}` in the module, which has {}", .kernels.join(", "))]
    NoKernel {
        /// The name.
        name: String,
        /// Those that there are.
        kernels: Vec<String>,
    },
    /// It has no variable of that name.
    #[error("no variable `{name}` in the module")]
    NoVariable {
        /// The name.
        name: String,
    },
    /// HIP's.
    #[error(transparent)]
    Hip(#[from] HipError),
}

impl Module {
    pub(super) fn load(context: &Context, bytes: &[u8]) -> Result<Self, ModuleError> {
        let object = CodeObject::parse(bytes)?;
        check_target(object.target(), context.device().properties())?;
        let api = context.bind()?;
        // SAFETY: the bytes were parsed, and stay as long as the module.
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

    /// The context that it belongs to.
    pub fn context(&self) -> &Context {
        &self.0.context
    }

    /// A kernel by its name in the source.
    ///
    /// # Errors
    /// [`ModuleError::NoKernel`] with those that there are; HIP's.
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

    /// Address and length in bytes of a variable.
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

/// Refuses code for another GPU, or for another setting of the device's features.
fn check_target(target: code_object::Target, device: &DeviceProperties) -> Result<(), ModuleError> {
    let features = [("xnack", target.xnack), ("sramecc", target.sramecc)];
    let runs = device.gpu_name() == target.gpu.name()
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
            // Kernels that still run need their code.
            let done = api.device_synchronize();
            // SAFETY: from `module_load`; kernels keep the module, so that none is left.
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
    /// Its name in the source.
    pub fn name(&self) -> &str {
        &self.metadata.name
    }

    /// What its code object says about it.
    pub fn metadata(&self) -> &KernelMetadata {
        &self.metadata
    }

    /// The module that it belongs to.
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

    /// Launches the kernel in a stream; it may run after this returns, and what goes wrong in it is told by who waits.
    ///
    /// Before the call, grid, block, LDS and the arguments' sizes are checked against the device and the kernel's
    /// metadata.
    ///
    /// # Errors
    /// A [`LaunchError`] with what was asked for and what is allowed; nothing is launched then.
    ///
    /// # Safety
    /// What cannot be checked, and so is the caller's to promise:
    /// - the arguments mean what the kernel takes them for: each pointer is a device address of the type and length
    ///   that the kernel reads and writes with this grid, and lives until the launch is done;
    /// - no other launch, copy or host access touches what the kernel writes while it runs, unless the kernel allows it;
    /// - the launch's LDS is as much as the kernel uses with this block;
    /// - the kernel itself is sound: its own accesses stay inside those buffers, and it ends.
    pub unsafe fn launch(
        &self,
        stream: &Stream,
        config: &LaunchConfig,
        arguments: &Arguments,
    ) -> Result<(), LaunchError> {
        let device = self.module.context().device();
        if stream.context().device() != device {
            return Err(LaunchError::OtherDevice {
                kernel: self.name().to_owned(),
                device: device.choice().to_owned(),
                stream: stream.context().device().choice().to_owned(),
            });
        }
        launch::check(&self.metadata, device.properties(), config, arguments)?;
        let api = self.module.context().bind()?;
        let LaunchConfig {
            grid,
            block,
            dynamic_lds_bytes,
        } = *config;
        // SAFETY: the module is loaded as long as this, the stream is of the same device, the rest is the caller's
        // promise.
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
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Kernel").field(&self.metadata.name).finish()
    }
}
