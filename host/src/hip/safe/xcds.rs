//! How many XCDs a device has.

use std::fmt;

use ferrowave_gpu::KfdGpu;
use ferrowave_hip_abi::hipDeviceAttribute_t;

use super::{Device, DeviceProperties};
use crate::hip::system;

/// The number of a device's XCDs, over which the hardware distributes workgroups round-robin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Xcds {
    /// At least 1.
    pub count: u32,
    /// Where the number is from.
    pub source: XcdSource,
}

/// Where the number of XCDs is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum XcdSource {
    /// HIP's attribute `hipDeviceAttributeNumberOfXccs`, which ROCm 6 does not have.
    Hip,
    /// `num_xcc` of Linux' driver.
    Driver,
    /// The device's compute units and those of an XCD of its GPU.
    ComputeUnits,
    /// Not known: one is assumed.
    Assumed,
}

impl fmt::Display for XcdSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            XcdSource::Hip => "HIP",
            XcdSource::Driver => "the driver's num_xcc",
            XcdSource::ComputeUnits => "the number of compute units",
            XcdSource::Assumed => "nothing: assumed",
        })
    }
}

impl Device {
    /// The device's XCDs: from HIP, from the driver or from the number of compute units, the first that tells.
    pub fn xcds(&self) -> Xcds {
        let attribute = self.api().device_attribute(
            self.ordinal(),
            hipDeviceAttribute_t::hipDeviceAttributeNumberOfXccs,
        );
        let hip = attribute.ok().and_then(|xcds| u32::try_from(xcds).ok());
        find(hip, self.properties(), || KfdGpu::all(&system::root()))
    }
}

fn find(
    hip: Option<u32>,
    properties: &DeviceProperties,
    driver: impl FnOnce() -> Vec<KfdGpu>,
) -> Xcds {
    let found = |count, source| Xcds { count, source };
    if let Some(count) = hip.filter(|&count| count > 0) {
        return found(count, XcdSource::Hip);
    }
    if let Some(count) = of_driver(properties, driver()) {
        return found(count, XcdSource::Driver);
    }
    let by_compute_units = properties
        .gpu()
        .and_then(|gpu| gpu.xcds_of(properties.compute_units));
    match by_compute_units {
        Some(count) => found(count, XcdSource::ComputeUnits),
        None => found(1, XcdSource::Assumed),
    }
}

/// The XCDs of the driver's GPU at the device's place. A device may show another place than the driver, as in a virtual
/// machine: then those of all GPUs with its instruction set, if they are the same. HIP's numbers would not do instead of
/// the place: `HIP_VISIBLE_DEVICES` changes them.
fn of_driver(properties: &DeviceProperties, gpus: Vec<KfdGpu>) -> Option<u32> {
    let mut alike = gpus;
    alike.retain(|gpu| gpu.target == properties.gpu_name());
    if alike.iter().any(|gpu| gpu.pci == properties.pci) {
        alike.retain(|gpu| gpu.pci == properties.pci);
    }
    let count = alike.first()?.xcds?;
    alike
        .iter()
        .all(|gpu| gpu.xcds == Some(count))
        .then_some(count)
}

#[cfg(test)]
mod tests {
    use ferrowave_gpu::PciPlace;
    use ferrowave_hip_abi::hipDeviceProp_tR0600;

    use super::*;

    fn place(bus: u32) -> PciPlace {
        PciPlace {
            domain: 0,
            bus,
            device: 0,
        }
    }

    fn listed(bus: u32, target: &str, xcds: Option<u32>) -> KfdGpu {
        KfdGpu {
            target: target.to_owned(),
            compute_units: 304,
            xcds,
            pci: place(bus),
            render_minor: None,
        }
    }

    fn device(target: &str, compute_units: u32) -> DeviceProperties {
        DeviceProperties {
            target: target.to_owned(),
            compute_units,
            pci: place(5),
            ..DeviceProperties::from(&hipDeviceProp_tR0600::ZERO)
        }
    }

    #[test]
    fn the_first_that_tells_is_asked() {
        let mi300x = device("gfx942:sramecc+:xnack-", 304);
        let found = |hip, gpus: &[KfdGpu]| {
            let Xcds { count, source } = find(hip, &mi300x, || gpus.to_vec());
            (count, source)
        };
        let six = [listed(5, "gfx942", Some(6))];
        assert_eq!(found(Some(4), &six), (4, XcdSource::Hip));
        assert_eq!(found(Some(0), &six), (6, XcdSource::Driver));
        assert_eq!(found(None, &six), (6, XcdSource::Driver));
        assert_eq!(found(None, &[]), (8, XcdSource::ComputeUnits));
        let unusual = device("gfx942", 80);
        let assumed = find(None, &unusual, Vec::new);
        assert_eq!((assumed.count, assumed.source), (1, XcdSource::Assumed));
    }

    #[test]
    fn the_drivers_gpu_is_the_one_at_the_devices_place() {
        let mi300x = device("gfx942:sramecc+:xnack-", 304);
        let of = |gpus: &[KfdGpu]| of_driver(&mi300x, gpus.to_vec());
        let here = listed(5, "gfx942", Some(8));
        // Partitions of another GPU, and a GPU of another kind.
        let partition = listed(6, "gfx942", Some(1));
        let radeon = listed(5, "gfx1100", Some(2));
        assert_eq!(of(&[partition.clone(), here.clone()]), Some(8));
        assert_eq!(of(&[radeon.clone(), here.clone()]), Some(8));
        assert_eq!(of(&[partition.clone(), radeon.clone()]), Some(1));
        assert_eq!(of(&[partition, listed(7, "gfx942", Some(8))]), None);
        assert_eq!(of(&[radeon]), None);
        assert_eq!(of(&[listed(5, "gfx942", None)]), None);
    }
}
