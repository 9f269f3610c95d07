//! `build`

use std::fs;

use ferrowave_code_object::{CodeObject, code_objects};
use serde_json::Value;

use crate::support::{run, scale, target_dir, tmp};

#[test]
fn code_objects_and_bundles_are_where_they_are_said_to_be() {
    let bundle = tmp("bundles").join("both.hipfb");
    let given = format!("--bundle={}", bundle.display());
    let said = run(scale(), &["build", "--gpu", "gfx90a,gfx942", &given]).ok();
    assert!(
        said.contains("gfx90a") && said.contains("scale.elf"),
        "{said}"
    );
    let bytes = fs::read(&bundle).expect("the bundle");
    let found = code_objects(&bytes).expect("a bundle");
    assert_eq!(found.len(), 2);
    for (found, gpu) in found.iter().zip(["gfx90a", "gfx942"]) {
        let file = target_dir().join("gpu-amdgpu").join(gpu).join("scale.elf");
        assert_eq!(*found.bytes, fs::read(file).expect("the code object"));
        let object = CodeObject::parse(&found.bytes).expect("a code object");
        assert_eq!(object.target().gpu.name(), gpu);
    }
    // `inspect` shows what the bundle holds.
    let shown = run(
        scale(),
        &["inspect", "--json", &bundle.display().to_string()],
    )
    .ok();
    let rows: Value = serde_json::from_str(&shown).expect("JSON");
    assert_eq!(rows.as_array().expect("rows").len(), 2);
    assert_eq!(rows[0]["gpu"], "gfx90a");
}

#[test]
fn launch_bounds_are_the_manifests_unless_others_are_given() {
    let size = |bounds: &[&str]| {
        let arguments = [&["inspect", "--json"], bounds].concat();
        let rows: Value = serde_json::from_str(&run(scale(), &arguments).ok()).expect("JSON");
        rows[0]["max_workgroup_size"].clone()
    };
    assert_eq!(size(&[]), 64);
    assert_eq!(size(&["--launch-bounds", "scale=128,2"]), 128);
}

#[test]
fn arguments_have_their_types() {
    let shown = run(scale(), &["inspect", "--json"]).ok();
    let rows: Value = serde_json::from_str(&shown).expect("JSON");
    let arguments = rows[0]["arguments"].as_array().expect("arguments");
    let names = arguments.iter().map(|argument| {
        let text = |key: &str| argument[key].as_str().expect("text").to_owned();
        (text("name"), text("type"))
    });
    let expected = [("data", "*mut f32"), ("factor", "f32")];
    assert!(names.eq(expected.map(|(name, of)| (name.to_owned(), of.to_owned()))));
    assert!(run(scale(), &["inspect"]).ok().contains("*mut f32, f32"));
}
