//! Statuses and structures of ROCm 6.4's `rocm_smi.h` (`rocm_smi` 7.6.0).

use std::ffi::c_char;

use crate::statuses::statuses;

statuses! {
    /// What a call returns: `rsmi_status_t`.
    SUCCESS = 0, "RSMI_STATUS_SUCCESS": "the call succeeded";
    INVALID_ARGS = 1, "RSMI_STATUS_INVALID_ARGS": "an argument is null, names no device or is invalid";
    NOT_SUPPORTED = 2, "RSMI_STATUS_NOT_SUPPORTED": "this device does not support the function";
    FILE_ERROR = 3, "RSMI_STATUS_FILE_ERROR": "a file could not be read or written";
    PERMISSION = 4, "RSMI_STATUS_PERMISSION": "the user may not do this";
    OUT_OF_RESOURCES = 5, "RSMI_STATUS_OUT_OF_RESOURCES": "memory or another resource is used up";
    INTERNAL_EXCEPTION = 6, "RSMI_STATUS_INTERNAL_EXCEPTION": "internal error of the library";
    INPUT_OUT_OF_BOUNDS = 7, "RSMI_STATUS_INPUT_OUT_OF_BOUNDS": "an argument is outside of its range";
    INIT_ERROR = 8, "RSMI_STATUS_INIT_ERROR": "the library could not be initialized, or has not been";
    NOT_YET_IMPLEMENTED = 9, "RSMI_STATUS_NOT_YET_IMPLEMENTED": "the function is not implemented for this device";
    NOT_FOUND = 10, "RSMI_STATUS_NOT_FOUND": "the item was not found";
    INSUFFICIENT_SIZE = 11, "RSMI_STATUS_INSUFFICIENT_SIZE": "the buffer is too small for the whole answer";
    INTERRUPT = 12, "RSMI_STATUS_INTERRUPT": "the call was interrupted";
    UNEXPECTED_SIZE = 13, "RSMI_STATUS_UNEXPECTED_SIZE": "more or less data was read than expected";
    NO_DATA = 14, "RSMI_STATUS_NO_DATA": "there is no data for this argument";
    UNEXPECTED_DATA = 15, "RSMI_STATUS_UNEXPECTED_DATA": "other data was read than expected";
    BUSY = 16, "RSMI_STATUS_BUSY": "the resource is in use";
    REFCOUNT_OVERFLOW = 17, "RSMI_STATUS_REFCOUNT_OVERFLOW": "rsmi_init was called too often";
    SETTING_UNAVAILABLE = 18, "RSMI_STATUS_SETTING_UNAVAILABLE": "the device does not have this setting";
    AMDGPU_RESTART_ERR = 19, "RSMI_STATUS_AMDGPU_RESTART_ERR": "the driver could not be restarted";
    DRM_ERROR = 20, "RSMI_STATUS_DRM_ERROR": "libdrm failed";
    FAIL_LOAD_MODULE = 21, "RSMI_STATUS_FAIL_LOAD_MODULE": "a library could not be loaded";
    FAIL_LOAD_SYMBOL = 22, "RSMI_STATUS_FAIL_LOAD_SYMBOL": "a library lacks a function";
    UNKNOWN_ERROR = 0xffff_ffff, "RSMI_STATUS_UNKNOWN_ERROR": "the call failed for an unknown reason";
}

/// `RSMI_MAX_NUM_FREQUENCIES`.
pub const MAX_FREQUENCIES: usize = 33;

/// `rsmi_frequencies_t`: the available clocks, in Hz.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Frequencies {
    /// Whether `frequency[0]` is the clock of deep sleep.
    pub has_deep_sleep: bool,
    /// The number of valid entries of `frequency`.
    pub num_supported: u32,
    /// The index of the current clock.
    pub current: u32,
    /// The clocks, lowest first.
    pub frequency: [u64; MAX_FREQUENCIES],
}

/// `rsmi_version_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Version {
    /// Major version.
    pub major: u32,
    /// Minor version.
    pub minor: u32,
    /// Patch.
    pub patch: u32,
    /// The build, a static string.
    pub build: *const c_char,
}

/// `metrics_table_header_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetricsHeader {
    /// Bytes of the driver's structure.
    pub structure_size: u16,
    /// Major version of the structure.
    pub format_revision: u8,
    /// Minor version.
    pub content_revision: u8,
}

/// `rsmi_gpu_metrics_t`, version 1.7. In fields named `no_…` all bits are 1: ROCm's mark for a value that the device
/// does not have.
#[repr(C, align(8))]
#[derive(Clone, Copy, Debug)]
pub struct Metrics {
    /// Version of the structure.
    pub common_header: MetricsHeader,
    /// Temperatures, utilization, power, average clocks.
    pub no_averages: [u8; 50],
    /// Engine clock in MHz.
    pub current_gfxclk: u16,
    /// Clock of the SoC.
    pub no_current_socclk: u16,
    /// Memory clock in MHz.
    pub current_uclk: u16,
    /// Clocks of video engines, throttling, links, accumulated counts.
    pub no_state: [u8; 252],
    /// Engine clock of each XCD in MHz; all bits 1 where there is no XCD.
    pub current_gfxclks: [u16; 8],
    /// Other clocks, accumulated counts, partitions.
    pub no_partitions: [u8; 2016],
    /// Peak memory bandwidth in GB/s.
    pub vram_max_bandwidth: u64,
    /// Links to other GPUs.
    pub no_links: [u16; 8],
}

impl Metrics {
    /// A device without any values.
    pub const NONE: Metrics = Metrics {
        common_header: MetricsHeader {
            structure_size: u16::MAX,
            format_revision: u8::MAX,
            content_revision: u8::MAX,
        },
        no_averages: [u8::MAX; 50],
        current_gfxclk: u16::MAX,
        no_current_socclk: u16::MAX,
        current_uclk: u16::MAX,
        no_state: [u8::MAX; 252],
        current_gfxclks: [u16::MAX; 8],
        no_partitions: [u8::MAX; 2016],
        vram_max_bandwidth: u64::MAX,
        no_links: [u16::MAX; 8],
    };
}

// The layout that a C++ compiler gives the structures of ROCm 6.4's header.
const _: () = {
    use std::mem::offset_of;
    assert!(size_of::<Frequencies>() == 280 && size_of::<Version>() == 24);
    assert!(size_of::<Metrics>() == 2368);
    assert!(offset_of!(Metrics, current_gfxclk) == 54);
    assert!(offset_of!(Metrics, current_uclk) == 58);
    assert!(offset_of!(Metrics, current_gfxclks) == 312);
    assert!(offset_of!(Metrics, vram_max_bandwidth) == 2344);
};
