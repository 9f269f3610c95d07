//! `run`, `check` and `profile`.

use std::{fs, path::Path};

use crate::support::{
    KERNELS, bare_crate, command, empty, lock, run, run_command, softmax, target_dir, tmp,
};

/// The header's dictionary and the elements of a `.npy` file of f32, by NumPy's description of the format.
fn npy(bytes: &[u8]) -> (String, Vec<f32>) {
    assert_eq!(bytes[..8], *b"\x93NUMPY\x01\x00");
    let length = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let header = String::from_utf8(bytes[10..10 + length].to_vec()).expect("a dictionary");
    (header, floats(&bytes[10 + length..]))
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    let elements = bytes.as_chunks::<4>().0.iter();
    elements
        .map(|&element| f32::from_le_bytes(element))
        .collect()
}

/// A launch of `softmax` over 4 rows of 1000.
fn rows<'a>(verb: &'a str, input: &'a str) -> Vec<&'a str> {
    let [grid, block] = ["--grid=4", "--block=256"];
    vec![
        verb,
        "softmax",
        grid,
        block,
        "--lds",
        "1024",
        "--arg",
        input,
        "--arg",
        "uninit:4x1000xf32",
        "--arg",
        "u32=1000",
    ]
}

#[test]
fn results_are_written_for_numpy() {
    let dir = tmp("npy");
    let [input, output] = ["in.npy", "out.npy"].map(|name| dir.join(name));
    let [first, second] =
        [(0, &input), (1, &output)].map(|(i, path)| format!("{i}={}", path.display()));
    let arguments = rows("run", "random:4x1000xf32");
    let said = run(
        softmax(),
        &[&arguments[..], &["--out", &first, "--out", &second]].concat(),
    );
    assert!(
        said.stderr.contains("device emulator:gfx942"),
        "{}",
        said.stderr
    );
    assert!(said.ok().contains("4x1000xf32"));
    let (header, x) = npy(&fs::read(&input).expect("the input"));
    assert!(
        header.contains("'<f4'") && header.contains("(4, 1000)"),
        "{header}"
    );
    let (_, y) = npy(&fs::read(&output).expect("the output"));
    assert_eq!((x.len(), y.len()), (4000, 4000));
    for (row, computed) in x.chunks(1000).zip(y.chunks(1000)) {
        let powers: Vec<f64> = row.iter().map(|&x| f64::from(x).exp()).collect();
        let sum: f64 = powers.iter().sum();
        for (power, &computed) in powers.iter().zip(computed) {
            assert!((f64::from(computed) * sum / power - 1.0).abs() < 1e-5);
        }
    }

    // A written file can be read again; raw bytes too.
    let raw = dir.join("raw");
    let again = format!("file:{}", input.display());
    let to = format!("1={}", raw.display());
    run(
        softmax(),
        &[&rows("run", &again)[..], &["--out", &to]].concat(),
    )
    .ok();
    assert_eq!(floats(&fs::read(&raw).expect("bytes")), y);
}

#[test]
fn seeds_choose_the_data() {
    let said = |seed: &str| {
        let arguments = rows("run", "random:4x1000xf32");
        run(softmax(), &[&arguments[..], &["--seed", seed]].concat()).ok()
    };
    assert_eq!(said("1"), said("1"));
    assert_ne!(said("1"), said("2"));
}

#[test]
fn plain_bytes_are_transposed() {
    let dir = tmp("raw");
    let numbers: Vec<f32> = (0_u16..50 * 100).map(f32::from).collect();
    let bytes: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
    fs::write(dir.join("in"), bytes).expect("writes");
    let from = format!("file:{}", dir.join("in").display());
    let to = format!("1={}", dir.join("out").display());
    let launch = [
        "transpose",
        "--grid",
        "4,2",
        "--block",
        "32,8",
        "--lds",
        "4224",
        "--arg",
        &from,
        "--arg",
        "zeros:100x50xf32",
        "--arg",
        "u32=50",
        "--arg",
        "u32=100",
    ];
    run(
        softmax(),
        &[&["run"], &launch[..], &["--out", &to]].concat(),
    )
    .ok();
    let transposed = floats(&fs::read(dir.join("out")).expect("bytes"));
    for (index, element) in transposed.iter().enumerate() {
        assert_eq!(*element, numbers[index % 50 * 100 + index / 50], "{index}");
    }

    let counts = run(softmax(), &[&["profile"], &launch[..]].concat()).ok();
    assert!(
        counts.contains("20,000 B read, 20,000 B written"),
        "{counts}"
    );
    assert!(counts.contains("src/kernels.rs:"), "{counts}");

    // The same kernel from a file, without building.
    let file = target_dir().join("gpu-amdgpu/gfx942/softmax.elf");
    let file = file.display().to_string();
    let ran = run(
        &dir,
        &[&["check"], &launch[..], &["--code-object", &file]].concat(),
    );
    assert!(!ran.stderr.contains("building"), "{}", ran.stderr);
    assert!(ran.ok().starts_with("nothing found"));
}

