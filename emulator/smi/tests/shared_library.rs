//! Uses the library as rocBLAS's programs do. The environment determines the devices, so that each test sets it and
//! runs this program again with the single test [`in_a_process_of_its_own`].

#[path = "../../hip/lib/tests/built/mod.rs"]
mod built;

use std::{
    collections::BTreeSet,
    env,
    ffi::{CStr, c_char, c_int},
    fs, mem,
    process::{Command, Output},
    ptr,
};

use ferrowave_hip::{DEVICE_VARIABLE, FUNCTIONS};
use ferrowave_hip_abi::{hipDeviceProp_tR0600, hipError_t};
use object::{Object, ObjectSection, ObjectSymbol, read::elf::ElfFile64};
use rocm_smi64::{
    abi::{Frequencies, Metrics, Status, Version},
    unsupported::rsmi_dev_power_ave_get,
    *,
};

const CHILD_VARIABLE: &str = "FERROWAVE_TEST_CHILD";

fn run(devices: &str) -> Output {
    Command::new(env::current_exe().expect("the test has a path"))
        .args(["--exact", "in_a_process_of_its_own", "--nocapture"])
        .env(CHILD_VARIABLE, "1")
        .env(DEVICE_VARIABLE, devices)
        .output()
        .expect("it starts")
}

macro_rules! call {
    ($call:expr) => {
        // SAFETY: pointers are null or point to variables of the tests that are as large as the call says.
        unsafe { $call }
    };
}

/// The value that a function writes.
fn answer<T>(call: impl FnOnce(*mut T) -> Status) -> Result<T, Status> {
    let mut value = mem::MaybeUninit::<T>::zeroed();
    match call(value.as_mut_ptr()) {
        // SAFETY: all zeros is a valid value of each of these types, and the call has written one.
        Status::SUCCESS => Ok(unsafe { value.assume_init() }),
        status => Err(status),
    }
}

fn text(bytes: &[u8]) -> &str {
    let text = CStr::from_bytes_until_nul(bytes).expect("it ends with a NUL");
    text.to_str().expect("it is UTF-8")
}

/// What both libraries report about each device: `rocblas-bench` compares the two.
#[test]
fn in_a_process_of_its_own() {
    if env::var_os(CHILD_VARIABLE).is_none() {
        return;
    }
    let count = || answer(|count| call!(rsmi_num_monitor_devices(count)));
    let pci_id = |index| answer(|id| call!(rsmi_dev_pci_id_get(index, id)));
    assert_eq!(count(), Ok(0));
    assert_eq!(pci_id(0), Err(Status::INVALID_ARGS));
    assert_eq!(rsmi_shut_down(), Status::INIT_ERROR);
    let status = rsmi_init(0);
    println!("init: {}", status.0);
    if status != Status::SUCCESS {
        assert_eq!(count(), Ok(0));
        return;
    }
    assert_eq!(rsmi_init(0), Status::SUCCESS);
    assert_eq!(rsmi_shut_down(), Status::SUCCESS);
    let mut devices: c_int = 0;
    assert_eq!(
        call!((FUNCTIONS.hipGetDeviceCount)(&mut devices)),
        hipError_t::hipSuccess
    );
    assert_eq!(count(), Ok(devices as u32));
    for index in 0..devices as u32 {
        let mut hip = hipDeviceProp_tR0600::ZERO;
        let status = call!((FUNCTIONS.hipGetDevicePropertiesR0600)(
            &mut hip,
            index as c_int
        ));
        assert_eq!(status, hipError_t::hipSuccess);
        let place = (hip.pciDomainID as u64) << 32
            | (hip.pciBusID as u64) << 8
            | (hip.pciDeviceID as u64) << 3;
        assert_eq!(pci_id(index), Ok(place));
        let mut name = [0xff_u8; 256];
        let status = call!(rsmi_dev_name_get(
            index,
            name.as_mut_ptr().cast(),
            name.len()
        ));
        assert_eq!(status, Status::SUCCESS);
        let hip_name = hip.name.map(|c| c as u8);
        assert_eq!(text(&name), text(&hip_name));
        let memory = answer(|bytes| call!(rsmi_dev_memory_total_get(index, 0, bytes)));
        assert_eq!(memory, Ok(hip.totalGlobalMem as u64));
        for (clock, khz) in [(0, hip.clockRate), (4, hip.memoryClockRate)] {
            let clocks: Frequencies =
                answer(|clocks| call!(rsmi_dev_gpu_clk_freq_get(index, clock, clocks)))
                    .expect("it has it");
            assert_eq!((clocks.num_supported, clocks.current), (1, 0));
            assert_eq!(clocks.frequency[0], khz as u64 * 1000);
        }
        let xcds = answer(|xcds| call!(rsmi_dev_metrics_xcd_counter_get(index, xcds)));
        let xcds = xcds.expect("it has some") as usize;
        let metrics: Metrics =
            answer(|metrics| call!(rsmi_dev_gpu_metrics_info_get(index, metrics)))
                .expect("it has them");
        let mhz = (hip.clockRate / 1000) as u16;
        assert!(
            metrics.current_gfxclks[..xcds]
                .iter()
                .all(|&clock| clock == mhz)
        );
        assert!(
            metrics.current_gfxclks[xcds..]
                .iter()
                .all(|&clock| clock == u16::MAX)
        );
        let id: u16 = answer(|id| call!(rsmi_dev_id_get(index, id))).expect("it has one");
        println!("device: {id:04x} {xcds} {}", metrics.vram_max_bandwidth);
    }
    refuses_what_is_wrong(devices as u32);
    assert_eq!(rsmi_shut_down(), Status::SUCCESS);
    assert_eq!(count(), Ok(0));
    assert_eq!(pci_id(0), Err(Status::INVALID_ARGS));
}

