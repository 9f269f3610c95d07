//! Every function of the table with nulls, and with handles of nothing, in a process of its own: whatever it answers,
//! the process survives, and the device works afterwards.

use std::{any::type_name, env, io::Write, mem::MaybeUninit, process::Command};

use ferrowave_hip_abi::{for_each_hip_function, for_each_hiprtc_function};

use super::*;

/// Set in the child.
const CHILD: &str = "FERROWAVE_TEST_NULLS";

/// What arguments are made of.
#[derive(Clone, Copy, Debug)]
struct Arguments {
    /// Handles.
    handle: usize,
    /// Addresses of anything else: null, or of zeros.
    address: usize,
    /// Numbers.
    number: u8,
}

/// The types whose pointers are handles.
const HANDLES: [&str; 14] = [
    "ihipStream_t",
    "ihipEvent_t",
    "ihipModule_t",
    "ihipModuleSymbol_t",
    "ihipCtx_t",
    "ihipMemPoolHandle_t",
    "hipArray",
    "__hip_texture",
    "ihipGraph",
    "hipGraphNode",
    "hipGraphExec",
    "ihipCtx_t",
    "_hiprtcProgram",
    "ihiprtcLinkState",
];

/// Words that an address is of: more than any struct has that a call fills or reads.
const WORDS: usize = 1 << 12;

impl Arguments {
    /// Takes away what calls have written: a list of pointers must be one of nulls.
    fn clear(self) {
        if self.address != 0 {
            let words = ptr::with_exposed_provenance_mut::<u64>(self.address);
            // SAFETY: the test's own memory, of that length.
            unsafe { words.write_bytes(0, WORDS) }
        }
    }

    /// An argument of any type that the table has.
    fn argument<T>(self) -> T {
        let name = type_name::<T>();
        let mut value = MaybeUninit::<T>::zeroed();
        let pointer = value.as_mut_ptr();
        // SAFETY: of integers and newtypes of them, structs of integers and pointers, pointers and optional functions,
        // zero is a value; only pointers and integers get another, and any will do.
        unsafe {
            if name.starts_with('*') {
                let inner = name.rsplit("::").next().unwrap_or_default();
                let is_handle = name.matches('*').count() == 1 && HANDLES.contains(&inner);
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
                // SAFETY: pointers are null or to zeros enough, and handles may be anything.
                let _ = unsafe { $name($(arguments.argument::<$type>()),*) };
            })*
        }
    };
}

/// Calls every function, saying first which.
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
    // SAFETY: a handle.
    succeeds(unsafe { hipStreamDestroy(stale) });
    for number in [0, 1] {
        for handle in [0, stale.addr(), 3, usize::MAX & !7] {
            for is_null in [true, false] {
                // Calls may keep it beyond their end.
                let zeros = vec![0_u64; WORDS].leak();
                call_all(Arguments {
                    handle,
                    address: if is_null {
                        0
                    } else {
                        zeros.as_mut_ptr().expose_provenance()
                    },
                    number,
                });
            }
        }
    }
    // The first device has a stream that is captured, among other things.
    let _other = TestDevice::new(Gpu::Gfx942);
    drop(device);
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