#[test]
fn bugs_are_found_with_their_lines() {
    assert!(
        run(softmax(), &rows("check", "random:4x1000xf32"))
            .ok()
            .starts_with("nothing found")
    );
    let found = run(softmax(), &rows("check", "random:3x1000xf32"));
    assert_eq!(found.code, 3, "{found:?}");
    assert!(found.stdout.contains("out-of-bounds"), "{}", found.stdout);
    assert!(
        found.stdout.contains("from src/kernels.rs:37:"),
        "{}",
        found.stdout
    );
    // Launched with fewer work-items than the reduction expects.
    let small = [
        "check",
        "softmax",
        "--grid",
        "1",
        "--block",
        "128",
        "--lds",
        "1024",
        "--arg",
        "random:1000xf32",
        "--arg",
        "uninit:1000xf32",
        "--arg",
        "u32=1000",
    ];
    let found = run(softmax(), &small);
    assert_eq!(found.code, 3, "{found:?}");
    // For `run`, a fault is a failure and not a finding. A GPU does not notice what is a little too short.
    run(softmax(), &rows("run", "random:3x1000xf32")).ok();
    let mut long = rows("run", "random:4x1000xf32");
    *long.last_mut().expect("the length of a row") = "u32=1000000";
    run(softmax(), &long).fails(1, &["hipErrorIllegalAddress", "kernel `softmax`"]);
}

#[test]
fn a_barrier_that_is_missing_is_found() {
    // What the tutorial suggests; also tests the template under another name.
    let dir = empty("racy");
    run(&dir, &["new", "racy-rows", "--template", "softmax"]).ok();
    let dir = dir.join("racy-rows");
    lock(&dir);
    let file = dir.join("src/kernels.rs");
    let source = fs::read_to_string(&file).expect("the kernels");
    let without = source.replace(
        "            barrier();\n            half /= 2;",
        "            half /= 2;",
    );
    assert_ne!(without, source);
    fs::write(&file, without).expect("writes");
    let found = run(&dir, &rows("check", "random:4x1000xf32"));
    assert_eq!(found.code, 3, "{found:?}");
    assert!(found.stdout.starts_with("lds-race: "), "{}", found.stdout);
    let main = fs::read_to_string(dir.join("src/main.rs")).expect("the program");
    assert!(main.contains("use racy_rows::{"), "{main}");
}

/// Each kernel panics in a different way.
const PANICS: &str = r#"#![no_std]
#![feature(abi_gpu_kernel, stdarch_amdgpu)]
use core::arch::amdgpu::workitem_id_x;
use ferrowave_panic as _;

#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn indexes(n: u32, out: *mut u32) {
    let table = [3_u32, 1, 4, 1, 5, 9, 2, 6];
    let lane = workitem_id_x();
    unsafe { *out.add(lane as usize) = table[(n + lane) as usize] };
}
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn asserts(n: u32, out: *mut u32) {
    assert!(n < 5, "n is {n}, which is too {}", if n < 9 { "large" } else { "huge" });
    unsafe { *out = n };
}
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn compares(n: u32, out: *mut u32) {
    assert_eq!(n, 10);
    unsafe { *out = n };
}
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn unwraps(n: u32, out: *mut u32) {
    let value = if n == 6 { None } else { Some(n) };
    unsafe { *out = value.expect("n is not six") };
}
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn ends(n: u32, out: *mut u32) {
    if n == 6 {
        unreachable!();
    }
    unsafe { *out = n };
}
"#;

