//! The commands on computers with AMD's GPUs, as far as a library can stand in for them: versions of ROCm, GPUs, and what goes
//! wrong. Each must be said, with the right exit code, and never hang the command.

#[path = "../../../emulator/hip/lib/tests/built/mod.rs"]
mod built;
#[path = "../../src/child.rs"]
#[expect(dead_code, reason = "the tests do not run themselves")]
mod child;
mod library;

use std::{fs, os::unix::fs::PermissionsExt as _};

use library::{Computer, ROCM_5_7, ROCM_6_0, ROCM_6_2, ROCM_6_4, ROCM_7_1, ROCM_10_0, Rocm};

const SUPPORTED: [(&Rocm, &str); 5] = [
    (&ROCM_6_0, "6.0.32830"),
    (&ROCM_6_2, "6.2.41133"),
    (&ROCM_6_4, "6.4.43484"),
    (&ROCM_7_1, "7.1.25424"),
    (&ROCM_10_0, "10.0.26306"),
];

/// `gfx_target_version` of the driver.
const GFX942: u32 = 90_402;
const GFX1030: u32 = 100_300;

#[test]
fn rocm_6_and_7_work() {
    for (rocm, version) in SUPPORTED {
        let said = format!("HIP {version} from ");
        let answer = Computer::new(rocm).run(&["doctor"]).expect(
            0,
            &[
                &said,
                "AMD Instinct MI300X",
                "304 compute units",
                "the product is right",
                "hip:0 runs the kernels",
            ],
        );
        assert!(!answer.output.contains("FAILED"), "{}", answer.output);
    }
}

/// ROCm 6 does not tell the number of XCDs; the kernels' order of tiles depends on it.
#[test]
fn an_mi300x_has_8_xcds_with_every_version() {
    for (rocm, _) in SUPPORTED {
        let from = |computer: Computer| {
            let json = computer.run(&["doctor", "--json"]).expect(0, &[]).json();
            assert_eq!(json["devices"][0]["xcds"], 8, "{json}");
            json["devices"][0]["xcds_from"].as_str().map(str::to_owned)
        };
        let is_new = [&ROCM_7_1, &ROCM_10_0]
            .iter()
            .any(|new| std::ptr::eq(rocm, *new));
        let expected = |old: &str| Some(if is_new { "HIP" } else { old }.to_owned());
        let without_driver = from(Computer::new(rocm));
        assert_eq!(without_driver, expected("the number of compute units"));
        let with_driver = from(Computer::new(rocm).driver(1, GFX942, 1216, 8));
        assert_eq!(with_driver, expected("the driver's num_xcc"));
    }
}

/// A computer's own kernels run with every version, chosen by `auto`, and count as a GPU's.
#[test]
fn a_product_runs_on_the_gpu() {
    for (rocm, _) in SUPPORTED {
        let run = [
            "run", "--device", "auto", "--m", "100", "--n", "90", "--k", "80", "--json",
        ];
        let json = Computer::new(rocm).run(&run).expect(0, &["hip:0"]).json();
        assert_eq!(
            (&json["passed"], &json["emulated"]),
            (&true.into(), &false.into())
        );
        assert!(json["gpu_kernel_ns"].is_u64(), "{json}");
    }
}

#[test]
fn rocm_before_6_is_refused_and_says_what_is_needed() {
    let old = || Computer::new(&ROCM_5_7);
    assert_eq!(ROCM_5_7.missing(), ["hipGetDevicePropertiesR0600"]);
    let parts = ["as it is HIP 5.7; ROCm 6.0 or later has it"];
    old()
        .run(&["doctor"])
        .expect(1, &parts)
        .expect(1, &["FAILED  HIP", "repair: "]);
    old()
        .driver(1, GFX942, 1216, 8)
        .run(&["doctor"])
        .expect(1, &parts);
    let run = |device| {
        [
            "run", "--m", "8", "--n", "8", "--k", "8", "--device", device,
        ]
    };
    old().run(&run("hip:0")).expect(2, &parts);
    // The emulator runs instead, and says why.
    old()
        .run(&run("auto"))
        .expect(0, &parts)
        .expect(0, &["emulator:", "correct"]);
}

/// The list of functions that the host needs is that of ROCm 6.0.
#[test]
fn supported_versions_have_every_function_that_is_needed() {
    for (rocm, _) in SUPPORTED {
        assert_eq!(rocm.missing(), [""; 0]);
    }
}

