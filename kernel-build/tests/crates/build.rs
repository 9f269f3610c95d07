//! Builds the fixture crate, and checks the errors of builds that fail.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    time::{Duration, Instant, SystemTime},
};

use ferrowave_code_object::{CodeObjectVersion, ValueKind};
use ferrowave_gpu::Gpu;
use ferrowave_kernel_build::{Build, BuildError, Built, LaunchBounds};

use crate::support::{Fixture, run, shared_target_dir};

#[test]
fn a_kernel_is_built_with_bounds_lines_and_sources() {
    let fixture = Fixture::new("bounds");
    let built = run(&fixture
        .build()
        .gpu(Gpu::Gfx942)
        .launch_bounds("scale", LaunchBounds::threads(1024))
        .launch_bounds("scale", LaunchBounds::threads(256).min_waves_per_eu(2)))
    .expect("builds");
    let [built] = &built[..] else {
        panic!("one GPU was asked for, {} built", built.len());
    };
    let object = &built.code_object;
    assert_eq!((built.gpu, object.target().gpu), (Gpu::Gfx942, Gpu::Gfx942));
    assert_eq!(object.target().version, CodeObjectVersion::V5);
    let [kernel] = object.kernels() else {
        panic!("{} kernels", object.kernels().len());
    };
    assert_eq!(kernel.metadata.name, "scale");
    assert_eq!(kernel.metadata.max_flat_workgroup_size, 256);
    assert_eq!(kernel.metadata.args[0].value_kind, ValueKind::GlobalBuffer);

    // The store is on this line of the fixture.
    let source = include_str!("../fixtures/kernels/src/lib.rs");
    let line = source
        .lines()
        .position(|line| line.contains("*element *="))
        .expect("the line")
        + 1;
    let has_line = |address| {
        object.lines().frames(address).iter().any(|frame| {
            frame.line == Some(line as u32)
                && frame
                    .file
                    .as_ref()
                    .is_some_and(|file| file.ends_with("lib.rs"))
                && frame.function.as_deref() == Some("scale")
        })
    };
    assert!(kernel.code.clone().step_by(4).any(has_line));

    for file in [
        "kernels/src/lib.rs",
        "kernels/Cargo.toml",
        "kernels/Cargo.lock",
        "common/src/lib.rs",
        "common/Cargo.toml",
    ] {
        let file = fixture.root.join(file);
        assert!(
            built.sources.contains(&file),
            "{file:?} not in {:?}",
            built.sources
        );
    }
}

/// ELF's header, written in the test: `EI_ABIVERSION` is byte 8, and 3 means version 5, which ROCm 6.0 loads.
#[test]
fn the_version_of_the_code_object_is_one_that_rocm_6_0_loads() {
    const EI_ABIVERSION: usize = 8;
    let fixture = Fixture::new("code object version");
    let check = |build: &Build, expected: u8| {
        for built in run(build).expect("builds") {
            let object = &built.code_object;
            assert_eq!(object.bytes()[EI_ABIVERSION], expected, "{}", built.gpu);
            assert_eq!(object.metadata().version, (1, 2), "{}", built.gpu);
        }
    };
    check(
        &fixture
            .build()
            .gpus([Gpu::Gfx908, Gpu::Gfx90a, Gpu::Gfx942]),
        3,
    );
    // ROCm 6.2, which loads version 6, does not know gfx950 yet.
    check(&fixture.build().gpu(Gpu::Gfx950), 4);
    // A crate may choose another version.
    let chosen = fixture.build().llvm_arg("-amdhsa-code-object-version=6");
    check(&chosen.gpu(Gpu::Gfx942), 4);
}

#[test]
fn without_bounds_the_largest_workgroup_is_expected() {
    let fixture = Fixture::new("default bounds");
    let built = run(&fixture.build().gpu(Gpu::Gfx90a)).expect("builds");
    for kernel in built[0].code_object.kernels() {
        assert_eq!(kernel.metadata.max_flat_workgroup_size, 1024);
    }
}