fn refuses_what_is_wrong(devices: u32) {
    let bad = Status::INVALID_ARGS;
    let mut id = 7_u64;
    assert_eq!(call!(rsmi_dev_pci_id_get(devices, &mut id)), bad);
    assert_eq!(call!(rsmi_dev_pci_id_get(u32::MAX, &mut id)), bad);
    assert_eq!(id, 7);
    assert_eq!(call!(rsmi_dev_pci_id_get(0, ptr::null_mut())), bad);
    assert_eq!(call!(rsmi_num_monitor_devices(ptr::null_mut())), bad);
    assert_eq!(call!(rsmi_dev_gpu_clk_freq_get(0, 0, ptr::null_mut())), bad);
    assert_eq!(
        call!(rsmi_dev_gpu_metrics_info_get(0, ptr::null_mut())),
        bad
    );
    let clock = |clock| answer(|clocks| call!(rsmi_dev_gpu_clk_freq_get(0, clock, clocks))).err();
    assert_eq!(clock(3), Some(Status::NOT_SUPPORTED));
    assert_eq!([6, u32::MAX].map(clock), [Some(bad); 2]);
    let memory = |kind| answer(|bytes| call!(rsmi_dev_memory_total_get(0, kind, bytes))).err();
    assert_eq!([2, 3].map(memory), [Some(Status::NOT_SUPPORTED), Some(bad)]);
    assert_eq!(rsmi_dev_power_ave_get(), Status::NOT_SUPPORTED);
    // Names are truncated to the buffer; the byte after it is left unchanged.
    let mut name = [0xff_u8; 8];
    let to = name.as_mut_ptr().cast::<c_char>();
    assert_eq!(call!(rsmi_dev_market_name_get(0, to, 0)), bad);
    assert_eq!(call!(rsmi_dev_market_name_get(0, ptr::null_mut(), 8)), bad);
    assert_eq!(name, [0xff; 8]);
    assert_eq!(
        call!(rsmi_dev_market_name_get(0, to, 7)),
        Status::INSUFFICIENT_SIZE
    );
    assert_eq!(&name, b"AMD In\0\xff");
}

#[test]
fn it_has_the_devices_of_hip() {
    for (devices, said) in [
        ("", &["device: 74a1 8 5324"][..]),
        (
            "emulator:gfx908,emulator:gfx90a,emulator:gfx950",
            &[
                "device: 738c 1 1228",
                "device: 740f 1 1638",
                "device: 75a3 8 8192",
            ],
        ),
    ] {
        let output = run(devices);
        let text = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{text}{errors}");
        let lines: Vec<_> = text
            .lines()
            .filter(|line| line.starts_with("device: "))
            .collect();
        assert_eq!(lines, said);
    }
}

#[test]
fn a_variable_that_names_no_devices_is_said() {
    let output = run("emulator:gfx1030");
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && text.contains("init: 8"),
        "{text}{errors}"
    );
    let expected = "ferrowave: librocm_smi64: FERROWAVE_DEVICE is `emulator:gfx1030`, but the emulator has only";
    assert!(errors.contains(expected), "{errors}");
}

#[test]
fn statuses_and_versions_need_no_devices() {
    let string = |status| {
        let mut text = ptr::null();
        let result = call!(rsmi_status_string(status, &mut text));
        (
            result,
            call!(CStr::from_ptr(text)).to_str().expect("it is UTF-8"),
        )
    };
    let (result, text) = string(Status::NOT_SUPPORTED);
    assert_eq!(result, Status::SUCCESS);
    assert!(text.starts_with("RSMI_STATUS_NOT_SUPPORTED: "), "{text}");
    let (result, text) = string(Status(23));
    assert_eq!(result, Status::UNKNOWN_ERROR);
    assert!(text.starts_with("RSMI_STATUS_UNKNOWN_ERROR: "), "{text}");
    assert_eq!(
        call!(rsmi_status_string(Status::SUCCESS, ptr::null_mut())),
        Status::INVALID_ARGS
    );
    let version: Version = answer(|version| call!(rsmi_version_get(version))).expect("it has one");
    assert_eq!((version.major, version.minor), (7, 6));
}

#[test]
fn it_exports_what_rocm_exports() {
    let bytes = fs::read(built::library("librocm_smi64.so")).expect("the library is there");
    let file: ElfFile64<'_> = ElfFile64::parse(&*bytes).expect("it is an ELF file");
    let exported: BTreeSet<_> = file
        .dynamic_symbols()
        .filter(|symbol| symbol.is_definition())
        .map(|symbol| symbol.name().expect("symbols have names"))
        .collect();
    let names = include_str!("names.txt")
        .lines()
        .filter(|line| !line.starts_with('#'));
    assert_eq!(exported, names.collect());
    let strings = file
        .section_by_name(".dynstr")
        .expect("it has dynamic strings");
    let strings = strings.data().expect("they are in the file");
    let name = b"\0librocm_smi64.so.1\0";
    assert!(strings.windows(name.len()).any(|window| window == name));
}