#[test]
fn a_computer_without_a_gpu_passes_in_two_lines() {
    let nothing = Computer::new(&ROCM_6_4).with("no permission");
    let answer = nothing
        .run(&["doctor"])
        .expect(0, &["no GPU: ", "emulator:", "runs the kernels instead"]);
    assert_eq!(answer.output.lines().count(), 2, "{}", answer.output);
    let json = nothing.run(&["doctor", "--json"]).expect(0, &[]).json();
    assert_eq!(
        (&json["passed"], &json["has_gpu"]),
        (&true.into(), &false.into())
    );
    // Unless a GPU is asked for.
    nothing
        .run(&["doctor", "--device", "hip:0"])
        .expect(1, &["FAILED  HIP", "hipErrorNoDevice"]);
}

#[test]
fn a_missing_permission_is_said_with_its_repair() {
    let computer = Computer::new(&ROCM_6_2)
        .with("no permission")
        .driver(1, GFX942, 1216, 8);
    let file = computer.root().join("dev/kfd");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o000)).unwrap();
    // Root may open every file: then only HIP's answer tells.
    let part = match fs::File::open(&file) {
        Ok(_) => "FAILED  HIP",
        Err(_) => "FAILED  driver",
    };
    computer.run(&["doctor"]).expect(1, &[part, "repair: "]);
    let run = [
        "run", "--device", "auto", "--m", "8", "--n", "8", "--k", "8",
    ];
    computer.run(&run).expect(
        0,
        &[
            "emulator:",
            "hipErrorNoDevice",
            "warning: this computer has an AMD GPU (gfx942)",
        ],
    );
}

#[test]
fn a_library_that_is_not_there_is_said() {
    let nowhere = "/nowhere/libamdhip64.so".as_ref();
    let computer = Computer::new(&ROCM_6_4);
    computer
        .run_with(nowhere, &["doctor"])
        .expect(1, &["FAILED  HIP", "/nowhere/libamdhip64.so", "repair: "]);
    let with_gpu = computer.driver(1, GFX942, 1216, 8);
    let parts = [
        "ok      driver",
        "FAILED  HIP",
        "correct or unset FERROWAVE_HIP_LIBRARY",
    ];
    with_gpu.run_with(nowhere, &["doctor"]).expect(1, &parts);
}

#[test]
fn a_radeon_is_passed_over() {
    let computer = Computer::new(&ROCM_6_4)
        .with("radeon, MI300X")
        .driver(1, GFX1030, 160, 1)
        .driver(2, GFX942, 1216, 8);
    let parts = [
        "the driver lists 2 GPUs: gfx1030, gfx942",
        "note    hip:0     Ferrowave has no kernels for gfx1030",
        "ok      hip:1     the product is right",
        "hip:1 runs the kernels",
    ];
    computer.run(&["doctor"]).expect(0, &parts);
    computer
        .run(&["doctor", "--device", "hip:0"])
        .expect(1, &["FAILED  hip:0", "gfx1030"]);
    computer
        .run(&["doctor", "--device", "hip:2"])
        .expect(1, &["FAILED  hip:2", "only hip:0, hip:1"]);
    let run = |device| {
        [
            "run", "--m", "64", "--n", "64", "--k", "64", "--device", device,
        ]
    };
    computer
        .run(&run("auto"))
        .expect(0, &["hip:1: AMD Instinct MI300X", "correct"]);
    computer.run(&run("hip:0")).expect(2, &["gfx1030"]);
}

#[test]
fn with_a_radeon_alone_the_emulator_runs() {
    let computer = Computer::new(&ROCM_6_4)
        .with("radeon")
        .driver(1, GFX1030, 160, 1);
    let parts = [
        "Ferrowave has no kernels for gfx1030",
        "emulator:",
        "the product is right",
    ];
    computer.run(&["doctor"]).expect(0, &parts);
    let run = [
        "run", "--m", "8", "--n", "8", "--k", "8", "--device", "auto",
    ];
    computer
        .run(&run)
        .expect(0, &["emulator:", "gfx1030", "correct"]);
}

