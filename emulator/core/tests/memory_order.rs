//! What workgroups on different host threads see of each other's stores: values of up to 16 bytes are not torn, and
//! waits order stores.
//!
//! Two workgroups of one wave each run concurrently if the host has two CPUs. With one, these tests show little.

use ferrowave_emulator::dispatch::{LaunchConfig, Limits, launch};
use ferrowave_gpu::Gpu;
use ferrowave_test_support::Small;

const BYTES: usize = 1 << 20;

/// Runs a kernel as two workgroups on two host threads. Returns the contents of the second buffer.
fn run_both(gpu: Gpu, body: &str) -> Vec<u32> {
    let small = Small {
        buffers: [(BYTES, BYTES); 2],
        ..Small::new(gpu, body).workgroups(2)
    };
    small.run(|kernel, config| {
        let config = LaunchConfig {
            threads: Some(2),
            limits: Limits::NONE,
            ..*config
        };
        launch(kernel, &config).expect("a correct kernel");
        let (_, buffer) = config.kernarg.split_at(8);
        let buffer = u64::from_le_bytes(buffer.try_into().expect("two buffers"));
        let mut bytes = vec![0; BYTES];
        let memory = kernel.memory();
        memory.read(buffer, &mut bytes).expect("inside the buffer");
        let dwords = bytes.as_chunks::<4>().0.iter();
        dwords.map(|dword| u32::from_le_bytes(*dword)).collect()
    })
}

/// The modifier of a load that sees other workgroups' stores.
const fn coherent(gpu: Gpu) -> &'static str {
    match gpu {
        Gpu::Gfx908 | Gpu::Gfx90a => "glc",
        _ => "sc1",
    }
}

/// Layouts of a wave's lanes: name, code that computes addresses `v5` from lanes `v0`, and the active lanes.
const WAYS: [(&str, &str, &str); 4] = [
    (
        "one behind the other",
        "v_lshlrev_b32_e32 v5, {size}, v0",
        "-1",
    ),
    ("at one address", "v_mov_b32_e32 v5, 64", "-1"),
    ("apart", "v_mul_u32_u24_e32 v5, 0x70, v0", "-1"),
    ("some inactive", "v_mul_u32_u24_e32 v5, 0x70, v0", "0x5555"),
];

/// The first workgroup repeatedly stores a number to all dwords of each lane. The second counts how often the dwords
/// that it loads differ. `v20` is a counter, so that the loop has one run of vector instructions.
fn whole(gpu: Gpu, dwords: u32, way: (&str, &str, &str)) {
    let (name, addresses, exec) = way;
    let size = (4 * dwords).trailing_zeros().to_string();
    let wide = format!("dwordx{dwords}");
    let last = dwords - 1;
    let coherent = coherent(gpu);
    let each = |text: &dyn Fn(u32) -> String| (0..dwords).map(text).collect::<String>();
    let copies = each(&|part| format!("  v_mov_b32_e32 v{}, v4\n", 8 + part));
    let compare = each(&|part| {
        format!(
            "  v_xor_b32_e32 v{0}, v8, v{1}\n  v_or_b32_e32 v16, v16, v{0}\n",
            17,
            8 + part
        )
    });
    let addresses = addresses.replace("{size}", &size);
    let counts = run_both(
        gpu,
        &format!(
            "
  v_and_b32_e32 v0, 0x3ff, v0
  {addresses}
  s_mov_b64 exec, {exec}
  s_mov_b32 s8, 20000
  v_mov_b32_e32 v4, 0
  v_mov_b32_e32 v15, 0
  s_cmp_lg_u32 s2, 0
  s_cbranch_scc1 .Lreader
.Lwriter:
  v_add_u32_e32 v4, 1, v4
{copies}
  global_store_{wide} v5, v[8:{end}], s[4:5]
  s_sub_u32 s8, s8, 1
  s_cmp_lg_u32 s8, 0
  s_cbranch_scc1 .Lwriter
  s_endpgm
.Lreader:
  global_load_{wide} v[8:{end}], v5, s[4:5] {coherent}
  s_waitcnt vmcnt(0)
  v_mov_b32_e32 v16, 0
{compare}
  v_min_u32_e32 v16, 1, v16
  v_add_u32_e32 v15, v15, v16
  s_sub_u32 s8, s8, 1
  s_cmp_lg_u32 s8, 0
  s_cbranch_scc1 .Lreader
  v_lshlrev_b32_e32 v6, 2, v0
  global_store_dword v6, v15, s[6:7]
",
            end = 8 + last
        ),
    );
    let torn: u32 = counts[..64].iter().sum();
    assert_eq!(torn, 0, "{gpu}: {dwords} dwords, lanes {name}");
}

