//! Uses the library as Mojo does. The environment determines the devices, so that each test sets it and runs this program
//! again with the single test [`in_a_process_of_its_own`].

#[path = "../../hip/lib/tests/built/mod.rs"]
mod built;

use std::{
    collections::BTreeSet,
    env,
    ffi::{CStr, c_int, c_void},
    fs, mem,
    process::{Command, Output},
    ptr,
};

use ferrowave_hip::{DEVICE_VARIABLE, FUNCTIONS};
use ferrowave_hip_abi::{hipDeviceProp_tR0600, hipError_t};
use hsa_runtime64::{
    abi::{Agent, Isa, Status, agent, isa, system},
    *,
};
use object::{Object, ObjectSymbol, read::elf::ElfFile64};

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
fn answer<T>(call: impl FnOnce(*mut c_void) -> Status) -> Result<T, Status> {
    let mut value = mem::MaybeUninit::<T>::zeroed();
    match call(value.as_mut_ptr().cast()) {
        // SAFETY: all zeros is a valid value of each of these types, and the call has written one.
        Status::SUCCESS => Ok(unsafe { value.assume_init() }),
        status => Err(status),
    }
}

fn of_agent<T>(agent: Agent, attribute: u32) -> Result<T, Status> {
    answer(|value| call!(hsa_agent_get_info(agent, attribute, value)))
}

fn of_isa<T>(isa: Isa, attribute: u32) -> Result<T, Status> {
    answer(|value| call!(hsa_isa_get_info_alt(isa, attribute, value)))
}

fn text(bytes: &[u8]) -> &str {
    let text = CStr::from_bytes_until_nul(bytes).expect("it ends with a NUL");
    text.to_str().expect("it is UTF-8")
}

/// Adds what it is called with to the list that `list` points to.
unsafe extern "C" fn note_agent(agent: Agent, list: *mut c_void) -> Status {
    // SAFETY: the tests pass such a list.
    unsafe { (*list.cast::<Vec<Agent>>()).push(agent) };
    Status::SUCCESS
}

unsafe extern "C" fn note_isa(isa: Isa, list: *mut c_void) -> Status {
    // SAFETY: the tests pass such a list.
    unsafe { (*list.cast::<Vec<Isa>>()).push(isa) };
    Status::SUCCESS
}

unsafe extern "C" fn stop(_: Agent, count: *mut c_void) -> Status {
    // SAFETY: the tests pass a number.
    unsafe { *count.cast::<u32>() += 1 };
    Status::INFO_BREAK
}

fn agents() -> Result<Vec<Agent>, Status> {
    let mut agents = Vec::<Agent>::new();
    match call!(hsa_iterate_agents(
        Some(note_agent),
        (&raw mut agents).cast()
    )) {
        Status::SUCCESS => Ok(agents),
        status => Err(status),
    }
}

fn isas(agent: Agent) -> Vec<Isa> {
    let mut isas = Vec::<Isa>::new();
    let status = call!(hsa_agent_iterate_isas(
        agent,
        Some(note_isa),
        (&raw mut isas).cast()
    ));
    assert_eq!(status, Status::SUCCESS);
    isas
}

#[test]
fn in_a_process_of_its_own() {
    if env::var_os(CHILD_VARIABLE).is_none() {
        return;
    }
    assert_eq!(agents(), Err(Status::NOT_INITIALIZED));
    assert_eq!(hsa_shut_down(), Status::NOT_INITIALIZED);
    let status = hsa_init();
    println!("init: {:#x}", status.0);
    if status != Status::SUCCESS {
        assert_eq!(agents(), Err(Status::NOT_INITIALIZED));
        return;
    }
    assert_eq!(
        (hsa_init(), hsa_shut_down()),
        (Status::SUCCESS, Status::SUCCESS)
    );
    let mut devices: c_int = 0;
    assert_eq!(
        call!((FUNCTIONS.hipGetDeviceCount)(&mut devices)),
        hipError_t::hipSuccess
    );
    let agents = agents().expect("there are agents");
    let (cpu, gpus) = agents.split_first().expect("there is a CPU");
    assert_eq!(gpus.len(), devices as usize);
    assert_eq!(
        (of_agent(*cpu, agent::DEVICE), isas(*cpu)),
        (Ok(0_u32), vec![])
    );
    for (index, &gpu) in (0..).zip(gpus) {
        let mut hip = hipDeviceProp_tR0600::ZERO;
        let status = call!((FUNCTIONS.hipGetDevicePropertiesR0600)(&mut hip, index));
        assert_eq!(status, hipError_t::hipSuccess);
        // As Mojo finds the agent of HIP's device.
        let place = hip.pciBusID as u32 * 256 + hip.pciDeviceID as u32 * 8;
        assert_eq!(of_agent(gpu, agent::BDFID), Ok(place));
        assert_eq!(of_agent(gpu, agent::DOMAIN), Ok(hip.pciDomainID as u32));
        assert_eq!(of_agent(gpu, agent::DEVICE), Ok(1_u32));
        assert_eq!(of_agent(gpu, agent::NODE), Ok(index as u32 + 1));
        assert_eq!(of_agent(gpu, agent::NEAREST_CPU), Ok(*cpu));
        assert_eq!(
            of_agent(gpu, agent::WAVEFRONT_SIZE),
            Ok(hip.warpSize as u32)
        );
        let mhz = of_agent(gpu, agent::MAX_CLOCK_FREQUENCY);
        assert_eq!(mhz, Ok(hip.clockRate as u32 / 1000));
        let target = hip.gcnArchName.map(|c| c as u8);
        let target = text(&target);
        let name: [u8; 64] = of_agent(gpu, agent::NAME).expect("it has one");
        assert_eq!(Some(text(&name)), target.split(':').next());
        let [isa] = isas(gpu)[..] else {
            panic!("a GPU has one architecture");
        };
        assert_eq!(of_agent(gpu, agent::ISA), Ok(isa));
        let length: u32 = of_isa(isa, isa::NAME_LENGTH).expect("it has one");
        let mut name = vec![0xff_u8; length as usize];
        let status = call!(hsa_isa_get_info_alt(
            isa,
            isa::NAME,
            name.as_mut_ptr().cast()
        ));
        assert_eq!((status, name.last()), (Status::SUCCESS, Some(&0)));
        assert_eq!(text(&name), format!("amdgcn-amd-amdhsa--{target}"));
        let found = answer(|to| call!(hsa_isa_from_name(name.as_ptr().cast(), to.cast())));
        assert_eq!(
            found.map(|Isa(found)| of_agent(gpu, agent::ISA) == Ok(Isa(found))),
            Ok(true)
        );
        println!("agent: {}", text(&name));
    }
    refuses_what_is_wrong(&agents);
    assert_eq!(hsa_shut_down(), Status::SUCCESS);
    assert_eq!(
        of_agent::<u32>(*cpu, agent::DEVICE),
        Err(Status::NOT_INITIALIZED)
    );
}

