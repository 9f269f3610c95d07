//! hiprtc's functions as a C program calls them. `tests/real_programs/hiprtc.sh` tests them with the compiler.

use std::{
    env,
    ffi::{CStr, c_char, c_int, c_void},
    process::Command,
    ptr,
};

use ferrowave_hip_abi::*;

use super::comgr;
use crate::{error::last_error_detail, exports::*};

/// Set in the child process.
const CHILD: &str = "FERROWAVE_TEST_HIPRTC";

fn create(source: &CStr) -> hiprtcProgram {
    let mut program = ptr::null_mut();
    let (name, none) = (ptr::null(), ptr::null_mut());
    // SAFETY: the pointers are valid for the call.
    let code = unsafe { hiprtcCreateProgram(&mut program, source.as_ptr(), name, 0, none, none) };
    assert_eq!(code, hiprtcResult::HIPRTC_SUCCESS);
    program
}

fn log(program: hiprtcProgram) -> String {
    let mut bytes = 0;
    // SAFETY: the pointers are valid for the call.
    let code = unsafe { hiprtcGetProgramLogSize(program, &mut bytes) };
    assert_eq!(code, hiprtcResult::HIPRTC_SUCCESS);
    let mut log = vec![0x55_u8; bytes];
    // SAFETY: the buffer has the reported size.
    let code = unsafe { hiprtcGetProgramLog(program, log.as_mut_ptr().cast()) };
    assert_eq!(code, hiprtcResult::HIPRTC_SUCCESS);
    assert_ne!(
        log.last(),
        Some(&0),
        "programs take the size for the text's"
    );
    String::from_utf8_lossy(&log).into_owned()
}

#[track_caller]
fn fails(code: hiprtcResult, expected: hiprtcResult, detail: &str) {
    assert_eq!(code, expected);
    let said = last_error_detail();
    assert!(said.contains(detail), "{said}");
}

#[test]
fn programs_come_and_go_once() {
    let mut program = create(c"int x;");
    let mut bytes = 1;
    // SAFETY: the pointers are valid for the calls.
    unsafe {
        assert_eq!(
            hiprtcGetProgramLogSize(program, &mut bytes),
            hiprtcResult::HIPRTC_SUCCESS
        );
        assert_eq!(bytes, 0);
        let invalid = hiprtcResult::HIPRTC_ERROR_INVALID_PROGRAM;
        fails(
            hiprtcGetCodeSize(program, &mut bytes),
            invalid,
            "not compiled",
        );
        fails(
            hiprtcGetBitcodeSize(program, &mut bytes),
            invalid,
            "-fgpu-rdc",
        );
        // A null buffer is refused before the program is looked at.
        let (input, none) = (hiprtcResult::HIPRTC_ERROR_INVALID_INPUT, ptr::null_mut());
        fails(hiprtcGetCode(program, none), input, "code is null");
        fails(hiprtcGetBitcode(program, none), input, "bitcode is null");
        fails(hiprtcGetProgramLog(none.cast(), none), input, "log is null");
        assert_eq!(
            hiprtcDestroyProgram(&mut program),
            hiprtcResult::HIPRTC_SUCCESS
        );
        fails(
            hiprtcDestroyProgram(&mut program),
            invalid,
            "or was destroyed",
        );
        fails(
            hiprtcCompileProgram(program, 0, ptr::null_mut()),
            invalid,
            "is not a program",
        );
        // HIP's own last error is separate.
        assert_eq!(hipPeekAtLastError(), hipError_t::hipSuccess);
    }
}

#[test]
fn programs_are_made_of_texts_only() {
    let input = hiprtcResult::HIPRTC_ERROR_INVALID_INPUT;
    let mut program = ptr::null_mut();
    let mut made = |source: *const c_char, count: c_int, headers: *mut *const c_char| {
        let name = ptr::null();
        // SAFETY: the pointers are null, or valid for the call.
        unsafe { hiprtcCreateProgram(&mut program, source, name, count, headers, headers) }
    };
    fails(made(ptr::null(), 0, ptr::null_mut()), input, "src is null");
    fails(
        made(c"".as_ptr(), 0, ptr::null_mut()),
        input,
        "the source is empty",
    );
    fails(
        made(c"x".as_ptr(), -1, ptr::null_mut()),
        input,
        "-1 is not a number of headers",
    );
    fails(
        made(c"x".as_ptr(), 1, ptr::null_mut()),
        input,
        "headers is null",
    );
    let mut headers = [c"a".as_ptr(), ptr::null()];
    fails(
        made(c"x".as_ptr(), 2, headers.as_mut_ptr()),
        input,
        "headers[1] is null",
    );
    let mut headers = [c"".as_ptr()];
    fails(
        made(c"x".as_ptr(), 1, headers.as_mut_ptr()),
        input,
        "an empty name or text",
    );
    let none = ptr::null_mut();
    // SAFETY: the pointers are null, or valid for the call.
    let code = unsafe {
        hiprtcCreateProgram(
            none,
            c"x".as_ptr(),
            ptr::null(),
            0,
            ptr::null_mut(),
            ptr::null_mut(),
        )
    };
    fails(
        code,
        hiprtcResult::HIPRTC_ERROR_INVALID_PROGRAM,
        "prog is null",
    );
}

