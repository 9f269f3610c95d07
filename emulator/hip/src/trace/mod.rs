//! Traces: a record of HIP calls and of streams' work, written as they end.
//!
//! [`TRACE_VARIABLE`] selects what is traced (`api`, `launches`, or by default both) and the destination: text on
//! standard error, a text file, or for a name ending in `.json` a file of Chrome trace events. Perfetto
//! (<https://ui.perfetto.dev>) displays these with a track per host thread and per stream. Times are the host's wall
//! clock: they measure the emulation, not a GPU.

mod output;
mod value;

use std::{
    env,
    ffi::{OsString, c_int},
    sync::{
        LazyLock,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use ferrowave_hip_abi::hipError_t;

use super::{
    error::{Failure, last_error_detail},
    queue::DEFAULT,
};
use output::{Event, Output, Track};
pub(super) use value::{Argument, ByPointer, ByValue, First, FirstOfPointer, extents, of_kernel};

/// Environment variable: what is traced, and to which file: `api`, `launches`, a file name, separated by commas.
pub const TRACE_VARIABLE: &str = "FERROWAVE_TRACE";

/// Arguments: the name of each and its value as text.
pub(super) type Rows = Vec<(String, String)>;

/// What is traced.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Settings {
    api: bool,
    launches: bool,
    file: Option<OsString>,
}

/// A trace in progress.
pub(super) struct Trace {
    settings: Settings,
    began: Instant,
    output: Output,
}

static TRACE: LazyLock<Result<Option<Trace>, String>> = LazyLock::new(|| {
    let Some(text) = env::var_os(TRACE_VARIABLE).filter(|text| !text.is_empty()) else {
        return Ok(None);
    };
    let settings = parse(&text)?;
    let output = Output::open(settings.file.as_deref());
    Ok(Some(Trace {
        settings,
        began: Instant::now(),
        output,
    }))
});

/// Whether a text is one that [`TRACE_VARIABLE`] may have.
///
/// # Errors
/// What is wrong with it.
pub fn check_trace(text: &OsString) -> Result<(), String> {
    parse(text).map(drop)
}

fn parse(text: &OsString) -> Result<Settings, String> {
    let mut settings = Settings::default();
    // A file name need not be UTF-8. It then must be the whole text.
    let Some(items) = text.to_str() else {
        settings.file = Some(text.clone());
        return Ok(Settings {
            api: true,
            launches: true,
            ..settings
        });
    };
    for item in items.split(',') {
        match item.trim() {
            "api" => settings.api = true,
            "launches" => settings.launches = true,
            file if file.contains(['.', '/']) && settings.file.is_none() => {
                settings.file = Some(file.into());
            }
            other => {
                return Err(format!(
                    "{TRACE_VARIABLE}: `{other}` is neither `api` nor `launches` nor the name of one file, which has a `.` or a `/`"
                ));
            }
        }
    }
    if !settings.api && !settings.launches {
        (settings.api, settings.launches) = (true, true);
    }
    Ok(settings)
}

/// The error in the environment, if any.
pub(super) fn misnamed() -> Option<Failure> {
    let message = TRACE.as_ref().err()?;
    Some(Failure::new(hipError_t::hipErrorNoDevice, message))
}

fn trace(of: impl Fn(&Settings) -> bool) -> Option<&'static Trace> {
    let trace = TRACE.as_ref().ok()?.as_ref()?;
    of(&trace.settings).then_some(trace)
}

/// The trace for calls, if enabled.
pub(super) fn calls() -> Option<&'static Trace> {
    trace(|settings| settings.api)
}

impl Trace {
    /// Begins to record a call. Out of line, as [`Call::end`]: each function of HIP has a copy of what is inlined.
    #[cold]
    pub(super) fn call(
        &'static self,
        name: &'static str,
        arguments: &[(&str, &dyn Fn() -> String)],
    ) -> Call {
        let text = |(name, text): &(&str, &dyn Fn() -> String)| ((*name).to_owned(), text());
        Call {
            trace: self,
            name,
            arguments: arguments.iter().map(text).collect(),
            start: Instant::now(),
        }
    }

    fn write(&self, event: &Event<'_>) {
        self.output.write(event);
    }
}

/// A call that runs and is recorded.
pub(super) struct Call {
    trace: &'static Trace,
    name: &'static str,
    arguments: Rows,
    start: Instant,
}

impl Call {
    /// Records the call. `first` gives the value that it has written through its first argument.
    #[cold]
    pub(super) fn end(mut self, result: &dyn Fn() -> String, first: &dyn Fn() -> Option<String>) {
        let duration = self.start.elapsed();
        let mut result = result();
        if result == "hipSuccess" {
            if let (Some(first), Some((_, text))) = (first(), self.arguments.first_mut()) {
                *text += &format!(" -> {first}");
            }
        } else if result.starts_with("hipError") && result != "hipErrorNotReady" {
            result += &format!(" ({})", last_error_detail());
        }
        self.trace.write(&Event {
            track: Track::Thread(thread_number()),
            name: self.name,
            result: Some(&result),
            arguments: &self.arguments,
            start: self.start.duration_since(self.trace.began),
            duration,
        });
    }
}

/// Runs work of a stream, and records it if enabled. `described` gives its name and arguments.
pub(super) fn work(
    device: c_int,
    stream: usize,
    described: impl FnOnce() -> (String, Rows),
    run: impl FnOnce(),
) {
    let Some(trace) = trace(|settings| settings.launches) else {
        return run();
    };
    let (name, arguments) = described();
    let start = Instant::now();
    run();
    trace.write(&Event {
        track: Track::Stream {
            device,
            stream: (stream != DEFAULT).then_some(stream),
        },
        name: &name,
        result: None,
        arguments: &arguments,
        start: start.duration_since(trace.began),
        duration: start.elapsed(),
    });
}

/// The calling host thread's number, in the order of first calls.
fn thread_number() -> u32 {
    static THREADS: AtomicU32 = AtomicU32::new(1);
    thread_local! {
        static NUMBER: u32 = THREADS.fetch_add(1, Ordering::Relaxed);
    }
    // A destructor of the thread may call HIP after the number is gone.
    NUMBER.try_with(|number| *number).unwrap_or(0)
}

/// Milliseconds, for the text format.
fn milliseconds(duration: Duration) -> f64 {
    1e3 * duration.as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Settings, String> {
        parse(&text.into())
    }

    fn settings(api: bool, launches: bool, file: Option<&str>) -> Result<Settings, String> {
        Ok(Settings {
            api,
            launches,
            file: file.map(OsString::from),
        })
    }

    #[test]
    fn what_is_traced_and_where_is_one_list() {
        assert_eq!(parsed("api"), settings(true, false, None));
        assert_eq!(parsed("launches, api"), settings(true, true, None));
        assert_eq!(parsed("t.json"), settings(true, true, Some("t.json")));
        assert_eq!(
            parsed("launches,/tmp/t"),
            settings(false, true, Some("/tmp/t"))
        );
        for wrong in ["1", "api,", "a.json,b.json"] {
            let error = parsed(wrong).unwrap_err();
            assert!(error.contains("neither `api` nor `launches`"), "{error}");
        }
    }
}