#[test]
fn aligned_values_are_whole() {
    for way in WAYS {
        for dwords in [2, 4] {
            whole(Gpu::Gfx90a, dwords, way);
        }
    }
}

/// The same for scalar loads, which read all 16 bytes at once.
#[test]
fn scalar_loads_are_whole() {
    let torn = run_both(
        Gpu::Gfx90a,
        "
  s_mov_b32 s8, 20000
  v_mov_b32_e32 v5, 0
  v_mov_b32_e32 v4, 0
  s_mov_b32 s20, 0
  s_cmp_lg_u32 s2, 0
  s_cbranch_scc1 .Lreader
.Lwriter:
  v_add_u32_e32 v4, 1, v4
  v_mov_b32_e32 v8, v4
  v_mov_b32_e32 v9, v4
  v_mov_b32_e32 v10, v4
  v_mov_b32_e32 v11, v4
  global_store_dwordx4 v5, v[8:11], s[4:5]
  s_sub_u32 s8, s8, 1
  s_cmp_lg_u32 s8, 0
  s_cbranch_scc1 .Lwriter
  s_endpgm
.Lreader:
  s_load_dwordx4 s[12:15], s[4:5], 0x0
  s_waitcnt lgkmcnt(0)
  s_xor_b32 s16, s12, s13
  s_xor_b32 s17, s12, s14
  s_xor_b32 s18, s12, s15
  s_or_b32 s16, s16, s17
  s_or_b32 s16, s16, s18
  s_or_b32 s20, s20, s16
  s_dcache_inv
  s_sub_u32 s8, s8, 1
  s_cmp_lg_u32 s8, 0
  s_cbranch_scc1 .Lreader
  v_mov_b32_e32 v4, s20
  global_store_dword v5, v4, s[6:7]
",
    );
    assert_eq!(torn[0], 0);
}

/// A meeting of both workgroups: each increments `b[0x40000]`, and polls it until both have done so `s9` times.
fn meet(gpu: Gpu) -> String {
    format!(
        "
  s_add_u32 s9, s9, 2
  v_mov_b32_e32 v10, 0x40000
  v_mov_b32_e32 v11, 1
  global_atomic_add v10, v11, s[6:7]
.Lspin:
  global_load_dword v12, v10, s[6:7] {}
  s_waitcnt vmcnt(0)
  v_readfirstlane_b32 s12, v12
  s_cmp_lt_u32 s12, s9
  s_cbranch_scc1 .Lspin
",
        coherent(gpu)
    )
}

const ROUNDS: usize = 2000;