#[test]
fn partitions_are_devices_with_one_xcd() {
    let mode = "sys/bus/pci/devices/0000:00:00.0/current_compute_partition";
    let mut computer = Computer::new(&ROCM_6_2).with("CPX").file(mode, "CPX\n");
    for node in 1..=8 {
        computer = computer.driver(node, GFX942, 152, 1);
    }
    let json = computer.run(&["doctor", "--json"]).expect(0, &[]).json();
    let devices = json["devices"].as_array().unwrap();
    assert_eq!(devices.len(), 8);
    for device in devices {
        assert_eq!(
            (&device["compute_units"], &device["xcds"]),
            (&38.into(), &1.into())
        );
    }
    assert_eq!(devices[7]["device"], "hip:7");
    assert_eq!(devices[0]["partition"], "CPX", "{json}");
}

#[test]
fn memory_that_runs_out_is_said_with_its_bytes() {
    let computer = Computer::new(&ROCM_6_4).fault("out of memory");
    let run = [
        "run", "--device", "hip:0", "--m", "600", "--n", "600", "--k", "600",
    ];
    computer
        .run(&run)
        .expect(1, &["hipErrorOutOfMemory", "1440000"]);
}

#[test]
fn a_kernel_that_hangs_is_ended_at_the_limit() {
    let computer = Computer::new(&ROCM_6_4).fault("hang");
    let parts = [
        "FAILED  hip:0",
        "running `naive` on 64×64 matrices failed: it did not end within 5 s, and was killed",
        "repair: ",
    ];
    computer
        .run(&["doctor", "--time-limit", "5s"])
        .expect(1, &parts);
}

/// ROCm 6 aborts the process, ROCm 7 makes every later call fail.
#[test]
fn a_kernel_that_faults_is_said() {
    let doctor = |rocm, fault| {
        let parts = [
            "FAILED  hip:0",
            "running `naive` on 64×64 matrices failed: ",
            "repair: ",
        ];
        Computer::new(rocm)
            .fault(fault)
            .run(&["doctor"])
            .expect(1, &parts)
    };
    doctor(&ROCM_6_2, "bad access").expect(1, &["SIGABRT", "Memory access fault by GPU node-1"]);
    doctor(&ROCM_6_2, "lost").expect(1, &["SIGABRT", "reason :GPU Hang"]);
    for (rocm, fault, error) in [
        (&ROCM_7_1, "bad access", "hipErrorIllegalAddress"),
        (&ROCM_7_1, "lost", "hipErrorLaunchFailure"),
        (&ROCM_10_0, "lost", "hipErrorLaunchFailure"),
    ] {
        doctor(rocm, fault).expect(1, &[error]);
        let run = [
            "run", "--device", "hip:0", "--m", "8", "--n", "8", "--k", "8",
        ];
        Computer::new(rocm)
            .fault(fault)
            .run(&run)
            .expect(1, &[error]);
    }
}

#[test]
fn a_wrong_product_is_never_success() {
    let computer = Computer::new(&ROCM_6_4).fault("wrong");
    computer
        .run(&["doctor"])
        .expect(1, &["FAILED  hip:0", "the product is wrong", "repair: "]);
    let run = [
        "run", "--device", "auto", "--m", "8", "--n", "8", "--k", "8",
    ];
    computer.run(&run).expect(1, &["WRONG"]);
}

/// Ours are version 5, which every supported version loads.
#[test]
fn a_code_object_that_rocm_is_too_old_for_is_said() {
    let old = Computer::new(&ROCM_6_0).fault("code object V6");
    old.run(&["doctor"]).expect(
        1,
        &[
            "FAILED  hip:0",
            "loading the kernels failed",
            "hipErrorNoBinaryForGpu",
            "update ROCm: before 6.2",
        ],
    );
    let run = [
        "run", "--device", "hip:0", "--m", "8", "--n", "8", "--k", "8",
    ];
    old.run(&run).expect(1, &["hipErrorNoBinaryForGpu"]);
    let new = Computer::new(&ROCM_6_2).fault("code object V6");
    new.run(&["doctor"]).expect(0, &[]);
}

