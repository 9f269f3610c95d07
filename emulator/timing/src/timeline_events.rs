//! Timelines as trace events.

use std::{
    collections::{HashMap, HashSet},
    io::{self, Write},
};

use serde_json::{Map, Value, json};

use super::{
    report::{MODELLED, Timing},
    timeline::{Issue, Lane},
    trace_events::{self, Named, Span, Track},
};

/// Viewers count in nanoseconds, which are longer than a cycle. So one cycle is shown as one nanosecond.
const MICROSECONDS_PER_CYCLE: f64 = 1e-3;

/// The thread of a SIMD's matrix core; waves have higher numbers.
const MATRIX_CORE: u64 = 0;

/// The processes of a launch: one for each of four SIMDs.
const PROCESSES: u64 = 4;

/// The cycles that a timeline shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shown {
    /// The index of the launch.
    pub launch: usize,
    /// Cycles from the start of the launch.
    pub cycles: u64,
    /// Whether the replay went on after these, beyond [`MOST_TIMELINE_INSTRUCTIONS`](crate::MOST_TIMELINE_INSTRUCTIONS).
    pub is_cut: bool,
}

/// Writes the timelines of launches as one file of trace events, for those that have one. Each SIMD of the replayed
/// compute unit is a process with a track for its matrix core and one for each wave. An instruction is a span of the
/// four cycles of its issue, a wait a span before it. **One nanosecond of the file is one cycle.** Returns what is shown
/// of each launch.
///
/// # Errors
/// If writing fails.
pub fn write_timelines(timings: &[Timing], mut file: impl Write) -> io::Result<Vec<Shown>> {
    write!(file, "{{\"traceEvents\":[")?;
    let mut shown = Vec::new();
    let mut is_first = true;
    for (launch, timing) in timings.iter().enumerate() {
        let Some(timeline) = &timing.timeline else {
            continue;
        };
        let mut add = |event: Value| {
            let separator = if is_first { "\n" } else { ",\n" };
            is_first = false;
            write!(file, "{separator}{event}")
        };
        let first = PROCESSES * launch as u64;
        name_tracks(timing, &timeline.lanes, launch, &mut add)?;
        let places = Places::new(timing, &timeline.issues);
        for issue in &timeline.issues {
            if let Some(lane) = timeline.lanes.get(issue.lane) {
                let process = first + lane.simd as u64;
                places
                    .spans(issue, timeline.turn, process)
                    .try_for_each(|span| add(span.into()))?;
            }
        }
        shown.push(Shown {
            launch,
            cycles: timeline
                .issues
                .iter()
                .map(|issue| issue.at + timeline.turn)
                .max()
                .unwrap_or(0),
            is_cut: timeline.is_cut,
        });
    }
    let about = json!({"note": MODELLED, "unit": "one nanosecond is one cycle"});
    writeln!(
        file,
        "\n],\"displayTimeUnit\":\"ns\",\"otherData\":{about}}}"
    )?;
    file.flush()?;
    Ok(shown)
}

fn name_tracks(
    timing: &Timing,
    lanes: &[Lane],
    launch: usize,
    add: &mut impl FnMut(Value) -> io::Result<()>,
) -> io::Result<()> {
    let first = PROCESSES * launch as u64;
    for simd in 0..PROCESSES {
        let process = format!("{}, launch {}, SIMD {simd}", timing.kernel, launch + 1);
        let track = (first + simd, MATRIX_CORE);
        add(trace_events::name(track, Named::Process, &process))?;
        add(trace_events::name(track, Named::Thread, "matrix core"))?;
    }
    for (number, lane) in lanes.iter().enumerate() {
        let name = format!("workgroup {}, wave {}", lane.workgroup, lane.wave);
        let track = (first + lane.simd as u64, thread(number));
        add(trace_events::name(track, Named::Thread, &name))?;
    }
    Ok(())
}

const fn thread(lane: usize) -> u64 {
    lane as u64 + 1
}

/// The text and source of each instruction.
struct Places(HashMap<u32, (String, Map<String, Value>)>);

impl Places {
    fn new(timing: &Timing, issues: &[Issue]) -> Self {
        let names = timing.instructions.names();
        let different: HashSet<u32> = issues.iter().map(|issue| issue.index).collect();
        let places = different.into_iter().filter_map(|index| {
            let place = names.place(index)?;
            let words: Vec<_> = place.text.split_whitespace().collect();
            let mut arguments = Map::new();
            arguments.insert("offset".to_owned(), format!("{:#x}", place.offset).into());
            if let Some(line) = place.own_source().first() {
                let source = format!("{}:{}", line.file, line.line);
                arguments.insert("source".to_owned(), source.into());
            }
            Some((index, (words.join(" "), arguments)))
        });
        Places(places.collect())
    }

    /// The spans of an instruction: what it waited for, its issue, and its time in the matrix core.
    fn spans(&self, issue: &Issue, turn: u64, process: u64) -> impl Iterator<Item = Span<'_>> {
        let (text, arguments) = match self.0.get(&issue.index) {
            Some((text, arguments)) => (text.as_str(), arguments.clone()),
            None => ("", Map::new()),
        };
        let span = move |thread, name, category, from: u64, to: u64, arguments| {
            let track: Track = (process, thread);
            (to > from).then_some(Span {
                track,
                name,
                category,
                start: from as f64 * MICROSECONDS_PER_CYCLE,
                duration: (to - from) as f64 * MICROSECONDS_PER_CYCLE,
                arguments,
            })
        };
        let wave = thread(issue.lane);
        let Issue {
            free_at,
            ready_at,
            at,
            start,
            ..
        } = *issue;
        // The time until the SIMD's next turn is no stall.
        let last_turn = ready_at + at.saturating_sub(ready_at) / turn * turn;
        let (cause, blocked_by) = (issue.cause.name(), issue.blocked_by.name());
        [
            span(wave, cause, "wait", free_at, ready_at, Map::new()),
            span(wave, blocked_by, "wait", ready_at, last_turn, Map::new()),
            span(wave, text, "issue", at, at + turn, arguments.clone()),
            span(
                MATRIX_CORE,
                text,
                "matrix core",
                start,
                start + issue.matrix_cycles,
                arguments,
            ),
        ]
        .into_iter()
        .flatten()
    }
}
