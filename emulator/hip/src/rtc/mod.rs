//! hiprtc: compiling and linking at run time.
//!
//! | module | contents |
//! |---|---|
//! | `comgr` | AMD's compiler library, found at run time |
//! | `libraries` | where AMD's libraries are searched |
//! | `builtin` | the implicit header of every program |
//! | `options` | compiler options |
//! | `program` | a program, its source and its code |
//! | `link` | linking bitcode to a code object |
//! | `driver` | the linker as `hipLink…` |
//!
//! This file has the functions as C calls them. Without comgr, only compiling and completing a link fail; the program's
//! log then lists where the library was searched.
//!
//! Sources: HIP's documentation of hiprtc, `hip/hiprtc.h`, and for what they leave open `hipamd/src/hiprtc` of ROCm's
//! clr.

mod builtin;
mod comgr;
pub(super) mod driver;
mod libraries;
mod link;
mod options;
mod program;
#[cfg(test)]
mod tests;

use std::{
    env,
    ffi::{CStr, CString, c_char, c_int, c_uint, c_void},
    fs,
    ptr::{self, NonNull},
    sync::{Arc, LazyLock},
};

use ferrowave_hip_abi::{
    hipJitInputType, hipJitOption, hiprtcLinkState, hiprtcProgram, hiprtcResult,
};

use self::{
    link::{Link, LinkOptions},
    options::Options,
    program::Program,
};
use super::{
    error::{RtcFailure, optional_text, out, present, text},
    handles::Handles,
    list::list,
    runtime::Runtime,
};

static PROGRAMS: LazyLock<Handles<Program>> = LazyLock::new(Handles::new);
static LINKS: LazyLock<Handles<Link>> = LazyLock::new(Handles::new);

fn program(handle: hiprtcProgram) -> Result<Arc<Program>, RtcFailure> {
    PROGRAMS
        .get(handle.addr())
        .ok_or_else(|| no_program(handle))
}

fn no_program(handle: hiprtcProgram) -> RtcFailure {
    RtcFailure::new(
        hiprtcResult::HIPRTC_ERROR_INVALID_PROGRAM,
        format_args!("{handle:p} is not a program, or was destroyed"),
    )
}

fn link(handle: hiprtcLinkState) -> Result<Arc<Link>, RtcFailure> {
    LINKS.get(handle.addr()).ok_or_else(|| no_link(handle))
}

fn no_link(handle: hiprtcLinkState) -> RtcFailure {
    RtcFailure::input(format_args!(
        "{handle:p} is not a link state, or was destroyed"
    ))
}

/// The current device's name among comgr's targets.
fn current_target() -> Result<CString, String> {
    let device = Runtime::get().current();
    let device = device
        .map_err(|failure| format!("there is no device to compile for: {}", failure.detail))?;
    Ok(options::isa(device.target().as_bytes()))
}

/// Like [`list`], for C strings.
///
/// # Safety
/// As for [`list`]; each element is null or a C string.
unsafe fn texts<'a>(
    array: *const *const c_char,
    count: c_int,
    what: &str,
) -> Result<Vec<&'a CStr>, RtcFailure> {
    let count = usize::try_from(count)
        .map_err(|_| RtcFailure::input(format_args!("{count} is not a number of {what}")))?;
    // SAFETY: the caller upholds the same contract.
    let pointers = unsafe { list(array, count, what) }?;
    let texts = pointers.into_iter().enumerate();
    // SAFETY: the caller guarantees C strings.
    texts
        .map(|(i, pointer)| Ok(unsafe { text(pointer, &format!("{what}[{i}]")) }?))
        .collect()
}

/// A caller's buffer for bytes of a program. It is checked before the program is, as in CLR (`hiprtcGetCode`,
/// `hiprtcGetBitcode` and `hiprtcGetProgramLog` in `hiprtc.cpp`).
fn buffer(to: *mut c_char, what: &str) -> Result<NonNull<u8>, RtcFailure> {
    present(to, what)?;
    NonNull::new(to.cast()).ok_or_else(|| RtcFailure::input(format_args!("{what} is null")))
}

/// Copies bytes to a caller's buffer.
///
/// # Safety
/// `to` is valid for writing `bytes`.
unsafe fn give(bytes: &[u8], to: NonNull<u8>) {
    // SAFETY: the caller guarantees the capacity.
    unsafe { to.copy_from_nonoverlapping(NonNull::from(bytes).cast(), bytes.len()) };
}

pub(super) unsafe fn hiprtcGetErrorString(result: hiprtcResult) -> *const c_char {
    result
        .name()
        .unwrap_or(c"Invalid HIPRTC error code")
        .as_ptr()
}

pub(super) unsafe fn hiprtcVersion(major: *mut c_int, minor: *mut c_int) -> Result<(), RtcFailure> {
    let (major, minor) = (out!(major), out!(minor));
    major.set(9);
    minor.set(0);
    Ok(())
}

