//! Calls every function of the table with nulls and with invalid handles, in a child process. Whatever they return, the
//! process survives, and the device works afterwards.

use std::{any::type_name, env, io::Write, mem::MaybeUninit, process::Command};

use ferrowave_hip_abi::{for_each_hip_function, for_each_hiprtc_function};

use super::*;

/// Set in the child process.
const CHILD: &str = "FERROWAVE_TEST_NULLS";

/// The values to build arguments from.
#[derive(Clone, Copy, Debug)]
struct Arguments {
    /// Handles.
    handle: usize,
    /// Other addresses: null, one below the first page, or that of zeros.
    address: usize,
    /// Numbers.
    number: u8,
}

/// The pointee types of handles.
const HANDLES: [&str; 18] = [
    "ihipStream_t",
    "ihipEvent_t",
    "ihipModule_t",
    "ihipModuleSymbol_t",
    "ihipLibrary_t",
    "ihipKernel_t",
    "ihipCtx_t",
    "ihipExecutionCtx_t",
    "ihipDevResourceDesc_t",
    "ihipMemPoolHandle_t",
    "hipArray",
    "__hip_texture",
    "ihipGraph",
    "hipGraphNode",
    "hipGraphExec",
    "hipUserObject",
    "_hiprtcProgram",
    "ihiprtcLinkState",
];

/// Whether these are what handles point to.
pub(super) fn is_handle(pointee: &str) -> bool {
    HANDLES.contains(&pointee)
}

/// Length of the zeros in words, larger than any struct that a call accesses.
const WORDS: usize = 1 << 12;

impl Arguments {
    /// Clears what calls have written, so that a list of pointers contains only nulls.
    fn clear(self) {
        if self.address > 1 {
            let words = ptr::with_exposed_provenance_mut::<u64>(self.address);
            // SAFETY: the test's memory has that length.
            unsafe { words.write_bytes(0, WORDS) }
        }
    }

    /// An argument of any type in the table.
    fn argument<T>(self) -> T {
        let name = type_name::<T>();
        let mut value = MaybeUninit::<T>::zeroed();
        let pointer = value.as_mut_ptr();
        // SAFETY: zero is valid for all types in the table: integers, pointers, optional functions, and structs of
        // these. Other values are only given to pointers and integers, for which any value is valid.
        unsafe {
            if name.starts_with('*') {
                let inner = name.rsplit("::").next().unwrap_or_default();
                let is_handle = name.matches('*').count() == 1 && is_handle(inner);
                let word = if is_handle { self.handle } else { self.address };
                pointer.cast::<usize>().write(word);
            } else if matches!(name, "u8" | "u16" | "i32" | "u32" | "u64" | "usize") {
                pointer.cast::<u8>().write(self.number);
            }
            value.assume_init()
        }
    }
}

macro_rules! call_all {
    ($(
        $(#[$meta:meta])*
        $kind:ident fn $name:ident($($argument:ident: $type:ty),* $(,)?) -> $result:ty;
    )*) => {
        |arguments: Arguments| {
            $({
                println!(concat!("calling ", stringify!($name), " with {:?}"), arguments);
                let _ = std::io::stdout().flush();
                arguments.clear();
                // SAFETY: pointers are null or to enough zeros; any handle is allowed.
                let _ = unsafe { $name($(arguments.argument::<$type>()),*) };
            })*
        }
    };
}

/// Calls every function, and prints its name before.
fn call_all(arguments: Arguments) {
    for_each_hip_function!(call_all)(arguments);
    for_each_hiprtc_function!(call_all)(arguments);
}

#[test]
fn the_child_calls_everything() {
    if env::var_os(CHILD).is_none() {
        return;
    }
    let device = TestDevice::new(Gpu::Gfx942);
    let stale = stream();
    // SAFETY: HIP checks the handle.
    succeeds(unsafe { hipStreamDestroy(stale) });
    for number in [0, 1] {
        for handle in [0, stale.addr(), 3, usize::MAX & !7] {
            for absent in [Some(0), Some(1), None] {
                // Leaked, because calls may keep the address.
                let zeros = vec![0_u64; WORDS].leak();
                call_all(Arguments {
                    handle,
                    address: absent.unwrap_or_else(|| zeros.as_mut_ptr().expose_provenance()),
                    number,
                });
            }
        }
    }
    // A second device, because the calls have removed the first one, or left a stream of it in a capture.
    drop(device);
    let _other = TestDevice::new(Gpu::Gfx942);
    assert_eq!(contents(buffer(&[7; 8]), 8), [7; 8]);
    println!("survived");
}

#[test]
fn nulls_and_stale_handles_end_no_process() {
    let output = Command::new(env::current_exe().expect("the test has a path"))
        .args(["--exact", "tests::nulls::the_child_calls_everything"])
        .args(["--nocapture", "--test-threads=1"])
        .env(CHILD, "1")
        .output()
        .expect("the child starts");
    let said = String::from_utf8_lossy(&output.stdout);
    let last = said.lines().rev().find(|line| line.contains("calling "));
    assert!(
        output.status.success() && said.contains("survived"),
        "{:?} after: {last:?}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
}