#[test]
fn names_are_known_after_compilation() {
    let mut program = create(c"int x;");
    let mut lowered = ptr::null();
    // SAFETY: the pointers are valid for the calls.
    unsafe {
        assert_eq!(
            hiprtcAddNameExpression(program, c"&x".as_ptr()),
            hiprtcResult::HIPRTC_SUCCESS
        );
        let input = hiprtcResult::HIPRTC_ERROR_INVALID_INPUT;
        fails(
            hiprtcAddNameExpression(program, c"&".as_ptr()),
            input,
            "does not name anything",
        );
        let code = hiprtcGetLoweredName(program, c"&x".as_ptr(), &mut lowered);
        let before = hiprtcResult::HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION;
        fails(code, before, "not compiled");
        hiprtcDestroyProgram(&mut program);
    }
}

#[test]
fn links_take_bitcode_only() {
    let input = hiprtcResult::HIPRTC_ERROR_INVALID_INPUT;
    let bitcode = hipJitInputType::hipJitInputLLVMBitcode;
    let mut link = ptr::null_mut();
    let none = ptr::null_mut();
    // SAFETY: the pointers are valid for the calls.
    unsafe {
        let mut options = [hipJitOption::hipJitOptionErrorLogBuffer];
        let mut values = [ptr::null_mut::<c_void>()];
        let code = hiprtcLinkCreate(1, options.as_mut_ptr(), values.as_mut_ptr(), &mut link);
        fails(
            code,
            hiprtcResult::HIPRTC_ERROR_INVALID_OPTION,
            "option 5 is null",
        );
        let code = hiprtcLinkCreate(1, options.as_mut_ptr(), ptr::null_mut(), &mut link);
        fails(code, input, "option_vals_pptr is null");
        assert_eq!(
            hiprtcLinkCreate(0, ptr::null_mut(), ptr::null_mut(), &mut link),
            hiprtcResult::HIPRTC_SUCCESS
        );
        let file = |kind| {
            hiprtcLinkAddFile(
                link,
                kind,
                c"/nowhere.bc".as_ptr(),
                0,
                ptr::null_mut(),
                none,
            )
        };
        fails(file(hipJitInputType(1)), input, "only LLVM's bitcode");
        fails(
            file(bitcode),
            hiprtcResult::HIPRTC_ERROR_PROGRAM_CREATION_FAILURE,
            "/nowhere.bc: No such file",
        );
        let code = hiprtcLinkAddData(
            link,
            bitcode,
            ptr::null_mut(),
            8,
            ptr::null(),
            0,
            ptr::null_mut(),
            none,
        );
        fails(code, input, "image is null");
        assert_eq!(hiprtcLinkDestroy(link), hiprtcResult::HIPRTC_SUCCESS);
        fails(hiprtcLinkDestroy(link), input, "is not a link state");
    }
}

#[test]
fn codes_have_names() {
    // SAFETY: the function returns static texts.
    let name = |code| unsafe { CStr::from_ptr(hiprtcGetErrorString(hiprtcResult(code))) };
    assert_eq!(name(0), c"HIPRTC_SUCCESS");
    assert_eq!(name(6), c"HIPRTC_ERROR_COMPILATION");
    assert_eq!(name(100), c"HIPRTC_ERROR_LINKING");
    assert_eq!(name(12), c"Invalid HIPRTC error code");
    let (mut major, mut minor) = (0, 1);
    // SAFETY: the pointers are valid for the call.
    let code = unsafe { hiprtcVersion(&mut major, &mut minor) };
    assert_eq!((code, major, minor), (hiprtcResult::HIPRTC_SUCCESS, 9, 0));
}

#[test]
fn the_child_has_no_compiler() {
    if env::var_os(CHILD).is_none() {
        return;
    }
    let program = create(c"__global__ void k() {}");
    // SAFETY: the pointers are valid for the calls.
    unsafe {
        let code = hiprtcCompileProgram(program, 0, ptr::null_mut());
        let expected = hiprtcResult::HIPRTC_ERROR_COMPILATION;
        fails(code, expected, "cannot be loaded");
        let mut link = ptr::null_mut();
        let mut text = [0x55 as c_char; 40];
        let mut options = [
            hipJitOption::hipJitOptionErrorLogBuffer,
            hipJitOption::hipJitOptionErrorLogBufferSizeBytes,
        ];
        let mut values = [text.as_mut_ptr().cast(), ptr::without_provenance_mut(39)];
        let code = hiprtcLinkCreate(2, options.as_mut_ptr(), values.as_mut_ptr(), &mut link);
        assert_eq!(code, hiprtcResult::HIPRTC_SUCCESS);
        let (mut code, mut bytes) = (ptr::null_mut(), 0);
        let result = hiprtcLinkComplete(link, &mut code, &mut bytes);
        fails(result, hiprtcResult::HIPRTC_ERROR_LINKING, "/nowhere/comgr");
        let said = CStr::from_ptr(text.as_ptr());
        assert_eq!(said, c"AMD's compiler library libamd_comgr.so");
        assert_eq!(text[39], 0x55);
    }
    println!("{}", log(program));
}

#[test]
fn without_the_compiler_the_log_says_where_it_was_looked_for() {
    let output = Command::new(env::current_exe().expect("the test has a path"))
        .args(["--exact", "rtc::tests::the_child_has_no_compiler"])
        .args(["--nocapture", "--test-threads=1"])
        .env(CHILD, "1")
        .env(comgr::VARIABLE, "/nowhere/comgr")
        .output()
        .expect("the child starts");
    let said = String::from_utf8_lossy(&output.stdout);
    let parts = [
        "libamd-comgr3",
        "FERROWAVE_COMGR",
        "\n  /nowhere/comgr: ",
        "No such file",
    ];
    let all = parts.iter().all(|part| said.contains(part));
    assert!(
        output.status.success() && all,
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