pub(super) unsafe fn hiprtcCreateProgram(
    program: *mut hiprtcProgram,
    source: *const c_char,
    name: *const c_char,
    count: c_int,
    headers: *mut *const c_char,
    names: *mut *const c_char,
) -> Result<(), RtcFailure> {
    if program.is_null() {
        return Err(RtcFailure::new(
            hiprtcResult::HIPRTC_ERROR_INVALID_PROGRAM,
            "prog is null",
        ));
    }
    let program = out!(program);
    // SAFETY: HIP's contract: C strings, and lists of `count` headers and names.
    let (source, name, headers, names) = unsafe {
        (
            text(source, "src")?,
            optional_text(name, "name")?,
            texts(headers, count, "headers")?,
            texts(names, count, "includeNames")?,
        )
    };
    let headers = names.into_iter().zip(headers).collect();
    let made = Arc::new(Program::new(source, name, headers)?);
    program.set(ptr::without_provenance_mut(PROGRAMS.insert(made)));
    Ok(())
}

pub(super) unsafe fn hiprtcCompileProgram(
    program: hiprtcProgram,
    count: c_int,
    options: *mut *const c_char,
) -> Result<(), RtcFailure> {
    let program = self::program(program)?;
    // SAFETY: HIP's contract: the list has `count` C strings.
    let passed = unsafe { texts(options, count, "options") }?;
    let append = env::var(options::APPEND_VARIABLE).unwrap_or_default();
    program.lock().compile(&Options::new(&passed, &append))
}

pub(super) unsafe fn hiprtcDestroyProgram(program: *mut hiprtcProgram) -> Result<(), RtcFailure> {
    // SAFETY: HIP's contract: null or one handle.
    let handle = unsafe { list(program, 1, "prog") }?[0];
    let gone = PROGRAMS.remove(handle.addr());
    gone.map(drop).ok_or_else(|| no_program(handle))
}

pub(super) unsafe fn hiprtcAddNameExpression(
    program: hiprtcProgram,
    expression: *const c_char,
) -> Result<(), RtcFailure> {
    // SAFETY: the caller upholds HIP's contract.
    let expression = unsafe { text(expression, "name_expression") }?;
    self::program(program)?.lock().add_name(expression)
}

pub(super) unsafe fn hiprtcGetLoweredName(
    program: hiprtcProgram,
    expression: *const c_char,
    lowered: *mut *const c_char,
) -> Result<(), RtcFailure> {
    let lowered = out!(lowered);
    // SAFETY: the caller upholds HIP's contract.
    let expression = unsafe { text(expression, "name_expression") }?;
    lowered.set(self::program(program)?.lock().lowered(expression)?.as_ptr());
    Ok(())
}

pub(super) unsafe fn hiprtcGetProgramLogSize(
    program: hiprtcProgram,
    size: *mut usize,
) -> Result<(), RtcFailure> {
    let size = out!(size);
    let program = self::program(program)?;
    // Without a NUL, as AMD's hiprtc: MIGraphX asserts that the last byte is not one.
    size.set(program.lock().log().len());
    Ok(())
}

pub(super) unsafe fn hiprtcGetProgramLog(
    program: hiprtcProgram,
    log: *mut c_char,
) -> Result<(), RtcFailure> {
    let to = buffer(log, "log")?;
    let program = self::program(program)?;
    // SAFETY: HIP's contract: the buffer has the size that HIP reported.
    unsafe { give(program.lock().log(), to) };
    Ok(())
}

pub(super) unsafe fn hiprtcGetCodeSize(
    program: hiprtcProgram,
    size: *mut usize,
) -> Result<(), RtcFailure> {
    let size = out!(size);
    size.set(self::program(program)?.lock().code()?.len());
    Ok(())
}

pub(super) unsafe fn hiprtcGetCode(
    program: hiprtcProgram,
    code: *mut c_char,
) -> Result<(), RtcFailure> {
    let to = buffer(code, "code")?;
    // SAFETY: HIP's contract: the buffer has the size that HIP reported.
    unsafe { give(self::program(program)?.lock().code()?, to) };
    Ok(())
}

pub(super) unsafe fn hiprtcGetBitcodeSize(
    program: hiprtcProgram,
    size: *mut usize,
) -> Result<(), RtcFailure> {
    let size = out!(size);
    size.set(self::program(program)?.lock().bitcode()?.len());
    Ok(())
}

pub(super) unsafe fn hiprtcGetBitcode(
    program: hiprtcProgram,
    bitcode: *mut c_char,
) -> Result<(), RtcFailure> {
    let to = buffer(bitcode, "bitcode")?;
    // SAFETY: HIP's contract: the buffer has the size that HIP reported.
    unsafe { give(self::program(program)?.lock().bitcode()?, to) };
    Ok(())
}

