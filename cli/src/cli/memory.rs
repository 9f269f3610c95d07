//! The memory that a product takes on this computer and on the device, checked before it is allocated.

use ferrowave::{
    gemm::{Layout, Problem},
    hip::Device,
    verify::Reference,
};
use ferrowave_shared::ElementType;
use sysinfo::{MemoryRefreshKind, RefreshKind, System};

use super::Failure;

/// The share of the available memory that a product may take; the rest is left to other programs.
const ALLOWED: (u128, u128) = (9, 10);

/// Bytes of a verified product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Need {
    /// A, B and C.
    device: u128,
    /// The host's copies of A, B and C, the downloaded result, and the reference.
    host: u128,
}

impl Need {
    fn of(problem: &Problem) -> Self {
        let types = problem.types();
        let scales = |layout: Option<Layout>| {
            layout.map_or(0, |layout| ElementType::E8m0.bytes(layout.span()))
        };
        let indices = problem.index_bytes().unwrap_or(0);
        let a = types.a.bytes(problem.a().span()) + scales(problem.scales_a()) + indices;
        let b = types.b.bytes(problem.b().span()) + scales(problem.scales_b());
        let c = types.output.bytes(problem.c().span());
        Need {
            device: a + b + c,
            host: a + b + 2 * c + Reference::bytes(problem),
        }
    }
}

/// Refuses a product that does not fit into the memory of this computer or of the device.
pub(crate) fn check(problem: &Problem, device: &Device) -> Result<(), Failure> {
    let memory = device.properties().memory_bytes as u128;
    let refused = refusal(problem, memory, device.is_emulated(), available());
    refused.map_or(Ok(()), |text| Err(Failure::usage(text)))
}

/// Bytes that this computer can give without swapping, within the limits of its control group if it has one. `None` if
/// the system does not say.
fn available() -> Option<u128> {
    let memory = RefreshKind::nothing().with_memory(MemoryRefreshKind::nothing().with_ram());
    let system = System::new_with_specifics(memory).ok()?;
    let all = Some(system.available_memory()).filter(|&bytes| bytes > 0);
    let group = system.cgroup_limits().map(|limits| limits.free_memory);
    let least = match (all, group.filter(|&bytes| bytes > 0)) {
        (Some(all), Some(group)) => Some(all.min(group)),
        (all, group) => all.or(group),
    };
    least.map(u128::from)
}

/// Why a product is refused; `None` if it fits.
fn refusal(
    problem: &Problem,
    device: u128,
    is_emulated: bool,
    available: Option<u128>,
) -> Option<String> {
    let need = Need::of(problem);
    let size = format!("{}×{}×{}", problem.m(), problem.n(), problem.k());
    let size = match problem.batch() {
        1 => size,
        batch => format!("{size} ×{batch}"),
    };
    let giga = |bytes: u128| bytes as f64 / 1e9;
    if need.device > device {
        return Some(format!(
            "{size} needs {:.1} GB for A, B and C, but the device has {:.1} GB",
            giga(need.device),
            giga(device)
        ));
    }
    let (taken, what) = match is_emulated {
        true => (need.host + need.device, "including the emulated device's"),
        false => (need.host, "in addition to the device's"),
    };
    let allowed = available? / ALLOWED.1 * ALLOWED.0;
    (taken > allowed).then(|| {
        format!(
            "{size} needs {:.1} GB of this computer's memory, {what}, but only {:.1} GB may be used: {}/{} of what is \
             available",
            giga(taken),
            giga(allowed),
            ALLOWED.0,
            ALLOWED.1
        )
    })
}

#[cfg(test)]
mod tests {
    use ferrowave::gemm::Request;

    use super::*;

    #[test]
    fn needs_by_hand() {
        let request = Request {
            batch: 2,
            beta: 1.0,
            ..Request::new(1000, 2000, 3000)
        };
        let problem = request.check().unwrap();
        // f32: 3, 6 and 2 million elements, in two batches.
        let need = Need::of(&problem);
        assert_eq!(need.device, 88_000_000);
        assert_eq!(need.host, 104_000_000 + Reference::bytes(&problem));
    }

    #[test]
    fn what_does_not_fit_is_refused_with_its_size() {
        let problem = Request::new(60_000, 60_000, 60_000).check().unwrap();
        let refused = |device, emulated, available| refusal(&problem, device, emulated, available);
        let huge = 1 << 60;
        // f32: 3 matrices on the device and 4 on the host.
        let giga = (7 * 14_400_000_000 + Reference::bytes(&problem)) as f64 / 1e9;
        assert_eq!(
            refused(192_000_000_000, true, Some(20_000_000_000)).unwrap(),
            format!(
                "60000×60000×60000 needs {giga:.1} GB of this computer's memory, including the emulated device's, but only \
                 18.0 GB may be used: 9/10 of what is available"
            )
        );
        assert_eq!(
            refused(32_000_000_000, false, Some(huge)).unwrap(),
            "60000×60000×60000 needs 43.2 GB for A, B and C, but the device has 32.0 GB"
        );
        // A GPU's memory does not count as this computer's.
        let enough_for_host = (58_000_000_000 + Reference::bytes(&problem)) * 10 / 9;
        assert_eq!(refused(192_000_000_000, false, Some(enough_for_host)), None);
        assert!(refused(192_000_000_000, true, Some(enough_for_host)).is_some());
        assert_eq!(refused(192_000_000_000, true, None), None);
    }

    #[test]
    fn this_computer_has_memory() {
        assert!(available().is_none_or(|bytes| bytes > 1 << 20));
    }
}
