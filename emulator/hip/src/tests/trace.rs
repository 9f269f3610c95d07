//! Traces that the environment enables, of a program in a child process.

use std::{
    env, fs,
    path::Path,
    process::{Command, Output},
};

use serde_json::Value;

use super::*;
use crate::TRACE_VARIABLE;

/// Set in the child process.
const CHILD: &str = "FERROWAVE_TEST_TRACE";

/// The program: a call that fails, a launch in a stream, then a copy in another.
#[test]
fn the_program() {
    if env::var_os(CHILD).is_none() {
        return;
    }
    let _device = TestDevice::new(Gpu::Gfx90a);
    let function = kernel(load(code_object(Gpu::Gfx90a)), c"add");
    // SAFETY: HIP rejects the null pointer.
    let refused = unsafe { hipMalloc(ptr::null_mut(), 4) };
    assert_eq!(refused, hipError_t::hipErrorInvalidValue);
    let (out, input) = (buffer(&[0; 64]), buffer(&[5; 64]));
    let stream = stream();
    succeeds(add(function, 1, &add_arguments(out, input, 2), stream));
    // SAFETY: the stream has just been created.
    succeeds(unsafe { hipStreamSynchronize(stream) });
    let other = self::stream();
    // SAFETY: both buffers have 256 bytes.
    succeeds(unsafe { hipMemcpyDtoDAsync(input, out, 256, other) });
    // SAFETY: the stream has just been created.
    succeeds(unsafe { hipStreamSynchronize(other) });
    assert_eq!(contents(input, 64), [7; 64]);
}

fn run(trace: impl AsRef<std::ffi::OsStr>, folder: &Path) -> Output {
    let output = Command::new(env::current_exe().unwrap())
        .args(["--exact", "tests::trace::the_program", "--nocapture"])
        .current_dir(folder)
        .env(CHILD, "1")
        .env(TRACE_VARIABLE, trace)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    output
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The first event with this name. Events are in the order in which they ended.
fn named<'a>(events: &'a [Value], name: &str) -> &'a Value {
    let found = events
        .iter()
        .find(|event| event["name"] == name && event["ph"] == "X");
    found.unwrap_or_else(|| panic!("no {name} in {events:?}"))
}

#[test]
fn calls_and_launches_are_lines_of_text() {
    let folder = tempfile::tempdir().unwrap();
    let said = text(&run("api,launches", folder.path()).stderr);
    for part in [
        "hipMalloc(address=0x0, bytes=4) = hipErrorInvalidValue (",
        "name=\"add\") = hipSuccess, took ",
        ", bytes=256) = hipSuccess, took ",
        ": add(grid=1x1x1, block=64x1x1, lds_bytes=",
        "byte 0 of the device allocation of 256 bytes at 0x",
        "2 (0x2)), took ",
        "copy(bytes=256), took ",
    ] {
        assert!(said.contains(part), "no `{part}` in {said}");
    }
    let said = text(&run("launches", folder.path()).stderr);
    assert!(
        said.contains(": add(") && !said.contains("hipMalloc"),
        "{said}"
    );
    let said = text(&run("api", folder.path()).stderr);
    assert!(
        !said.contains(": add(") && said.contains("hipMalloc"),
        "{said}"
    );
}

#[test]
fn trace_events_have_tracks_of_threads_and_streams() {
    let folder = tempfile::tempdir().unwrap();
    let output = run("out.json", folder.path());
    assert!(!text(&output.stderr).contains("hipMalloc"), "{output:?}");
    let bytes = fs::read(folder.path().join("out.json")).unwrap();
    let events: Vec<Value> = serde_json::from_slice(&bytes).unwrap();
    for event in events.iter().filter(|event| event["ph"] == "X") {
        assert!(event["ts"].as_f64().unwrap() >= 0.0 && event["dur"].as_f64().unwrap() >= 0.0);
    }
    let call = named(&events, "hipStreamSynchronize");
    assert_eq!(
        (&call["cat"], &call["args"]["result"]),
        (&"api".into(), &"hipSuccess".into())
    );
    let launch = named(&events, "add");
    assert_eq!(launch["args"]["grid"], "1x1x1");
    // The copy was submitted after the launch had ended, in another stream.
    let copy = events
        .iter()
        .rfind(|event| event["name"] == "copy")
        .unwrap();
    assert_ne!(copy["tid"], launch["tid"]);
    let time = |event: &Value, key: &str| event[key].as_f64().unwrap();
    assert!(time(launch, "ts") + time(launch, "dur") <= time(copy, "ts"));
    let is_name = |event: &&Value| event["ph"] == "M" && event["name"] == "thread_name";
    let tracks: Vec<_> = events.iter().filter(is_name).collect();
    for event in [call, launch, copy] {
        let track = |name: &&&Value| name["pid"] == event["pid"] && name["tid"] == event["tid"];
        assert_eq!(tracks.iter().filter(track).count(), 1, "{event}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_trace_that_cannot_be_written_is_said_once_and_the_program_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    for (file, why) in [
        ("/dev/full", "No space left"),
        ("no/such.json", "No such file"),
    ] {
        let said = text(&run(file, folder.path()).stderr);
        assert_eq!(said.matches("cannot be written").count(), 1, "{said}");
        assert!(said.contains(file) && said.contains(why), "{said}");
    }
}

/// What is printed of launches, and profiles that cannot be written, which are printed instead.
#[cfg(target_os = "linux")]
#[test]
fn a_program_whose_standard_error_is_on_a_full_disk_goes_on() {
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let output = Command::new(env::current_exe().unwrap())
        .args(["--exact", "tests::trace::the_program", "--nocapture"])
        .env(CHILD, "1")
        .env(TRACE_VARIABLE, "api")
        .env(crate::timing::TIMING_VARIABLE, "auto")
        .env(crate::profile::PROFILE_VARIABLE, "/dev/null/profiles")
        .stderr(full)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
}
