//! The modelled launches of a product.

use std::{collections::BTreeMap, fs, io, path::Path};

use ferrowave_timing::{Bound, ClassError, Stalls, SustainedClock, Timing, Unit, Usage};
use serde::Deserialize;

use super::results::Modelled;

/// What a report needs of a [`Timing`]: of one that was modelled here, or of one that the emulator's library has written
/// elsewhere.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Launch {
    #[cfg_attr(
        not(target_os = "linux"),
        expect(dead_code, reason = "AMD's libraries have rows on Linux only")
    )]
    pub(crate) kernel: String,
    cycles: u64,
    seconds: f64,
    sustained: SustainedClock,
    error: Option<ClassError>,
    workgroups: u64,
    workgroups_modelled: u64,
    bound_by: Bound,
    usage: Vec<Usage>,
    memory_bytes: u64,
    wave_cycles: u64,
    stalls: Stalls,
}

impl From<&Timing> for Launch {
    fn from(timing: &Timing) -> Self {
        Launch {
            kernel: timing.kernel.clone(),
            cycles: timing.cycles,
            seconds: timing.seconds,
            sustained: timing.sustained.clone(),
            error: timing.error,
            workgroups: timing.workgroups,
            workgroups_modelled: timing.workgroups_modelled,
            bound_by: timing.bound_by,
            usage: timing.usage.clone(),
            memory_bytes: timing.memory_bytes,
            wave_cycles: timing.wave_cycles,
            stalls: timing.stalls,
        }
    }
}

/// The launches in a folder that FERROWAVE_PROFILE named.
///
/// # Errors
/// If a file cannot be read, is not of this version, or has fewer times than launches: the model gives up on long ones, and
/// the library keeps the times of a kernel's last launches.
#[cfg_attr(
    not(target_os = "linux"),
    expect(dead_code, reason = "AMD's libraries have rows on Linux only")
)]
pub(crate) fn written(folder: &Path) -> io::Result<Vec<Launch>> {
    #[derive(Deserialize)]
    struct Written {
        profiles: Vec<Counted>,
        #[serde(default)]
        timings: Vec<Launch>,
    }
    #[derive(Deserialize)]
    struct Counted {
        launches: u64,
    }
    let mut launches = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "json")
        {
            let written: Written = serde_json::from_slice(&fs::read(&path)?)?;
            let count: u64 = written.profiles.iter().map(|kernel| kernel.launches).sum();
            if written.timings.len() as u64 != count {
                return Err(io::Error::other(format!(
                    "{} of {count} launches of a kernel have modelled times",
                    written.timings.len()
                )));
            }
            launches.extend(written.timings);
        }
    }
    // A folder has no order.
    launches.sort_by(|a, b| a.kernel.cmp(&b.kernel));
    Ok(launches)
}

/// All launches of a product, one after the other. `None` without any.
pub(crate) fn together(launches: &[Launch]) -> Option<Modelled> {
    // The longest launch's limit is the product's limit.
    let longest = launches.iter().max_by_key(|launch| launch.cycles)?;
    let cycles: u64 = launches.iter().map(|launch| launch.cycles).sum();
    let mut usage = BTreeMap::new();
    for unit in Unit::ALL {
        let busy: f64 = launches
            .iter()
            .map(|launch| {
                let used = launch.usage.iter().find(|usage| usage.unit == unit);
                used.map_or(0.0, |usage| usage.share) * launch.cycles as f64
            })
            .sum();
        usage.insert(unit.name().to_owned(), busy / cycles.max(1) as f64);
    }
    let mut stalls = BTreeMap::new();
    for (stall, cycles) in launches.iter().flat_map(|launch| launch.stalls.iter()) {
        *stalls.entry(stall.name().to_owned()).or_insert(0) += cycles;
    }
    let memory = |launch: &Launch| {
        let share = launch.workgroups as f64 / launch.workgroups_modelled.max(1) as f64;
        launch.memory_bytes as f64 * share
    };
    let sustained: Option<f64> = launches
        .iter()
        .map(|launch| match launch.sustained {
            SustainedClock::Fitted { seconds, .. } => Some(seconds),
            SustainedClock::Unknown { .. } => None,
        })
        .sum();
    Some(Modelled {
        seconds: launches.iter().map(|launch| launch.seconds).sum(),
        cycles,
        bound_by: longest.bound_by.text(),
        error: longest.error.map(|error| error.text()),
        sustained_clock_hz: sustained.map(|seconds| cycles as f64 / seconds),
        usage,
        wave_cycles: launches.iter().map(|launch| launch.wave_cycles).sum(),
        stalls,
        memory_bytes: launches.iter().map(memory).sum(),
        workgroups: launches.iter().map(|launch| launch.workgroups).sum(),
        workgroups_modelled: launches
            .iter()
            .map(|launch| launch.workgroups_modelled)
            .sum(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launches_without_times_are_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| {
            fs::write(folder.path().join(name), text).expect("a writable folder");
        };
        write("notes.txt", "not of the library");
        write("a.json", r#"{"profiles": [], "timings": []}"#);
        assert_eq!(written(folder.path()).expect("no launches").len(), 0);
        // A file without the key is of a profile without a model.
        write(
            "b.json",
            r#"{"profiles": [{"launches": 65}, {"launches": 2}]}"#,
        );
        let error = written(folder.path()).expect_err("no times");
        let expected = "0 of 67 launches of a kernel have modelled times";
        assert_eq!(error.to_string(), expected);
        write("b.json", "{");
        let error = written(folder.path()).expect_err("not JSON");
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }
}