pub(super) unsafe fn hiprtcLinkCreate(
    count: c_uint,
    options: *mut hipJitOption,
    values: *mut *mut c_void,
    link: *mut hiprtcLinkState,
) -> Result<(), RtcFailure> {
    let link = out!(link);
    // SAFETY: HIP's contract: the lists have `count` options and values.
    let options = unsafe { link_options(count, options, values) }?;
    let made = Arc::new(Link::new(options));
    link.set(ptr::without_provenance_mut(LINKS.insert(made)));
    Ok(())
}

/// # Safety
/// `options` and `values` are null or have `count` elements, each value as its option says.
unsafe fn link_options(
    count: c_uint,
    options: *const hipJitOption,
    values: *const *mut c_void,
) -> Result<LinkOptions, RtcFailure> {
    let mut said = LinkOptions {
        optimization_level: 3,
        compiler: Vec::new(),
        info: Default::default(),
        error: Default::default(),
    };
    let (mut compiler, mut compiler_count) = (ptr::null::<*const c_char>(), 0);
    // SAFETY: the caller upholds the same contract.
    let (options, values) = unsafe {
        (
            list(options, count as usize, "option_ptr")?,
            list(values, count as usize, "option_vals_pptr")?,
        )
    };
    for (option, value) in options.into_iter().zip(values) {
        let number = value.addr();
        let address = || match value.expose_provenance() {
            0 => Err(RtcFailure::new(
                hiprtcResult::HIPRTC_ERROR_INVALID_OPTION,
                format_args!("the value of option {} is null", option.0),
            )),
            address => Ok(address),
        };
        match option {
            hipJitOption::hipJitOptionInfoLogBuffer => said.info.address = address()?,
            hipJitOption::hipJitOptionInfoLogBufferSizeBytes => said.info.bytes = number,
            hipJitOption::hipJitOptionErrorLogBuffer => said.error.address = address()?,
            hipJitOption::hipJitOptionErrorLogBufferSizeBytes => said.error.bytes = number,
            hipJitOption::hipJitOptionOptimizationLevel => said.optimization_level = number as u32,
            hipJitOption::hipJitOptionIRtoISAOptExt => {
                compiler = ptr::with_exposed_provenance(address()?);
            }
            hipJitOption::hipJitOptionIRtoISAOptCountExt => compiler_count = number as c_int,
            // The other options are for CUDA, and ROCm ignores them.
            _ => {}
        }
    }
    // SAFETY: the list has as many C strings as its count states.
    let compiler = unsafe { texts(compiler, compiler_count, "the linker's options") }?;
    said.compiler = compiler.into_iter().map(CStr::to_owned).collect();
    Ok(said)
}

pub(super) unsafe fn hiprtcLinkAddFile(
    link: hiprtcLinkState,
    input: hipJitInputType,
    path: *const c_char,
    _count: c_uint,
    _options: *mut hipJitOption,
    _values: *mut *mut c_void,
) -> Result<(), RtcFailure> {
    let link = self::link(link)?;
    let kind = link::kind(input)?;
    // SAFETY: the caller upholds HIP's contract.
    let path = unsafe { text(path, "file_path") }?.to_string_lossy();
    let bytes = fs::read(&*path).map_err(|error| {
        RtcFailure::new(
            hiprtcResult::HIPRTC_ERROR_PROGRAM_CREATION_FAILURE,
            format_args!("{path}: {error}"),
        )
    })?;
    link.lock().add(kind, None, bytes);
    Ok(())
}

#[expect(clippy::too_many_arguments, reason = "HIP's signature")]
pub(super) unsafe fn hiprtcLinkAddData(
    link: hiprtcLinkState,
    input: hipJitInputType,
    image: *mut c_void,
    bytes: usize,
    name: *const c_char,
    _count: c_uint,
    _options: *mut hipJitOption,
    _values: *mut *mut c_void,
) -> Result<(), RtcFailure> {
    let link = self::link(link)?;
    let kind = link::kind(input)?;
    if bytes == 0 {
        return Err(RtcFailure::input("the image is empty"));
    }
    // SAFETY: HIP's contract: that many bytes, and a C string or null.
    let (bytes, name) = unsafe {
        (
            list(image.cast::<u8>(), bytes, "image")?,
            optional_text(name, "name")?,
        )
    };
    link.lock().add(kind, name, bytes);
    Ok(())
}

pub(super) unsafe fn hiprtcLinkComplete(
    link: hiprtcLinkState,
    code: *mut *mut c_void,
    bytes: *mut usize,
) -> Result<(), RtcFailure> {
    let (code, bytes) = (out!(code), out!(bytes));
    let link = self::link(link)?;
    let mut link = link.lock();
    let linked = link.complete()?;
    code.set(linked.as_ptr().cast_mut().cast());
    bytes.set(linked.len());
    Ok(())
}

pub(super) unsafe fn hiprtcLinkDestroy(link: hiprtcLinkState) -> Result<(), RtcFailure> {
    let gone = LINKS.remove(link.addr());
    gone.map(drop).ok_or_else(|| no_link(link))
}