#[test]
fn a_second_build_is_quick_and_leaves_the_product_alone() {
    let fixture = Fixture::new("no-op");
    // A separate target directory, so that no other test touches the product.
    let build = |bounds| {
        Build::new(fixture.kernels())
            .target_dir(fixture.root.join("target"))
            .gpu(Gpu::Gfx942)
            .launch_bounds("scale", LaunchBounds::threads(bounds))
            .run()
            .expect("builds")
            .remove(0)
    };
    let first = build(256);
    let modified = |path| {
        fs::metadata(path)
            .and_then(|data| data.modified())
            .expect("a time")
    };
    let before = modified(&first.path);

    let start = Instant::now();
    let second = build(256);
    let took = start.elapsed();
    assert!(second.fresh);
    assert_eq!(modified(&second.path), before);
    // A fresh build takes a quarter of a second on an idle machine; compiling core takes more than ten.
    assert!(took.as_secs_f32() < 5.0, "{took:?}");

    // Other bounds and an edited dependency are compiled, and so are the first bounds again.
    let third = build(64);
    assert!(!third.fresh);
    assert_eq!(
        third.code_object.kernels()[0]
            .metadata
            .max_flat_workgroup_size,
        64
    );
    fixture.edit("common/src/lib.rs", "3.0", "7.0");
    let fourth = build(64);
    assert!(!fourth.fresh);
    assert_ne!(fourth.code_object.bytes(), third.code_object.bytes());
}

#[test]
fn the_compilers_own_message_comes_through() {
    let fixture = Fixture::new("broken");
    let error = run(&fixture.build().gpu(Gpu::Gfx942).features(&["broken"])).expect_err("broken");
    let BuildError::Compile { messages, gpu, .. } = &error else {
        panic!("unexpected: {error:?}");
    };
    assert_eq!(*gpu, Gpu::Gfx942);
    for part in [
        "error[E0308]: mismatched types",
        "src/lib.rs:",
        "\"not a number\"",
    ] {
        assert!(messages.contains(part), "{part} not in {messages}");
        assert!(error.to_string().contains(part), "{error}");
    }
}

#[test]
fn a_path_with_spaces_takes_bounds_too() {
    let fixture = Fixture::new("a path with spaces");
    let built = Build::new(fixture.kernels())
        .target_dir(fixture.root.join("my target"))
        .gpu(Gpu::Gfx942)
        .launch_bounds("scale", LaunchBounds::threads(128))
        .run()
        .expect("builds");
    let kernel = &built[0].code_object.kernels()[0];
    assert_eq!(kernel.metadata.max_flat_workgroup_size, 128);
    assert!(
        built[0]
            .sources
            .contains(&fixture.root.join("kernels/src/lib.rs"))
    );
}

#[test]
fn each_gpu_has_its_own_product_and_kernels() {
    let fixture = Fixture::new("gpus");
    let built = run(&fixture
        .build()
        .gpus([Gpu::Gfx90a, Gpu::Gfx942])
        .launch_bounds_on(Gpu::Gfx90a, "only_gfx90a", LaunchBounds::threads(64)))
    .expect("builds");
    let kernels: Vec<_> = built
        .iter()
        .map(|built| {
            let names = built.code_object.kernels().iter();
            (
                built.gpu,
                names
                    .map(|kernel| kernel.metadata.name.clone())
                    .collect::<Vec<_>>(),
            )
        })
        .collect();
    assert_eq!(
        kernels,
        [
            (
                Gpu::Gfx90a,
                vec!["only_gfx90a".to_owned(), "scale".to_owned()]
            ),
            (Gpu::Gfx942, vec!["scale".to_owned()]),
        ]
    );
    // No warnings about the crate's own check-cfg or ours.
    assert_eq!(built[1].messages, "");
}

#[test]
fn cfgs_and_features_reach_the_crate() {
    let fixture = Fixture::new("cfgs");
    let build = fixture.build().gpu(Gpu::Gfx942);
    let plain = run(&build).expect("builds");
    let tuned = run(&build.clone().cfg("tuned").features(&["extra"])).expect("builds");
    assert_eq!(plain[0].code_object.kernels().len(), 1);
    assert_eq!(tuned[0].code_object.kernels().len(), 2);
    let code = |built: &Built| {
        let object = &built.code_object;
        let code = object.kernel("scale").expect("the kernel").code.clone();
        object
            .file_bytes(code.start, code.end - code.start)
            .expect("its code")
            .to_vec()
    };
    assert_ne!(code(&plain[0]), code(&tuned[0]));
}

