//! `librocm_smi64.so.1`: AMD's system management library for the emulated devices.
//!
//! The programs of rocBLAS and hipBLASLt query clocks first and end if there are no devices. The devices and their
//! order are those of `libamdhip64.so` in the same environment: `FERROWAVE_DEVICE` names them. Identity, memory and
//! clocks come from the emulator's table of products; a device always runs at its highest clock. Values that need a
//! measurement or can be set (power, temperatures, fans, errors, processes) are not supported.
//!
//! Functions and structures are those of ROCm 6.4's `rocm_smi.h` (`rocm_smi` 7.6.0), statuses those of ROCm's library.
//! An index without a device gives [`Status::INVALID_ARGS`]; before `rsmi_init`, every index does. A null pointer asks
//! whether a function is supported; a supported function answers with [`Status::INVALID_ARGS`].

pub mod abi;
mod state;
mod statuses;
pub mod unsupported;

use std::ffi::c_char;

use abi::{Frequencies, Metrics, MetricsHeader, Status, Version};
use ferrowave_gpu::{PCI_VENDOR_ID, Specifications};
use ferrowave_hip::{device_name, pci_location};
use state::{device, guarded, out};

/// `rsmi_clk_type_t`: the engine's clock, the memory's, and the last valid number.
const CLOCK_SYSTEM: u32 = 0;
const CLOCK_MEMORY: u32 = 4;
const LAST_CLOCK: u32 = 5;

/// `rsmi_memory_type_t`: device memory, device memory that the host can access, host memory that the device can access.
const MEMORY_DEVICE: u32 = 0;
const MEMORY_VISIBLE: u32 = 1;
const MEMORY_HOST: u32 = 2;

