//! Libraries: code objects that are loaded when they are first asked for a kernel.

use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use ferrowave_hip_abi::hipLibrary_t;

use super::module::{MODULES, Module};
use crate::{error::Failure, handles::Handles, image::Image, runtime::Runtime};

/// A library.
pub(crate) struct Library {
    state: Mutex<State>,
}

/// Finds a library's code object.
type Source = Box<dyn Fn() -> Result<Image, Failure> + Send + Sync>;

enum State {
    Unloaded(Source),
    Loaded {
        module: Arc<Module>,
        /// The module's handle, if the program asked for it.
        handle: Option<usize>,
    },
}

/// Libraries by handle.
pub(crate) static LIBRARIES: LazyLock<Handles<Library>> = LazyLock::new(Handles::new);

/// The library of a handle.
pub(crate) fn library(handle: hipLibrary_t) -> Result<Arc<Library>, Failure> {
    let found = LIBRARIES.get(handle.addr());
    found.ok_or_else(|| Failure::handle("library", handle.addr()))
}

impl Library {
    pub(crate) fn new(
        source: impl Fn() -> Result<Image, Failure> + Send + Sync + 'static,
    ) -> Arc<Self> {
        let state = Mutex::new(State::Unloaded(Box::new(source)));
        Arc::new(Library { state })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A poisoned lock is ignored: the state is valid between statements.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The library's code, which is loaded on the current device if it was not before. Loading is tried again after it
    /// failed.
    pub(crate) fn module(&self) -> Result<Arc<Module>, Failure> {
        let mut state = self.state();
        match &*state {
            State::Loaded { module, .. } => Ok(Arc::clone(module)),
            State::Unloaded(source) => {
                let module = Module::load(Runtime::get().current()?, &source()?)?;
                *state = State::Loaded {
                    module: Arc::clone(&module),
                    handle: None,
                };
                Ok(module)
            }
        }
    }

    /// The library's code, if it was loaded.
    pub(crate) fn loaded(&self) -> Option<Arc<Module>> {
        match &*self.state() {
            State::Loaded { module, .. } => Some(Arc::clone(module)),
            State::Unloaded(_) => None,
        }
    }

    /// The handle of the library's code as a module, always the same; of none before it is loaded.
    pub(crate) fn module_handle(&self) -> Option<usize> {
        match &mut *self.state() {
            State::Loaded { module, handle } => {
                Some(*handle.get_or_insert_with(|| MODULES.insert(Arc::clone(module))))
            }
            State::Unloaded(_) => None,
        }
    }
}

/// With the library, its module's handle ends.
impl Drop for Library {
    fn drop(&mut self) {
        if let State::Loaded {
            handle: Some(handle),
            ..
        } = *self.state()
        {
            MODULES.remove(handle);
        }
    }
}