#[test]
fn parts_are_one_code_object() {
    let fixture = Fixture::new("parts");
    let source = "kernels/src/lib.rs";
    fixture.edit(
        source,
        "/// Multiplies",
        "#[cfg(not(ferrowave_part = \"1\"))]\n/// Multiplies",
    );
    fixture.edit(
        source,
        "/// Adds",
        "#[cfg(not(ferrowave_part = \"0\"))]\n/// Adds",
    );
    let whole = fixture.build().gpu(Gpu::Gfx942).features(&["extra"]);
    let whole = whole.launch_bounds("scale", LaunchBounds::threads(256));
    fixture.edit(
        source,
        "use core::arch",
        "#[allow(unused_imports)]\nuse core::arch",
    );
    // rustc cannot write an object to the second one; the crate is compiled as a whole there.
    for target in ["target", "a,b"] {
        let target = fixture.root.join(target);
        let parts = whole.clone().parts(2).target_dir(target);
        let [whole, parts] = [&whole, &parts].map(|build| run(build).expect("builds").remove(0));
        let kernels = |built: &Built| {
            let kernels = built.code_object.kernels().iter().map(|kernel| {
                let code = kernel.code.clone();
                let code = built
                    .code_object
                    .file_bytes(code.start, code.end - code.start);
                (kernel.metadata.clone(), code.expect("its code").to_vec())
            });
            let mut kernels: Vec<_> = kernels.collect();
            kernels.sort_by(|(a, _), (b, _)| a.name.cmp(&b.name));
            kernels
        };
        assert_eq!(kernels(&parts), kernels(&whole));
        assert_eq!(kernels(&parts).len(), 2);
        assert_eq!(parts.messages, "");
        assert_eq!(parts.sources, whole.sources);
    }
    // A message of both parts is printed once.
    fixture.edit(
        source,
        "#[panic_handler]",
        "const UNUSED: u32 = 1;\n#[panic_handler]",
    );
    let warned = run(&whole.parts(2)).expect("builds").remove(0);
    assert_eq!(warned.messages.matches("`UNUSED` is never used").count(), 1);
}

#[test]
fn llvm_arguments_are_passed_on() {
    let fixture = Fixture::new("llvm");
    let error = run(&fixture.build().gpu(Gpu::Gfx942).llvm_arg("-no-such-option"))
        .expect_err("LLVM knows no such option");
    assert!(error.to_string().contains("no-such-option"), "{error}");
    run(&fixture
        .build()
        .gpu(Gpu::Gfx942)
        .llvm_arg("-amdgpu-unroll-threshold-private=40000")
        .llvm_arg_on(Gpu::Gfx90a, "-no-such-option")
        .launch_bounds("scale", LaunchBounds::threads(256)))
    .expect("builds without the option for another GPU");
}

#[test]
fn bounds_that_mean_nothing_are_refused() {
    let fixture = Fixture::new("refused");
    let check = |gpu, symbol: &str, bounds, part: &str| {
        let error = run(&fixture.build().gpu(gpu).launch_bounds(symbol, bounds))
            .expect_err("must be refused");
        assert!(error.to_string().contains(part), "{error}");
    };
    let bounds = |least, most| LaunchBounds {
        flat_workgroup_size: (least, most),
        waves_per_eu: None,
    };
    check(Gpu::Gfx942, "scale", bounds(0, 64), "0 to 64");
    check(Gpu::Gfx942, "scale", bounds(128, 64), "128 to 64");
    check(Gpu::Gfx942, "scale", bounds(1, 1025), "within 1 to 1024");
    check(
        Gpu::Gfx942,
        "scale",
        LaunchBounds::threads(64).min_waves_per_eu(9),
        "within 1 to 8",
    );
    check(
        Gpu::Gfx908,
        "scale",
        LaunchBounds::threads(64).min_waves_per_eu(11),
        "within 1 to 10",
    );
    check(
        Gpu::Gfx942,
        "scale,x",
        LaunchBounds::threads(64),
        "\"scale,x\"",
    );
    check(
        Gpu::Gfx942,
        "scales",
        LaunchBounds::threads(64),
        "kernel `scales`, which does not exist for gfx942; did you mean `scale`? kernels are scale",
    );
}

