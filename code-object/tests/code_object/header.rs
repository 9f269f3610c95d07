//! Targets of code objects, compared with `llvm-readobj`.

use ferrowave_code_object::{CodeObject, CodeObjectVersion, FeatureSetting};
use ferrowave_gpu::{Family, Gpu};
use ferrowave_kernel_build::Assembly;

use crate::support::{Kernel, readobj, toolchain};

#[test]
fn every_gpu_and_version() {
    for gpu in Gpu::ALL {
        for version in CodeObjectVersion::ALL {
            let bytes = Assembly::new(gpu, &Kernel::new(gpu).text())
                .version(version)
                .assemble(&toolchain())
                .expect("assembles");
            let object = CodeObject::parse(&bytes).expect("parses");
            let target = object.target();
            assert_eq!((target.gpu, target.version), (gpu, version));
            assert_eq!(object.metadata().version.0, 1);
            assert_eq!(object.bytes()[..], bytes[..]);
            assert_eq!(object.kernels().len(), 1);
            // The header states the features' settings: gfx908 has both features, and on gfx942 they can be switched.
            let header = readobj(&bytes, "--file-header");
            for (setting, name) in [(target.xnack, "XNACK"), (target.sramecc, "SRAMECC")] {
                let word = match setting {
                    FeatureSetting::Unsupported => "UNSUPPORTED",
                    FeatureSetting::Any => "ANY",
                    FeatureSetting::Off => "OFF",
                    FeatureSetting::On => "ON",
                };
                let expected = format!("EF_AMDGPU_FEATURE_{name}_{word}_V4");
                assert!(
                    setting == FeatureSetting::Unsupported || header.contains(&expected),
                    "{header}"
                );
            }
        }
    }
}

/// LLVM states a generic version in version 6 only, and does not assemble generic targets for earlier ones.
#[test]
fn generic_targets_run_on_their_gpus() {
    for (generic, gpus) in [
        ("gfx9-4-generic", &Family::Cdna.gpus()[2..]),
        ("gfx11-generic", &Family::Rdna.gpus()[..5]),
        ("gfx12-generic", &[Gpu::Gfx1200, Gpu::Gfx1201]),
    ] {
        let text = Kernel::new(gpus[0]).text();
        let bytes = Assembly::new(gpus[0], &text)
            .processor(generic)
            .version(CodeObjectVersion::V6)
            .assemble(&toolchain())
            .expect("assembles");
        let target = CodeObject::parse(&bytes).expect("parses").target();
        assert_eq!((target.processor(), target.gpu), (generic, gpus[0]));
        for gpu in Gpu::ALL {
            assert_eq!(
                target.runs_on(gpu),
                gpus.contains(&gpu),
                "{generic} on {gpu}"
            );
        }
        // The generic version is in the highest byte of e_flags.
        let mut none = bytes;
        none[51] = 0;
        let error = CodeObject::parse(&none)
            .expect_err("no version")
            .to_string();
        assert!(
            error.contains(generic) && error.contains("generic version 0"),
            "{error}"
        );
    }
}