#[test]
fn panics_are_found() {
    let panic = Path::new(env!("CARGO_MANIFEST_DIR")).join("../kernel-build/panic");
    let manifest = format!(
        "[dependencies]\nferrowave-panic = {{ path = {:?} }}\n",
        panic.display().to_string()
    );
    let dir = bare_crate("panics", &manifest, PANICS);
    for (kernel, message) in [
        (
            "indexes",
            "lane 2 panicked at src/lib.rs:10:40: index out of bounds: the len is 8 but the index is 8",
        ),
        (
            "asserts",
            "lane 0 panicked at src/lib.rs:14:5: n is 6, which is too large",
        ),
        (
            "compares",
            "lane 0 panicked at src/lib.rs:19:5: assertion `left == right` failed\n  left: 6\n right: 10",
        ),
        (
            "unwraps",
            "lane 0 panicked at src/lib.rs:25:27: n is not six",
        ),
        (
            "ends",
            "lane 0 panicked at src/lib.rs:30:9: internal error: entered unreachable code",
        ),
    ] {
        let arguments = [
            kernel,
            "--grid",
            "1",
            "--block",
            "64",
            "--arg",
            "u32=6",
            "--arg",
            "zeros:64xu32",
        ];
        let launch = |verb| run(&dir, &[&[verb][..], &arguments].concat());
        for verb in ["run", "profile"] {
            launch(verb).fails(1, &[message, "in workgroup (0, 0, 0), wave 0"]);
        }
        let checked = launch("check");
        assert_eq!(checked.code, 3, "{checked:?}");
        let finding = message.split_once(" panicked").expect("a panic").1;
        for part in ["panic: lane", &format!("panicked{finding}"), "wave 0"] {
            assert!(checked.stdout.contains(part), "{part}: {checked:?}");
        }
        // The handler's instruction has no source line, but the code object has.
        assert!(!checked.stdout.contains("no line tables"), "{checked:?}");
        // A program's exit code tells of findings, also where their text cannot be written.
        let full = fs::File::options().write(true).open("/dev/full");
        let status = command(&dir, [&["run"][..], &arguments].concat())
            .env("FERROWAVE_CHECK", "all")
            .stdout(std::process::Stdio::null())
            .stderr(full.expect("a full device"))
            .status();
        assert_eq!(status.expect("it starts").code(), Some(3), "{kernel}");
    }
}

/// A kernel whose second workgroup never ends.
const ENDLESS: &str = r#"
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn spins(out: *mut u32) {
    if core::arch::amdgpu::workgroup_id_x() == 1 {
        loop {
            core::hint::spin_loop();
        }
    }
    unsafe { *out.add(core::arch::amdgpu::workitem_id_x() as usize) += 1 };
}
"#;

#[test]
fn endless_kernels_are_ended_where_they_stand() {
    let dir = bare_crate("endless", "", &format!("{KERNELS}{ENDLESS}"));
    let launch = |verb: &str, extra: &[&str]| {
        let arguments = [verb, "spins", "--grid", "2", "--block", "128", "--arg"];
        run(&dir, &[&arguments[..], &["zeros:128xu32"], extra].concat())
    };
    // The error says where both waves of the second workgroup are. The first workgroup has ended.
    let places = [
        "kernel `spins` was ended",
        "of 2 workgroups 1 had ended and 1 were under way",
        "src/lib.rs:",
        "of workgroup (1, 0, 0)",
    ];
    for verb in ["run", "check", "profile"] {
        let timeout = [&places[..], &["after 300ms, the timeout"]].concat();
        launch(verb, &["--timeout", "300ms"]).fails(1, &timeout);
        let limit = [&places[..], &["after 5000000 wave-instructions, the limit"]].concat();
        let said = launch(verb, &["--limit", "5000000"]).fails(1, &limit);
        assert!(said.lines().count() < 20, "{said}");
    }
    // Findings do not hide the limit.
    let arguments = [
        "check",
        "spins",
        "--grid=2",
        "--block=128",
        "--limit",
        "5000000",
    ];
    let found = run(
        &dir,
        &[&arguments[..], &["--arg", "uninit:128xu32"]].concat(),
    );
    assert!(found.stdout.contains("uninitialized-memory"), "{found:?}");
    found.fails(3, &["after 5000000 wave-instructions"]);
    let mut command = command(&dir, ["run", "spins", "--grid=2", "--block=128"]);
    command
        .args(["--arg", "zeros:128xu32"])
        .env("FERROWAVE_TIMEOUT", "0.3");
    run_command(&mut command).fails(1, &["after 300ms, the timeout"]);
    command.env("FERROWAVE_TIMEOUT", "soon");
    run_command(&mut command).fails(2, &["FERROWAVE_TIMEOUT is `soon`", "as in 30, 1.5s or 2m"]);
    for (option, value, allowed) in [
        ("--timeout", "0", "as in 30, 1.5s or 2m"),
        ("--timeout", "never", "as in 30, 1.5s or 2m"),
        (
            "--limit",
            "1e6",
            "a whole number of wave-instructions above 0",
        ),
    ] {
        launch("run", &[option, value]).fails(2, &[option, value, allowed]);
    }
}