/// In each round, at new places, one workgroup stores x and then loads y, the other stores y and then loads x. With a
/// wait between, at least one sees the other's store. `between` is the code between the store and the load.
fn store_buffering(gpu: Gpu, between: &str, load: &str) {
    let seen = run_both(
        gpu,
        &format!(
            "
  s_mov_b64 exec, 1
  s_mov_b32 s9, 0
  s_mov_b32 s8, 0
  v_mov_b32_e32 v4, 1
  s_lshl_b32 s10, s2, 8
  s_xor_b32 s11, s10, 0x100
  s_lshl_b32 s16, s2, 2
.Lround:
{}
  s_lshl_b32 s13, s8, 9
  s_add_u32 s14, s13, s10
  s_add_u32 s15, s13, s11
  v_mov_b32_e32 v5, s14
  v_mov_b32_e32 v6, s15
  s_add_u32 s18, s4, s15
  s_addc_u32 s19, s5, 0
  global_store_dword v5, v4, s[4:5]
{between}
{load}
  s_lshl_b32 s13, s8, 3
  s_add_u32 s13, s13, s16
  v_mov_b32_e32 v8, s13
  global_store_dword v8, v7, s[6:7]
  s_add_u32 s8, s8, 1
  s_cmp_lt_u32 s8, {ROUNDS}
  s_cbranch_scc1 .Lround
",
            meet(gpu)
        ),
    );
    let rounds = seen.as_chunks::<2>().0[..ROUNDS].iter();
    let neither = rounds.filter(|saw| **saw == [0, 0]).count();
    assert_eq!(
        neither, 0,
        "{gpu}, {between}: rounds in which neither saw the other"
    );
}

#[test]
fn who_has_waited_for_a_store_loads_behind_it() {
    for gpu in [Gpu::Gfx90a, Gpu::Gfx942] {
        let coherent = coherent(gpu);
        let load = format!("  global_load_dword v7, v6, s[4:5] {coherent}\n  s_waitcnt vmcnt(0)");
        store_buffering(gpu, "  s_waitcnt vmcnt(0)", &load);
    }
    let writes_back = "  buffer_wbl2 sc1\n  s_waitcnt vmcnt(0)\n  buffer_inv sc1";
    let load = "  global_load_dword v7, v6, s[4:5]\n  s_waitcnt vmcnt(0)";
    store_buffering(Gpu::Gfx942, writes_back, load);
    let scalar = "
  s_load_dword s17, s[18:19], 0x0
  s_waitcnt lgkmcnt(0)
  v_mov_b32_e32 v7, s17";
    store_buffering(Gpu::Gfx90a, "  s_waitcnt vmcnt(0)\n  s_dcache_inv", scalar);
}

/// The first workgroup stores a number to 64 places, and then to a flag. The second loads the flag, waits, and loads
/// the places: none of them is older than the flag.
#[test]
fn who_sees_a_flag_sees_what_was_stored_before() {
    for gpu in [Gpu::Gfx90a, Gpu::Gfx942] {
        let coherent = coherent(gpu);
        let older = run_both(
            gpu,
            &format!(
                "
  v_and_b32_e32 v0, 0x3ff, v0
  v_lshlrev_b32_e32 v5, 8, v0
  v_mov_b32_e32 v6, 0x80000
  v_mov_b32_e32 v4, 0
  v_mov_b32_e32 v15, 0
  s_mov_b32 s8, 20000
  s_cmp_lg_u32 s2, 0
  s_cbranch_scc1 .Lreader
.Lwriter:
  v_add_u32_e32 v4, 1, v4
  global_store_dword v5, v4, s[4:5]
  s_waitcnt vmcnt(0)
  global_store_dword v6, v4, s[4:5]
  s_sub_u32 s8, s8, 1
  s_cmp_lg_u32 s8, 0
  s_cbranch_scc1 .Lwriter
  s_endpgm
.Lreader:
  global_load_dword v7, v6, s[4:5] {coherent}
  s_waitcnt vmcnt(0)
  global_load_dword v8, v5, s[4:5] {coherent}
  s_waitcnt vmcnt(0)
  v_max_u32_e32 v9, v7, v8
  v_sub_u32_e32 v9, v9, v8
  v_or_b32_e32 v15, v15, v9
  s_sub_u32 s8, s8, 1
  s_cmp_lg_u32 s8, 0
  s_cbranch_scc1 .Lreader
  v_lshlrev_b32_e32 v6, 2, v0
  global_store_dword v6, v15, s[6:7]
"
            ),
        );
        assert!(older[..64].iter().all(|&older| older == 0), "{gpu}");
    }
}