fn refuses_what_is_wrong(agents: &[Agent]) {
    let bad = Err(Status::INVALID_ARGUMENT);
    let other = Agent(agents.len() as u64 + 1);
    assert_eq!(
        of_agent::<u32>(other, agent::DEVICE),
        Err(Status::INVALID_AGENT)
    );
    for &agent in agents {
        assert_eq!(of_agent::<u32>(agent, 0xffff), bad);
        let status = call!(hsa_agent_get_info(agent, agent::DEVICE, ptr::null_mut()));
        assert_eq!(status, Status::INVALID_ARGUMENT);
    }
    // The CPU's handle is of no architecture.
    for isa in [Isa(agents[0].0), Isa(other.0), Isa(0)] {
        assert_eq!(
            of_isa::<u32>(isa, isa::NAME_LENGTH),
            Err(Status::INVALID_ISA)
        );
    }
    let unknown =
        answer::<Isa>(|to| call!(hsa_isa_from_name(c"amdgcn--gfx942".as_ptr(), to.cast())));
    assert_eq!(unknown, Err(Status::INVALID_ISA_NAME));
    let status = call!(hsa_iterate_agents(None, ptr::null_mut()));
    assert_eq!(status, Status::INVALID_ARGUMENT);
    // A callback ends the iteration.
    let mut count = 0_u32;
    let status = call!(hsa_iterate_agents(Some(stop), (&raw mut count).cast()));
    assert_eq!((status, count), (Status::INFO_BREAK, 1));
    let major = answer(|to| call!(hsa_system_get_info(system::VERSION_MAJOR, to)));
    assert_eq!(major, Ok(1_u16));
    let unknown = answer::<u32>(|to| call!(hsa_system_get_info(0x7777, to)));
    assert_eq!(unknown, bad);
    let mut text = ptr::null();
    let status = call!(hsa_status_string(Status::INVALID_ISA, &mut text));
    let text = call!(CStr::from_ptr(text)).to_str().expect("it is UTF-8");
    assert!(text.starts_with("HSA_STATUS_ERROR_INVALID_ISA: "), "{text}");
    assert_eq!(status, Status::SUCCESS);
    let status = call!(hsa_status_string(Status(77), ptr::null_mut()));
    assert_eq!(status, Status::INVALID_ARGUMENT);
}

#[test]
fn it_has_the_devices_of_hip() {
    for (devices, said) in [
        ("", &["gfx942:sramecc+:xnack-"][..]),
        (
            "emulator:gfx90a,emulator:RX 7900 XTX,emulator:gfx950",
            &[
                "gfx90a:sramecc+:xnack-",
                "gfx1100",
                "gfx950:sramecc+:xnack-",
            ],
        ),
    ] {
        let output = run(devices);
        let text = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{text}{errors}");
        let agents = text
            .lines()
            .filter_map(|line| line.strip_prefix("agent: amdgcn-amd-amdhsa--"));
        assert_eq!(agents.collect::<Vec<_>>(), said);
    }
}

#[test]
fn a_variable_that_names_no_devices_is_said() {
    let output = run("emulator:gfx1030");
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && text.contains("init: 0x1000"),
        "{text}{errors}"
    );
    let expected = "ferrowave: libhsa-runtime64: FERROWAVE_DEVICE is `emulator:gfx1030`, but the emulator has only";
    assert!(errors.contains(expected), "{errors}");
}

#[test]
fn it_exports_its_functions_only() {
    let bytes = fs::read(built::library("libhsa_runtime64.so")).expect("the library is there");
    let file: ElfFile64<'_> = ElfFile64::parse(&*bytes).expect("it is an ELF file");
    let exported: BTreeSet<_> = file
        .dynamic_symbols()
        .filter(|symbol| symbol.is_definition())
        .map(|symbol| symbol.name().expect("symbols have names"))
        .collect();
    let expected = [
        "hsa_agent_get_info",
        "hsa_agent_iterate_isas",
        "hsa_init",
        "hsa_isa_from_name",
        "hsa_isa_get_info_alt",
        "hsa_iterate_agents",
        "hsa_shut_down",
        "hsa_status_string",
        "hsa_system_get_info",
    ];
    assert_eq!(exported, BTreeSet::from(expected));
}