macro_rules! functions {
    ($(
        $(#[$meta:meta])*
        fn $name:ident($($argument:ident: $type:ty),*) $body:block
    )*) => {$(
        $(#[$meta])*
        ///
        /// # Safety
        /// Pointers are null or valid for writes: of their type, or for strings of the number of bytes that the call
        /// passes.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $type),*) -> Status {
            guarded(|| {
                // SAFETY: the caller's promise is each body's condition.
                unsafe { $body }
                Ok(())
            })
        }
    )*};
}

/// Finds the devices. Calls are counted; each needs its own `rsmi_shut_down`.
#[unsafe(no_mangle)]
pub extern "C" fn rsmi_init(_flags: u64) -> Status {
    guarded(state::open)
}

/// Undoes one `rsmi_init`; [`Status::INIT_ERROR`] if there is none to undo.
#[unsafe(no_mangle)]
pub extern "C" fn rsmi_shut_down() -> Status {
    guarded(state::close)
}

functions! {
    /// How many devices there are; 0 before `rsmi_init`.
    fn rsmi_num_monitor_devices(count: *mut u32) {
        out(count)?.set(state::device_count());
    }

    /// A status as text. An unknown status gives the text of [`Status::UNKNOWN_ERROR`] and returns it.
    fn rsmi_status_string(status: Status, text: *mut *const c_char) {
        let text = out(text)?;
        let known = status.text();
        let unknown = || Status::UNKNOWN_ERROR.text().unwrap_or_default();
        text.set(known.unwrap_or_else(unknown).as_ptr());
        known.ok_or(Status::UNKNOWN_ERROR)?;
    }

    /// The version of the interface.
    fn rsmi_version_get(version: *mut Version) {
        out(version)?.set(Version { major: 7, minor: 6, patch: 0, build: c"Ferrowave".as_ptr() });
    }

    /// The PCI address: domain in bits 63:32, bus in bits 15:8, device in bits 7:3, function in bits 2:0.
    fn rsmi_dev_pci_id_get(index: u32, bdfid: *mut u64) {
        device(index)?;
        let (domain, bus) = pci_location(index);
        out(bdfid)?.set(u64::from(domain) << 32 | u64::from(bus) << 8);
    }

    /// The PCI device identifier.
    fn rsmi_dev_id_get(index: u32, id: *mut u16) {
        let row = device(index)?;
        out(id)?.set(row.pci_device_id);
    }

    /// The PCI vendor's identifier.
    fn rsmi_dev_vendor_id_get(index: u32, id: *mut u16) {
        device(index)?;
        out(id)?.set(PCI_VENDOR_ID);
    }

    /// The name, truncated to `bytes` including its NUL; [`Status::INSUFFICIENT_SIZE`] if it was truncated.
    fn rsmi_dev_name_get(index: u32, name: *mut c_char, bytes: usize) {
        copy_text(&device_name(device(index)?), name, bytes)?;
    }

    /// The same as the name: these products have no separate brand.
    fn rsmi_dev_brand_get(index: u32, name: *mut c_char, bytes: u32) {
        copy_text(&device_name(device(index)?), name, bytes as usize)?;
    }

    /// The full name of the emulated product.
    fn rsmi_dev_market_name_get(index: u32, name: *mut c_char, bytes: u32) {
        copy_text(device(index)?.full_name, name, bytes as usize)?;
    }

    /// The name of the vendor.
    fn rsmi_dev_vendor_name_get(index: u32, name: *mut c_char, bytes: usize) {
        device(index)?;
        copy_text("Advanced Micro Devices, Inc. [AMD/ATI]", name, bytes)?;
    }

    /// Bytes of memory of a kind. The host can access all device memory; no host memory is reserved for the device.
    fn rsmi_dev_memory_total_get(index: u32, kind: u32, bytes: *mut u64) {
        let row = device(index)?;
        match kind {
            MEMORY_DEVICE | MEMORY_VISIBLE => out(bytes)?.set(row.memory_bytes),
            MEMORY_HOST => return Err(Status::NOT_SUPPORTED),
            _ => return Err(Status::INVALID_ARGS),
        }
    }

    /// The engine's or the memory's clock. There is one value, which cannot be changed.
    fn rsmi_dev_gpu_clk_freq_get(index: u32, clock: u32, frequencies: *mut Frequencies) {
        let row = device(index)?;
        let mhz = match clock {
            CLOCK_SYSTEM => row.clock_mhz,
            CLOCK_MEMORY => row.memory_clock_mhz,
            other if other <= LAST_CLOCK => return Err(Status::NOT_SUPPORTED),
            _ => return Err(Status::INVALID_ARGS),
        };
        let mut answer = Frequencies { has_deep_sleep: false, num_supported: 1, current: 0, frequency: [0; _] };
        answer.frequency[0] = u64::from(mhz) * 1_000_000;
        out(frequencies)?.set(answer);
    }

    /// The clocks and the memory bandwidth.
    fn rsmi_dev_gpu_metrics_info_get(index: u32, metrics: *mut Metrics) {
        let row = device(index)?;
        out(metrics)?.set(self::metrics(row));
    }

    /// The header of the metrics, with their version.
    fn rsmi_dev_metrics_header_info_get(index: u32, header: *mut MetricsHeader) {
        let row = device(index)?;
        out(header)?.set(metrics(row).common_header);
    }

    /// The number of XCDs with a clock.
    fn rsmi_dev_metrics_xcd_counter_get(index: u32, count: *mut u16) {
        let row = device(index)?;
        out(count)?.set(row.xcds as u16);
    }

    /// Whether one device can access another's memory: always.
    fn rsmi_is_P2P_accessible(from: u32, to: u32, accessible: *mut bool) {
        device(from)?;
        device(to)?;
        out(accessible)?.set(true);
    }
}

fn metrics(row: &Specifications) -> Metrics {
    let clock_mhz = row.clock_mhz as u16;
    let mut metrics = Metrics {
        common_header: MetricsHeader {
            structure_size: size_of::<Metrics>() as u16,
            format_revision: 1,
            content_revision: 7,
        },
        current_gfxclk: clock_mhz,
        current_uclk: row.memory_clock_mhz as u16,
        // In GB per second.
        vram_max_bandwidth: (row.transfer_bytes_per_second() / 1e9) as u64,
        ..Metrics::NONE
    };
    metrics.current_gfxclks[..row.xcds as usize].fill(clock_mhz);
    metrics
}

/// Copies a string, truncated to `bytes` including its NUL.
///
/// # Safety
/// `to` is null or valid for writes of `bytes` bytes.
unsafe fn copy_text(text: &str, to: *mut c_char, bytes: usize) -> Result<(), Status> {
    let (false, Some(room)) = (to.is_null(), bytes.checked_sub(1)) else {
        return Err(Status::INVALID_ARGS);
    };
    let end = text.floor_char_boundary(room);
    // SAFETY: `end` is at most `bytes - 1`, so that the text and its NUL fit.
    unsafe {
        to.cast::<u8>().copy_from_nonoverlapping(text.as_ptr(), end);
        to.add(end).write(0);
    }
    match end == text.len() {
        true => Ok(()),
        false => Err(Status::INSUFFICIENT_SIZE),
    }
}
