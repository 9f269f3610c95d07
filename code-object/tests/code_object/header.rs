//! Targets of code objects, compared with `llvm-readobj`.

use ferrowave_code_object::{CodeObject, CodeObjectVersion, FeatureSetting};
use ferrowave_gpu::Gpu;
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
