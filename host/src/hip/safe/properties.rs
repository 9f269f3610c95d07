//! The properties of a device.

use std::ffi::{c_char, c_int};

use ferrowave_gpu::{Gpu, PciPlace};
use ferrowave_hip_abi::hipDeviceProp_tR0600;

/// The properties of a device that launches and reports need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceProperties {
    /// The marketing name.
    pub name: String,
    /// LLVM's target with features, such as `gfx90a:sramecc+:xnack-`.
    pub target: String,
    /// Compute units.
    pub compute_units: u32,
    /// Work-items of a wave.
    pub wave_size: u32,
    /// Memory, in bytes.
    pub memory_bytes: u64,
    /// LDS of a workgroup, in bytes.
    pub lds_bytes: u32,
    /// Maximum work-items of a workgroup.
    pub max_block_threads: u32,
    /// Maximum work-items of a workgroup along x, y and z.
    pub max_block: [u32; 3],
    /// Maximum workgroups of a grid along x, y and z.
    pub max_grid: [u32; 3],
    /// Highest engine clock, in kHz.
    pub clock_khz: u32,
    /// Memory clock, in kHz.
    pub memory_clock_khz: u32,
    /// Width of the memory bus, in bits.
    pub memory_bus_bits: u32,
    /// L2 cache, in bytes.
    pub l2_bytes: u32,
    /// Its place on the PCI buses.
    pub pci: PciPlace,
}

impl DeviceProperties {
    /// The GPU's name without features, such as `gfx90a`.
    pub fn gpu_name(&self) -> &str {
        self.target.split(':').next().unwrap_or_default()
    }

    /// The GPU, if this project supports it.
    pub fn gpu(&self) -> Option<Gpu> {
        self.gpu_name().parse().ok()
    }

    /// Whether a feature of the target, such as `xnack`, is on; `None` if the target does not have it.
    pub fn feature(&self, name: &str) -> Option<bool> {
        self.target
            .split(':')
            .skip(1)
            .find_map(|feature| match feature.strip_prefix(name)? {
                "+" => Some(true),
                "-" => Some(false),
                _ => None,
            })
    }
}

/// The text before the first NUL.
fn text(bytes: &[c_char]) -> String {
    let bytes: Vec<u8> = bytes
        .iter()
        .map(|&byte| byte as u8)
        .take_while(|&byte| byte != 0)
        .collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

impl From<&hipDeviceProp_tR0600> for DeviceProperties {
    fn from(hip: &hipDeviceProp_tR0600) -> Self {
        // HIP uses negative values for «none».
        let count = |value: c_int| u32::try_from(value).unwrap_or(0);
        DeviceProperties {
            name: text(&hip.name),
            target: text(&hip.gcnArchName),
            compute_units: count(hip.multiProcessorCount),
            wave_size: count(hip.warpSize),
            memory_bytes: hip.totalGlobalMem as u64,
            lds_bytes: u32::try_from(hip.sharedMemPerBlock).unwrap_or(u32::MAX),
            max_block_threads: count(hip.maxThreadsPerBlock),
            max_block: hip.maxThreadsDim.map(count),
            max_grid: hip.maxGridSize.map(count),
            clock_khz: count(hip.clockRate),
            memory_clock_khz: count(hip.memoryClockRate),
            memory_bus_bits: count(hip.memoryBusWidth),
            l2_bytes: count(hip.l2CacheSize),
            pci: PciPlace {
                domain: count(hip.pciDomainID),
                bus: count(hip.pciBusID),
                device: count(hip.pciDeviceID),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_taken_apart() {
        let mut hip = hipDeviceProp_tR0600::ZERO;
        for (to, &from) in hip.gcnArchName.iter_mut().zip(b"gfx942:sramecc+:xnack-") {
            *to = from as c_char;
        }
        let properties = DeviceProperties::from(&hip);
        assert_eq!(properties.gpu(), Some(Gpu::Gfx942));
        assert_eq!(properties.feature("sramecc"), Some(true));
        assert_eq!(properties.feature("xnack"), Some(false));
        assert_eq!(properties.feature("sram"), None);
        assert_eq!(properties.feature("wavefrontsize64"), None);
    }
}
