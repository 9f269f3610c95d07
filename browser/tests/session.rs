//! What a page is answered. The page itself is tested in browsers (`tests/real_programs/browser.sh`).

use ferrowave_browser::Session;
use ferrowave_code_object::{code_objects, write_bundle};
use ferrowave_gpu::Gpu;
use ferrowave_test_support::Small;
use serde_json::{Value, json};

/// `a[i] = b[i] + 1`, in floats.
const ADD: &str = "
  v_lshlrev_b32 v1, 2, v0
  global_load_dword v2, v1, s[6:7]
  s_waitcnt vmcnt(0)
  v_add_f32 v2, 1.0, v2
  global_store_dword v1, v2, s[4:5]";

fn ask(session: &mut Session, request: &Value, data: Vec<u8>) -> Result<Value, String> {
    let answer = session.answer(request.to_string().as_bytes(), data);
    let value: Value = serde_json::from_str(&answer.text).expect("JSON");
    match value.get("error") {
        Some(error) => Err(error.as_str().expect("a text").to_owned()),
        None => Ok(value["ok"].clone()),
    }
}

/// A session with a kernel in an open file.
fn open(gpu: Gpu, body: &str) -> Session {
    let mut session = Session::new();
    let object = Small::new(gpu, body).object();
    ask(&mut session, &json!({ "open": {} }), object).expect("it opens");
    session
}

/// A launch of a workgroup of 64 work-items on gfx942, with other fields.
fn launch(arguments: &[&str], fields: Value) -> Value {
    let mut launch = json!({
        "object": 0, "kernel": "k", "gpu": "gfx942", "grid": "1", "block": "64", "arguments": arguments,
    });
    for (name, value) in fields.as_object().expect("fields") {
        launch[name] = value.clone();
    }
    json!({ "launch": { "launch": launch } })
}