#[test]
fn the_manifest_gives_the_defaults() {
    let fixture = Fixture::new("manifest");
    fixture.edit(
        "kernels/Cargo.toml",
        "[workspace]",
        "[workspace]\n[package.metadata.gpu-amdgpu]\ngpus = [\"gfx90a\"]\nlaunch-bounds = { scale = 128 }",
    );
    let size = |build: &Build| {
        let built = run(build).expect("builds").remove(0);
        let kernel = built.code_object.kernel("scale").expect("the kernel");
        (built.gpu, kernel.metadata.max_flat_workgroup_size)
    };
    assert_eq!(size(&fixture.build()), (Gpu::Gfx90a, 128));
    let given = fixture
        .build()
        .gpu(Gpu::Gfx942)
        .launch_bounds("scale", LaunchBounds::threads(64));
    assert_eq!(size(&given), (Gpu::Gfx942, 64));

    fixture.edit("kernels/Cargo.toml", "scale = 128", "scale = \"all\"");
    let error = run(&fixture.build()).expect_err("must be refused");
    assert!(matches!(error, BuildError::Crate(_)), "{error:?}");
    fixture.edit("kernels/Cargo.toml", "scale = \"all\"", "scales = 64");
    let error = run(&fixture.build()).expect_err("must be refused");
    assert!(
        error.to_string().contains("did you mean `scale`?"),
        "{error}"
    );
}

#[test]
fn what_is_no_crate_of_kernels_is_refused() {
    let fixture = Fixture::new("none");
    let none = fixture.root.join("nowhere");
    let error = Build::new(&none)
        .gpu(Gpu::Gfx942)
        .run()
        .expect_err("no crate");
    assert!(matches!(error, BuildError::NoCrate { .. }), "{error:?}");

    let error = fixture.build().run().expect_err("no GPU");
    assert!(
        error.to_string().contains("gfx908, gfx90a, gfx942, gfx950"),
        "{error}"
    );

    // The common crate has neither kernels nor a panic handler, which a linked crate needs.
    fs::write(
        fixture.root.join("common/src/lib.rs"),
        "#![no_std]\n#[panic_handler]\nfn panic(_: &core::panic::PanicInfo<'_>) -> ! { loop {} }\n",
    )
    .expect("writes");
    let error = run(&Build::new(fixture.root.join("common"))
        .target_dir(shared_target_dir())
        .gpu(Gpu::Gfx942))
    .expect_err("no kernels");
    assert!(matches!(error, BuildError::NoKernels { .. }), "{error:?}");
}

/// Two crates with the same name, in separate target directories, share one `core`.
#[test]
fn core_is_compiled_once_for_all_crates_and_nothing_else_is_shared() {
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache");
    let mut first = None;
    for (test, factor) in [("cache-first", 1234.5_f32), ("cache-second", 4321.5)] {
        let fixture = Fixture::new(test);
        fixture.edit(
            "kernels/src/lib.rs",
            "fixture_common::FACTOR",
            &factor.to_string(),
        );
        let source = fixture.kernels().join("src/lib.rs");
        // Cargo would reuse files older than its output for a package of the same name.
        let file = File::options().append(true).open(&source).expect("opens");
        let long_ago = SystemTime::now() - Duration::from_secs(1 << 20);
        file.set_modified(long_ago).expect("sets the time");

        let target = fixture.root.join("target");
        let build = Build::new(fixture.kernels())
            .gpu(Gpu::Gfx942)
            .target_dir(&target)
            .cache_dir(&cache);
        let [built] = &run(&build).expect("builds")[..] else {
            panic!("one GPU was asked for");
        };
        assert!(built.path.starts_with(&target), "{}", built.path.display());
        let literal = factor.to_le_bytes();
        let mut words = built.code_object.bytes().windows(4);
        assert!(words.any(|word| word == literal), "it is the other crate's");

        let times = libraries_of_core(&target).into_iter().map(|path| {
            let modified = fs::metadata(&path).and_then(|m| m.modified());
            modified.expect("a time")
        });
        let times: Vec<_> = times.collect();
        assert!(!times.is_empty());
        let before = first.get_or_insert_with(|| times.clone());
        assert_eq!(*before, times, "core was compiled again");
    }
}

fn libraries_of_core(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).expect("lists") {
        let path = entry.expect("an entry").path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if path.is_dir() {
            found.extend(libraries_of_core(&path));
        } else if name.starts_with("libcore") && name.ends_with(".rlib") {
            found.push(path);
        }
    }
    found.sort();
    found
}
