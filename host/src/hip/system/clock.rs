//! The clock at which a GPU runs now.

use std::{fs, path::Path};

use ferrowave_gpu::PciPlace;

/// The engine clock of the GPU at a place, in Hz; `None` where the system does not tell.
///
/// Linux' driver lists the clocks in `pp_dpm_sclk`, with a `*` behind the present one (Linux' documentation of amdgpu, «GPU
/// Power/Thermal Controls and Monitoring»).
pub fn engine_clock_hz(root: &Path, place: PciPlace) -> Option<f64> {
    let PciPlace {
        domain,
        bus,
        device,
    } = place;
    // HIP does not tell the function, which is not 0 in a virtual machine.
    let text = (0..8).find_map(|function| {
        let folder = format!("sys/bus/pci/devices/{domain:04x}:{bus:02x}:{device:02x}.{function}");
        fs::read_to_string(root.join(folder).join("pp_dpm_sclk")).ok()
    })?;
    let present = text.lines().find(|line| line.trim_end().ends_with('*'))?;
    let (_, clock) = present.split_once(':')?;
    let (mhz, _) = clock.trim().split_once(['M', 'm'])?;
    let mhz: f64 = mhz.parse().ok()?;
    Some(1e6 * mhz)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_with_the_star_is_the_present_one() {
        let root = tempfile::tempdir().unwrap();
        let place = PciPlace {
            domain: 0x10,
            bus: 0xc5,
            device: 2,
        };
        let clock = |function: u32, text: &str| {
            let name = format!("sys/bus/pci/devices/0010:c5:02.{function}");
            let folder = root.path().join(name);
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("pp_dpm_sclk"), text).unwrap();
            let found = engine_clock_hz(root.path(), place);
            fs::remove_dir_all(folder).unwrap();
            found
        };
        assert_eq!(
            clock(0, "0: 500Mhz\n1: 1995Mhz *\n2: 2100Mhz\n"),
            Some(1.995e9)
        );
        assert_eq!(
            clock(0, "S: 132Mhz *\n0: 500Mhz\n1: 2100Mhz\n"),
            Some(1.32e8)
        );
        assert_eq!(clock(1, "0: 500Mhz *\n"), Some(5e8));
        for text in ["", "0: 500Mhz\n1: 2100Mhz\n", "0: fastMhz *\n", "*"] {
            assert_eq!(clock(0, text), None, "{text}");
        }
        assert_eq!(engine_clock_hz(root.path(), place), None);
    }
}
