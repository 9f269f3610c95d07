//! The sums of the modelled times of a profile's launches.

use std::collections::HashMap;

use super::{
    Profile,
    summary::{Row, grouped, percent},
    totals::ratio,
};
use ferrowave_timing::{Stall, Stalls, SustainedClock, Timing, duration};

/// The modelled times of one kernel on one machine.
pub(super) struct Timed<'a> {
    launches: Vec<&'a Timing>,
    /// By the instruction's offset.
    waits: HashMap<u64, Stalls>,
    /// The waiting cycles of the instruction that waited longest.
    most: u64,
}

impl<'a> Timed<'a> {
    /// The timings of the profile's kernel, if there are any.
    pub(super) fn of(profile: &Profile, timings: &'a [Timing]) -> Option<Self> {
        let own = |timing: &&Timing| timing.identity == profile.identity;
        let launches: Vec<_> = timings.iter().filter(own).collect();
        if launches.is_empty() {
            return None;
        }
        let mut waits: HashMap<u64, Stalls> = HashMap::new();
        for instruction in launches
            .iter()
            .flat_map(|timing| timing.instructions.iter())
        {
            let sum = waits.entry(instruction.place.offset).or_default();
            sum.add_all(&instruction.stalls);
        }
        let most = waits.values().map(Stalls::total).max().unwrap_or(0);
        Some(Timed {
            launches,
            waits,
            most,
        })
    }

    /// The waiting cycles of the instruction at an offset; `None` if it was not replayed.
    pub(super) fn waits(&self, offset: u64) -> Option<&Stalls> {
        self.waits.get(&offset)
    }

    /// The waiting cycles of the instruction that waited longest.
    pub(super) const fn most(&self) -> u64 {
        self.most
    }

    /// Resident cycles, summed over all replayed waves.
    pub(super) fn wave_cycles(&self) -> u64 {
        self.launches.iter().map(|timing| timing.wave_cycles).sum()
    }

    /// The machine, the time at the highest and at the sustained clock, the bound of the longest launch, and the waves' cycles by cause.
    pub(super) fn rows(&self) -> Vec<Row> {
        let seconds = self.launches.iter().map(|timing| timing.seconds).sum();
        let cycles: u64 = self.launches.iter().map(|timing| timing.cycles).sum();
        let mut rows = Vec::new();
        let mut add = |name: &'static str, value: String, note: String, is_part| {
            rows.push(Row {
                name: name.into(),
                value,
                note,
                is_part,
            });
        };
        if let Some(longest) = self.launches.iter().max_by_key(|timing| timing.cycles) {
            let mut note = format!(
                "{} at {:.3} GHz, {} cycles",
                longest.machine,
                longest.clock_hz / 1e9,
                grouped(cycles)
            );
            if self.launches.len() > 1 {
                note += &format!(", {} launches", grouped(self.launches.len() as u64));
            }
            add("modelled time", duration(seconds), note, false);
            let sustained = self.launches.iter().map(|timing| &timing.sustained);
            let unknown = sustained.clone().find(|clock| clock.seconds().is_none());
            let seconds: Option<f64> = sustained.map(SustainedClock::seconds).sum();
            add(
                "at the sustained clock",
                seconds.map_or_else(|| "unknown".to_owned(), duration),
                unknown.unwrap_or(&longest.sustained).note(),
                false,
            );
            add("bound by", longest.bound_by.text(), String::new(), false);
            if let Some(error) = &longest.error {
                add("error", error.text(), String::new(), false);
            }
        }
        let all = self.wave_cycles();
        let mut stalls = Stalls::default();
        for timing in &self.launches {
            stalls.add_all(&timing.stalls);
        }
        let note = "of those that were replayed, by what they waited for".to_owned();
        add("cycles of waves", grouped(all), note, false);
        let issuing = all.saturating_sub(stalls.total());
        add("issuing", percent(ratio(issuing, all)), String::new(), true);
        for stall in Stall::ALL {
            let cycles = stalls.of(stall);
            if cycles > 0 {
                add(
                    stall.name(),
                    percent(ratio(cycles, all)),
                    String::new(),
                    true,
                );
            }
        }
        rows
    }
}