/// A report of one row whose process may take 10 s: `results.json` if there is one.
fn report(computer: &Computer, size: &str, code: i32, parts: &[&str]) -> serde_json::Value {
    let out = computer.root().join("report");
    let folder = out.to_str().expect("a path in UTF-8");
    let arguments = [
        "report",
        "--device",
        "auto",
        "--sizes",
        size,
        "--kernels",
        "naive",
        "--samples",
        "2",
        "--no-libraries",
        "--time-limit",
        "10s",
        "--out",
        folder,
    ];
    computer.run(&arguments).expect(code, parts);
    let text = fs::read_to_string(out.join("results.json")).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

#[test]
fn a_report_takes_the_gpu_with_kernels_and_labels_times_as_measured() {
    let computer = Computer::new(&ROCM_6_4).with("radeon, MI300X");
    let results = report(&computer, "64", 0, &["hip:1: AMD Instinct MI300X"]);
    let (device, row) = (&results["run"]["devices"][0], &results["rows"][0]);
    assert_eq!(
        (&device["gpu"], &device["emulated"]),
        (&"gfx942".into(), &false.into())
    );
    assert_eq!(device["compute_units"], 304);
    assert!(
        row["measured"].is_object() && row["modelled"].is_null(),
        "{row}"
    );
    assert!(row["emulation_seconds"].is_null(), "{row}");
    assert_eq!(row["outcome"]["passed"], true);
}

#[test]
fn a_report_of_a_gpu_that_fails_has_no_success() {
    let failed = |rocm, fault, size| {
        let results = report(&Computer::new(rocm).fault(fault), size, 1, &[]);
        let outcome = &results["rows"][0]["outcome"];
        assert_ne!(outcome["passed"], true, "{fault}: {results}");
        // A wrong product is no failure of the kernel.
        assert_eq!(outcome["failed"], fault != "wrong", "{fault}: {results}");
        outcome.to_string()
    };
    let lost = failed(&ROCM_7_1, "lost", "64");
    assert!(lost.contains("hipErrorLaunchFailure"), "{lost}");
    let memory = failed(&ROCM_6_4, "out of memory", "600");
    assert!(memory.contains("1440000 bytes"), "{memory}");
    failed(&ROCM_6_4, "wrong", "64");
}

#[test]
fn a_product_that_hangs_or_faults_does_not_take_the_command_with_it() {
    let run = [
        "run",
        "--device",
        "hip:0",
        "--m",
        "8",
        "--n",
        "8",
        "--k",
        "8",
        "--time-limit",
        "3s",
    ];
    let hang = Computer::new(&ROCM_6_4).fault("hang");
    hang.run(&run).expect(1, &["it did not end within 3 s"]);
    let fault = Computer::new(&ROCM_6_2).fault("bad access");
    let parts = ["SIGABRT", "Memory access fault by GPU node-1"];
    fault.run(&run).expect(1, &parts);
    let results = report(&fault, "64", 1, &[]);
    let outcome = &results["rows"][0]["outcome"];
    assert_eq!(outcome["passed"], false, "{results}");
    assert!(
        outcome.to_string().contains("Memory access fault"),
        "{outcome}"
    );
    // What would have been the first row is not the last.
    assert_eq!(results["complete"], true);
}

/// `selftest` of one kernel: whether that passed, and its complaint.
fn selftest(computer: &Computer, limit: &str, code: i32) -> serde_json::Value {
    let out = computer.root().join("selftest.json");
    let file = out.to_str().expect("a path in UTF-8");
    let arguments = [
        "selftest",
        "--device",
        "auto",
        "--quick",
        "--kernels",
        "gemm_naive_f32",
        "--runs",
        "2",
        "--time-limit",
        limit,
        "--out",
        file,
    ];
    computer.run(&arguments).expect(code, &["hip:0"]);
    let text = fs::read_to_string(out).expect("selftest writes its file");
    let results: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    results["kernels"][0].clone()
}

#[test]
fn selftest_tells_a_good_gpu_from_bad_ones() {
    let good = selftest(&Computer::new(&ROCM_6_4), "100s", 0);
    assert_eq!(good["passed"], true, "{good}");
    let bad = |rocm, fault, limit, part: &str| {
        let kernel = selftest(&Computer::new(rocm).fault(fault), limit, 1);
        assert_eq!(kernel["passed"], false, "{kernel}");
        assert!(kernel.to_string().contains(part), "no `{part}` in {kernel}");
    };
    bad(&ROCM_6_4, "wrong", "100s", "");
    bad(&ROCM_6_4, "hang", "3s", "it did not end within 3 s");
    bad(
        &ROCM_6_2,
        "bad access",
        "100s",
        "Memory access fault by GPU node-1",
    );
    bad(&ROCM_7_1, "lost", "100s", "hipErrorLaunchFailure");
}