#[test]
fn a_launch_has_results_findings_counters_and_a_time() {
    let mut session = open(Gpu::Gfx942, ADD);
    let fields = json!({ "checks": "all", "machine": "MI300X", "seeds": 1 });
    let request = launch(&["zeros:64xf32", "random:64xf32"], fields);
    let ran = ask(&mut session, &request, Vec::new()).expect("it runs");
    assert_eq!(ran["error"], Value::Null);
    assert_eq!((&ran["workgroups"], &ran["waves"]), (&json!(1), &json!(1)));
    assert_eq!(ran["findings"], 0);
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    assert!(text(&ran["report"]).starts_with("nothing found"), "{ran}");
    assert!(text(&ran["timing"]["Ok"]).contains("MI300X"), "{ran}");
    assert!(
        text(&ran["profile"]).contains("global_store_dword"),
        "{ran}"
    );
    let elements = |buffer: usize| -> Vec<f32> {
        let first = ran["buffers"][buffer]["first"]
            .as_array()
            .expect("elements");
        let texts = first
            .iter()
            .map(|element| element.as_str().expect("a text"));
        texts.map(|text| text.parse().expect("a number")).collect()
    };
    let expected: Vec<_> = elements(1).iter().map(|element| element + 1.0).collect();
    assert_eq!(elements(0), expected);
    assert_eq!(expected.len(), 64);

    // The buffer as a file: NumPy's header ends at byte 128.
    let answer = session.answer(br#"{"buffer":{"argument":0}}"#, Vec::new());
    assert_eq!(answer.text, r#"{"ok":{"name":"argument-0.npy"}}"#);
    let bytes: Vec<u8> = expected
        .iter()
        .flat_map(|element| element.to_le_bytes())
        .collect();
    assert_eq!(answer.data[answer.data.len() - bytes.len()..], bytes);
    assert!(answer.data.starts_with(b"\x93NUMPY"));
}

#[test]
fn arguments_can_be_files() {
    let mut session = open(Gpu::Gfx942, ADD);
    let mut request = launch(&["zeros:64xf32", "file:b.bin"], json!({}));
    let missing = ask(&mut session, &request, Vec::new()).expect_err("no such file");
    assert!(
        missing.contains("argument 1: b.bin: there is no file"),
        "{missing}"
    );
    request["launch"]["files"] = json!([["a", 3], ["b.bin", 256]]);
    let mut data = vec![0; 3];
    data.extend(
        [2.5_f32; 64]
            .iter()
            .flat_map(|element| element.to_le_bytes()),
    );
    let ran = ask(&mut session, &request, data).expect("it runs");
    assert_eq!(ran["buffers"][0]["first"][63], "3.5");
    let short = ask(&mut session, &request, vec![0; 9]).expect_err("bytes are missing");
    assert_eq!(short, "b.bin: 256 bytes, but 6 are left");
}

#[test]
fn bugs_are_found_and_faults_reported() {
    // Two waves store to one place without a barrier.
    let racing = "
  v_mov_b32 v1, 0
  global_store_dword v1, v0, s[4:5]";
    let mut session = open(Gpu::Gfx942, racing);
    let request = launch(
        &["zeros:4xu32", "u64=0"],
        json!({ "block": "128", "checks": "races" }),
    );
    let ran = ask(&mut session, &request, Vec::new()).expect("it runs");
    assert_eq!(ran["findings"], 1, "{ran}");
    assert!(
        ran["report"].as_str().expect("a text").contains("race"),
        "{ran}"
    );

    let beyond = "
  v_mov_b32 v1, 0x1000000
  global_store_dword v1, v0, s[4:5]";
    let mut session = open(Gpu::Gfx942, beyond);
    let ran = ask(
        &mut session,
        &launch(&["zeros:4xu32", "u64=0"], json!({})),
        Vec::new(),
    );
    let ran = ran.expect("it starts");
    let error = ran["error"].as_str().expect("a fault");
    assert!(error.contains("global_store_dword"), "{error}");

    let endless = "
.Lagain:
  s_branch .Lagain";
    let mut session = open(Gpu::Gfx942, endless);
    let request = launch(
        &["u64=0", "u64=0"],
        json!({ "limit": 100000, "machine": "MI300X" }),
    );
    let ran = ask(&mut session, &request, Vec::new()).expect("it starts");
    let error = ran["error"].as_str().expect("a limit");
    assert!(error.contains("instructions"), "{error}");
    assert_eq!(ran["timing"], Value::Null);
}

#[test]
fn a_bundle_is_described_for_each_gpu() {
    let objects = [Gpu::Gfx90a, Gpu::Gfx942].map(|gpu| {
        let name = format!("hipv4-amdgcn-amd-amdhsa--{}", gpu.name());
        (name, Small::new(gpu, ADD).object())
    });
    let entries: Vec<_> = objects
        .iter()
        .map(|(name, object)| (name.clone(), &**object))
        .collect();
    let mut session = Session::new();
    let opened = ask(&mut session, &json!({ "open": {} }), write_bundle(&entries));
    let opened = opened.expect("it opens");
    let objects = opened["objects"].as_array().expect("objects");
    let gpus: Vec<_> = objects
        .iter()
        .map(|object| &object["gpus"][0]["gpu"])
        .collect();
    assert_eq!(gpus, ["gfx90a", "gfx942"]);
    assert_eq!(objects[1]["gpus"][0]["machines"], json!(["MI300X"]));
    assert_eq!(objects[0]["kernels"], json!(["k"]));

    let described = ask(
        &mut session,
        &json!({ "kernel": { "kernel": "k", "workgroup_size": 256 } }),
        Vec::new(),
    );
    let described = described.expect("both have it");
    // 128 registers of 512 are four waves.
    for one in described.as_array().expect("descriptions") {
        assert_eq!(
            (&one["vgprs"], &one["waves_per_simd"]),
            (&json!(128), &json!(4))
        );
        assert_eq!(one["suggested"], json!(["zeros:4096xu8", "zeros:4096xu8"]));
    }
    let listing = ask(
        &mut session,
        &json!({ "listing": { "kernel": "k", "object": 1 } }),
        Vec::new(),
    );
    let listing = listing.expect("it has code");
    let texts = listing.as_array().expect("instructions").iter();
    let texts: Vec<_> = texts
        .map(|line| line["text"].as_str().expect("a text"))
        .collect();
    assert!(
        texts.iter().any(|text| text.starts_with("v_add_f32")),
        "{texts:?}"
    );
    assert_eq!(texts.len(), 8);
}

#[test]
fn what_is_wrong_is_told_as_on_the_command_line() {
    let mut session = Session::new();
    let file = b"no code at all".to_vec();
    let error = ask(&mut session, &json!({ "open": {} }), file.clone()).expect_err("no code");
    assert_eq!(error, code_objects(&file).expect_err("no code").to_string());
    let listing = json!({ "listing": { "kernel": "k", "object": 0 } });
    let error = ask(&mut session, &listing, Vec::new());
    assert_eq!(error, Err("code object 0 of 0, from 0".to_owned()));

    let mut session = open(Gpu::Gfx942, ADD);
    // What is open stays if another file cannot be read.
    let half = Small::new(Gpu::Gfx942, ADD).object()[..500].to_vec();
    ask(&mut session, &json!({ "open": {} }), half).expect_err("half a file");
    ask(&mut session, &listing, Vec::new()).expect("it is still open");
    let buffers = ["zeros:64xf32", "zeros:64xf32"];
    for (request, complaint) in [
        (
            launch(&["zeros:64xf32"], json!({})),
            "`k` takes 2 arguments, but 1 are given",
        ),
        (
            launch(&["zeros:64xf33", "u64=0"], json!({})),
            "argument 0: `f33` is no type",
        ),
        (
            launch(&["f32=1", "u64=0"], json!({})),
            "argument 0 of `k` is a buffer, but a value is given",
        ),
        (
            launch(&buffers, json!({ "kernel": "kk" })),
            "no kernel `kk`; did you mean `k`?",
        ),
        (
            launch(&buffers, json!({ "gpu": "gfx90a" })),
            "is for gfx942, but the device is gfx90a",
        ),
        (launch(&buffers, json!({ "gpu": "gfx9000" })), "gfx9000"),
        (
            launch(&buffers, json!({ "grid": "1,x" })),
            "grid: `x` is no number",
        ),
        (launch(&buffers, json!({ "block": "0" })), "block"),
        (launch(&buffers, json!({ "block": "2048" })), "2048"),
        (launch(&buffers, json!({ "lds_bytes": 1 << 20 })), "LDS"),
        (launch(&buffers, json!({ "checks": "all,none" })), "none"),
        (launch(&buffers, json!({ "machine": "MI300Y" })), "MI300Y"),
        (
            launch(&["zeros:3000000000xf32", "u64=0"], json!({})),
            "out of device memory",
        ),
        (
            launch(&buffers, json!({ "object": 7 })),
            "code object 7 of 1",
        ),
        (json!({ "launch": {} }), "missing field"),
        (json!({ "else": {} }), "unknown variant"),
        (
            json!({ "buffer": { "argument": 0 } }),
            "argument 0 is no buffer",
        ),
    ] {
        let error = ask(&mut session, &request, Vec::new()).expect_err(complaint);
        assert!(error.contains(complaint), "{complaint}: {error}");
    }
    // A machine of another GPU has no time, but the kernel runs.
    let ran = ask(
        &mut session,
        &launch(&buffers, json!({ "machine": "MI210" })),
        Vec::new(),
    );
    let ran = ran.expect("it runs");
    let why = ran["timing"]["Err"].as_str().expect("why there is no time");
    assert!(why.contains("MI210 runs gfx90a"), "{why}");
    assert_eq!(ran["buffers"][0]["first"][0], "1");
}

#[test]
fn a_damaged_file_is_an_error_or_a_file() {
    let whole = Small::new(Gpu::Gfx942, ADD).object();
    let mut session = Session::new();
    for at in (0..whole.len()).step_by(7) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0xff;
        if ask(&mut session, &json!({ "open": {} }), damaged).is_ok() {
            // Whatever is left of the kernel answers or is refused.
            let _ = ask(
                &mut session,
                &json!({ "kernel": { "kernel": "k" } }),
                Vec::new(),
            );
            let _ = ask(
                &mut session,
                &json!({ "listing": { "kernel": "k", "object": 0 } }),
                Vec::new(),
            );
            let request = launch(&["zeros:64xf32", "zeros:64xf32"], json!({ "limit": 10000 }));
            let _ = ask(&mut session, &request, Vec::new());
        }
    }
}
