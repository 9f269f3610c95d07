//! Links bitcode of several programs to one code object.

use std::{
    ffi::{CStr, CString, c_char},
    sync::{Mutex, MutexGuard, PoisonError},
};

use ferrowave_hip_abi::{hipJitInputType, hiprtcResult};

use super::{
    comgr::{Action, Comgr, Kind},
    current_target,
    options::LINK_APPEND_VARIABLE,
};
use crate::error::{RtcFailure, copy_text, is_absent};

/// A caller's buffer for messages.
#[derive(Clone, Copy, Default)]
pub(super) struct LogBuffer {
    /// The address, or 0.
    pub(super) address: usize,
    pub(super) bytes: usize,
}

impl LogBuffer {
    fn write(self, text: &str) {
        let to = std::ptr::with_exposed_provenance_mut::<c_char>(self.address);
        if let (false, Some(room)) = (is_absent(to), self.bytes.checked_sub(1)) {
            // SAFETY: hiprtc's contract: the buffer has that many bytes, and outlives the link.
            unsafe { copy_text(text, to, room) }
        }
    }
}

/// The options of `hiprtcLinkCreate`.
pub(super) struct LinkOptions {
    pub(super) optimization_level: u32,
    /// Options for compiling bitcode.
    pub(super) compiler: Vec<CString>,
    pub(super) info: LogBuffer,
    pub(super) error: LogBuffer,
}

/// A link state.
pub(super) struct Link(Mutex<State>);

pub(super) struct State {
    options: LinkOptions,
    inputs: Vec<(Kind, CString, Vec<u8>)>,
    /// Does not move after the first success, because callers keep its address.
    linked: Option<Box<[u8]>>,
}

/// The comgr kind of a type of input, if it is bitcode.
pub(super) fn kind(input: hipJitInputType) -> Result<Kind, RtcFailure> {
    match input {
        hipJitInputType::hipJitInputLLVMBitcode => Ok(Kind::BITCODE),
        hipJitInputType::hipJitInputLLVMBundledBitcode => Ok(Kind::BITCODE_BUNDLE),
        hipJitInputType::hipJitInputLLVMArchivesOfBundledBitcode => Ok(Kind::ARCHIVE_OF_BUNDLES),
        hipJitInputType(other) => Err(RtcFailure::input(format_args!(
            "input of type {other}; only LLVM's bitcode can be linked: 100, 101 for bundles, 102 for archives"
        ))),
    }
}

impl Link {
    pub(super) fn new(options: LinkOptions) -> Self {
        Link(Mutex::new(State {
            options,
            inputs: Vec::new(),
            linked: None,
        }))
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        // A poisoned lock is ignored: each field is replaced as a whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    pub(super) fn add(&mut self, kind: Kind, name: Option<&CStr>, bytes: Vec<u8>) {
        let name = name.filter(|name| !name.is_empty());
        // The linker would treat two inputs of the same name as one file.
        let number = self.inputs.len();
        let name = name.map_or_else(
            || CString::new(format!("LinkerProgram{number}")).unwrap_or_default(),
            CStr::to_owned,
        );
        self.inputs.push((kind, name, bytes));
    }

    /// Links on the first call. Returns the code object.
    pub(super) fn complete(&mut self) -> Result<&[u8], RtcFailure> {
        if self.linked.is_none() {
            let mut log = Vec::new();
            let linked = self.link(&mut log);
            let said = String::from_utf8_lossy(&log).into_owned();
            self.options.info.write(&said);
            let linked = linked.map_err(|why| {
                let detail = format!("{said}{why}");
                self.options.error.write(&detail);
                RtcFailure::new(hiprtcResult::HIPRTC_ERROR_LINKING, detail)
            })?;
            self.linked = Some(linked.into_boxed_slice());
        }
        Ok(self.linked.as_deref().unwrap_or_default())
    }

    fn link(&self, log: &mut Vec<u8>) -> Result<Vec<u8>, String> {
        let comgr = Comgr::get()?;
        let isa = current_target()?;
        let input = comgr.set()?;
        for (kind, name, bytes) in &self.inputs {
            input.add(*kind, name, bytes)?;
        }
        let append = std::env::var(LINK_APPEND_VARIABLE).unwrap_or_default();
        let append = append.split_ascii_whitespace();
        // An environment variable has no NUL.
        let append: Vec<_> = append.flat_map(CString::new).collect();
        let linked = comgr.run(Action::LinkBitcode, &isa, &append, &input, log)?;
        let level = format!("-O{}", self.options.optimization_level);
        let mut options = vec![CString::new(level).unwrap_or_default()];
        options.extend(self.options.compiler.iter().cloned());
        let object = comgr.run(Action::BitcodeToRelocatable, &isa, &options, &linked, log)?;
        let code = comgr.run(Action::RelocatableToExecutable, &isa, &[], &object, log)?;
        code.first(Kind::EXECUTABLE)?
            .ok_or_else(|| "the linker made nothing".to_owned())
    }
}
