//! A hiprtc program: its source, and its code once compiled.

use std::{
    ffi::{CStr, CString},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use ferrowave_hip_abi::hiprtcResult;

use super::{
    builtin,
    comgr::{Action, Comgr, Kind},
    current_target,
    options::{self, Options},
};
use crate::error::RtcFailure;

/// A program.
pub(super) struct Program(Mutex<State>);

pub(super) struct State {
    /// Name for the compiler's messages, and text.
    source: (CString, Vec<u8>),
    headers: Vec<(CString, Vec<u8>)>,
    names: Vec<Name>,
    log: Vec<u8>,
    compiled: Option<Compiled>,
}

/// A name expression for a kernel or variable.
struct Name {
    /// The expression, as the caller gave it.
    expression: CString,
    /// The lowered name, set by the first compilation. It never moves, because callers keep its address.
    lowered: Option<CString>,
}

/// The compiler's output.
pub(super) enum Compiled {
    Code(Vec<u8>),
    Bitcode(Vec<u8>),
}

/// Strips `&` and parentheses: `&v` and `(v)` name what `v` names.
fn stripped(expression: &[u8]) -> &[u8] {
    let mut rest = expression.trim_ascii();
    loop {
        rest = match rest {
            [b'&', inner @ ..] | [b'(', inner @ .., b')'] => inner.trim_ascii(),
            _ => return rest,
        };
    }
}

impl Program {
    pub(super) fn new(
        source: &CStr,
        name: Option<&CStr>,
        headers: Vec<(&CStr, &CStr)>,
    ) -> Result<Self, RtcFailure> {
        if source.is_empty() {
            return Err(RtcFailure::input("the source is empty"));
        }
        for (name, text) in &headers {
            if name.is_empty() || text.is_empty() {
                return Err(RtcFailure::input(format_args!(
                    "the header {name:?} has an empty name or text"
                )));
            }
        }
        static UNNAMED: AtomicUsize = AtomicUsize::new(0);
        let name = name.filter(|name| !name.is_empty()).map(CStr::to_owned);
        let name = name.unwrap_or_else(|| {
            let number = UNNAMED.fetch_add(1, Ordering::Relaxed);
            CString::new(format!("CompileSource{number:06}")).unwrap_or_default()
        });
        let header = |(name, text): (&CStr, &CStr)| (name.to_owned(), text.to_bytes().to_vec());
        Ok(Program(Mutex::new(State {
            source: (name, source.to_bytes().to_vec()),
            headers: headers.into_iter().map(header).collect(),
            names: Vec::new(),
            log: Vec::new(),
            compiled: None,
        })))
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        // A poisoned lock is ignored: each field is replaced as a whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    pub(super) fn add_name(&mut self, expression: &CStr) -> Result<(), RtcFailure> {
        if self.compiled.is_some() {
            return Err(RtcFailure::new(
                hiprtcResult::HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION,
                "the program is compiled",
            ));
        }
        let text = stripped(expression.to_bytes());
        if text.is_empty() {
            return Err(RtcFailure::input(format_args!(
                "{expression:?} does not name anything"
            )));
        }
        let expression = CString::new(text).unwrap_or_default();
        if !self.names.iter().any(|name| name.expression == expression) {
            self.names.push(Name {
                expression,
                lowered: None,
            });
        }
        Ok(())
    }

    pub(super) fn lowered(&self, expression: &CStr) -> Result<&CStr, RtcFailure> {
        if self.compiled.is_none() {
            return Err(RtcFailure::new(
                hiprtcResult::HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION,
                "the program is not compiled",
            ));
        }
        let text = stripped(expression.to_bytes());
        let mut names = self.names.iter();
        let name = names.find(|name| name.expression.to_bytes() == text);
        name.and_then(|name| name.lowered.as_deref())
            .ok_or_else(|| {
                let names: Vec<_> = self.names.iter().map(|name| &name.expression).collect();
                RtcFailure::new(
                    hiprtcResult::HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID,
                    format_args!("{expression:?} was not added, only {names:?}"),
                )
            })
    }

    pub(super) fn log(&self) -> &[u8] {
        &self.log
    }

    pub(super) fn code(&self) -> Result<&[u8], RtcFailure> {
        match &self.compiled {
            Some(Compiled::Code(code)) => Ok(code),
            Some(Compiled::Bitcode(_)) => Ok(&[]),
            None => Err(RtcFailure::new(
                hiprtcResult::HIPRTC_ERROR_INVALID_PROGRAM,
                "the program is not compiled",
            )),
        }
    }

    pub(super) fn bitcode(&self) -> Result<&[u8], RtcFailure> {
        match &self.compiled {
            Some(Compiled::Bitcode(bitcode)) => Ok(bitcode),
            _ => Err(RtcFailure::new(
                hiprtcResult::HIPRTC_ERROR_INVALID_PROGRAM,
                "the program is not compiled with -fgpu-rdc",
            )),
        }
    }

    /// Compiles the program. The log gets the compiler's messages, or why there is no compiler.
    pub(super) fn compile(&mut self, options: &Options) -> Result<(), RtcFailure> {
        self.compiled = None;
        let mut log = Vec::new();
        let result = self.compile_to(options, &mut log);
        if let Err(why) = &result {
            log.extend_from_slice(why.as_bytes());
            log.push(b'\n');
        }
        self.log = log;
        result.map_err(|why| {
            let said = String::from_utf8_lossy(&self.log).into_owned();
            let detail = if said.is_empty() { why } else { said };
            RtcFailure::new(hiprtcResult::HIPRTC_ERROR_COMPILATION, detail)
        })
    }

    fn compile_to(&mut self, options: &Options, log: &mut Vec<u8>) -> Result<(), String> {
        let comgr = Comgr::get()?;
        let isa = match &options.target {
            Some(target) => options::isa(target),
            None => current_target()?,
        };
        let input = comgr.set()?;
        for (name, text) in builtin::headers() {
            input.add(Kind::INCLUDE, name, text)?;
        }
        for (name, text) in &self.headers {
            input.add(Kind::INCLUDE, name, text)?;
        }
        input.add(Kind::SOURCE, &self.source.0, &self.text())?;
        let list = &options.list;
        let (kind, bytes) = if options.is_bitcode {
            let made = comgr.run(Action::SourceToBitcode, &isa, list, &input, log)?;
            (Kind::BITCODE, made.first(Kind::BITCODE)?)
        } else {
            let made = comgr.run(Action::SourceToRelocatable, &isa, list, &input, log)?;
            let linked = comgr.run(Action::RelocatableToExecutable, &isa, &[], &made, log)?;
            (Kind::EXECUTABLE, linked.first(Kind::EXECUTABLE)?)
        };
        let bytes = bytes.ok_or("the compiler made nothing")?;
        if !self.names.is_empty() {
            let names: Vec<_> = self.names.iter().map(|name| &*name.expression).collect();
            let lowered = comgr.lowered(kind, &bytes, &names)?;
            for (name, lowered) in self.names.iter_mut().zip(lowered) {
                // A second compilation gives the same name.
                name.lowered.get_or_insert(lowered);
            }
        }
        self.compiled = Some(if options.is_bitcode {
            Compiled::Bitcode(bytes)
        } else {
            Compiled::Code(bytes)
        });
        Ok(())
    }

    /// The source, followed by an array for each name expression, with the expression's text and address, that comgr
    /// reads.
    fn text(&self) -> Vec<u8> {
        let mut text = self.source.1.clone();
        for (number, name) in self.names.iter().enumerate() {
            let expression = name.expression.to_bytes();
            let array =
                format!("\nstatic __device__ const void* __amdgcn_name_expr_{number}[] = {{\"");
            text.extend_from_slice(array.as_bytes());
            for &byte in expression {
                if matches!(byte, b'"' | b'\\') {
                    text.push(b'\\');
                }
                text.push(byte);
            }
            text.extend_from_slice(b"\", (void*)&");
            text.extend_from_slice(expression);
            // A second variable that uses the array, so that the compiler keeps it.
            let used = format!(
                "}};\nstatic auto __amdgcn_name_expr_stub_{number} = __amdgcn_name_expr_{number};\n"
            );
            text.extend_from_slice(used.as_bytes());
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_name_what_they_are_of() {
        for (expression, name) in [
            ("kernel<float, 4>", "kernel<float, 4>"),
            ("&kernel<int>", "kernel<int>"),
            (" &(a::b) ", "a::b"),
            ("(&v)", "v"),
            ("&", ""),
        ] {
            assert_eq!(stripped(expression.as_bytes()), name.as_bytes());
        }
    }

    #[test]
    fn names_are_in_the_source_once() {
        let program = Program::new(c"S", None, Vec::new()).unwrap();
        let mut state = program.lock();
        for expression in [c"&f<'\"'>", c"(f<'\"'>)", c"v"] {
            state.add_name(expression).unwrap();
        }
        let expected = "S\nstatic __device__ const void* __amdgcn_name_expr_0[] = {\"f<'\\\"'>\", (void*)&f<'\"'>};\n\
                        static auto __amdgcn_name_expr_stub_0 = __amdgcn_name_expr_0;\n\
                        \nstatic __device__ const void* __amdgcn_name_expr_1[] = {\"v\", (void*)&v};\n\
                        static auto __amdgcn_name_expr_stub_1 = __amdgcn_name_expr_1;\n";
        assert_eq!(String::from_utf8(state.text()).unwrap(), expected);
    }
}
