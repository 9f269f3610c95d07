//! Destinations and formats of a trace.

use std::{
    collections::HashSet,
    ffi::OsStr,
    fs::File,
    io::{self, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use ferrowave_timing::trace_events::{self, Named, Span};
use serde_json::{Map, Value};

use super::{TRACE_VARIABLE, milliseconds};
use crate::error::warn;

/// A traced call or piece of work.
pub(super) struct Event<'a> {
    pub(super) track: Track,
    pub(super) name: &'a str,
    /// The result of a call.
    pub(super) result: Option<&'a str>,
    pub(super) arguments: &'a [(String, String)],
    /// Time since the trace began.
    pub(super) start: Duration,
    pub(super) duration: Duration,
}

/// A track. Events of one track do not overlap, except nested calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Track {
    /// A host thread, by number.
    Thread(u32),
    /// A stream, by handle; `None` is the default stream.
    Stream { device: i32, stream: Option<usize> },
}

impl Track {
    /// The process and thread IDs that represent the track in trace events. The host is process 0.
    fn ids(self) -> (u64, u64) {
        match self {
            Track::Thread(number) => (0, u64::from(number)),
            Track::Stream { device, stream } => {
                (1 + device as u64, stream.map_or(0, |stream| stream as u64))
            }
        }
    }

    fn names(self) -> (String, String) {
        match self {
            Track::Thread(number) => ("host".to_owned(), format!("thread {number}")),
            Track::Stream { device, stream } => (
                format!("device {device}"),
                stream.map_or("default stream".to_owned(), |stream| {
                    format!("stream {stream:#x}")
                }),
            ),
        }
    }
}

pub(super) struct Output(Mutex<Sink>);

enum Sink {
    /// Text on standard error.
    Said,
    /// Text in a file.
    Text(PathBuf, File),
    /// Trace events in a file.
    Events(PathBuf, Events),
    /// The destination could not be written; the error was printed.
    Failed,
}

impl Output {
    pub(super) fn open(file: Option<&OsStr>) -> Self {
        let Some(path) = file.map(Path::new) else {
            return Output(Mutex::new(Sink::Said));
        };
        let is_json = path
            .extension()
            .is_some_and(|extension| extension == "json");
        let opened = File::create(path).and_then(|file| match is_json {
            true => Events::begin(file).map(|events| Sink::Events(path.to_owned(), events)),
            false => Ok(Sink::Text(path.to_owned(), file)),
        });
        Output(Mutex::new(
            opened.unwrap_or_else(|error| failed(path, &error)),
        ))
    }

    pub(super) fn write(&self, event: &Event<'_>) {
        // A poisoned lock is ignored: a sink is replaced as a whole.
        let mut sink = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let failure = match &mut *sink {
            Sink::Said => {
                // Errors are ignored: standard error may be closed.
                let _ = io::stderr().write_all(line(event).as_bytes());
                None
            }
            Sink::Text(path, file) => {
                let written = file.write_all(line(event).as_bytes());
                written.err().map(|error| failed(path, &error))
            }
            Sink::Events(path, events) => {
                let written = events.write(event);
                written.err().map(|error| failed(path, &error))
            }
            Sink::Failed => None,
        };
        if let Some(failure) = failure {
            *sink = failure;
        }
    }
}

fn failed(path: &Path, error: &io::Error) -> Sink {
    warn(format_args!(
        "{TRACE_VARIABLE}: `{}` cannot be written: {error}; the program goes on without a trace",
        path.display()
    ));
    Sink::Failed
}

/// Formats an event as a line of text.
fn line(event: &Event<'_>) -> String {
    let (process, thread) = event.track.names();
    let arguments: Vec<_> = event
        .arguments
        .iter()
        .map(|(name, text)| format!("{name}={text}"))
        .collect();
    let result = match event.result {
        Some(result) if !result.is_empty() => format!(" = {result}"),
        _ => String::new(),
    };
    format!(
        "ferrowave: {:.3} ms {process}, {thread}: {}({}){result}, took {:.3} ms\n",
        milliseconds(event.start),
        event.name,
        arguments.join(", "),
        milliseconds(event.duration)
    )
}

/// A file of trace events: a JSON array that is complete after each event, so that the file of a killed program is
/// valid.
struct Events {
    file: File,
    /// Offset of the next event, which overwrites the array's closing bracket.
    end: u64,
    named: HashSet<Track>,
    processes: HashSet<u64>,
}

const END: &str = "\n]\n";

impl Events {
    fn begin(mut file: File) -> io::Result<Self> {
        file.write_all(b"[\n]\n")?;
        Ok(Events {
            file,
            end: 1,
            named: HashSet::new(),
            processes: HashSet::new(),
        })
    }

    fn write(&mut self, event: &Event<'_>) -> io::Result<()> {
        let mut text = String::new();
        let is_first = self.end == 1;
        let mut add = |value: Value| {
            let separator = if is_first && text.is_empty() {
                "\n"
            } else {
                ",\n"
            };
            text += separator;
            text += &value.to_string();
        };
        let track = event.track.ids();
        if self.named.insert(event.track) {
            let (process, thread) = event.track.names();
            if self.processes.insert(track.0) {
                add(trace_events::name(track, Named::Process, &process));
            }
            add(trace_events::name(track, Named::Thread, &thread));
        }
        let mut arguments: Map<String, Value> = event
            .arguments
            .iter()
            .map(|(name, text)| (name.clone(), text.as_str().into()))
            .collect();
        if let Some(result) = event.result {
            arguments.insert("result".to_owned(), result.into());
        }
        let span = Span {
            track,
            name: event.name,
            category: match event.track {
                Track::Thread(_) => "api",
                Track::Stream { .. } => "work",
            },
            start: 1e6 * event.start.as_secs_f64(),
            duration: 1e6 * event.duration.as_secs_f64(),
            arguments,
        };
        add(span.into());
        let next = self.end + text.len() as u64;
        text += END;
        self.file.seek(SeekFrom::Start(self.end))?;
        self.file.write_all(text.as_bytes())?;
        self.end = next;
        Ok(())
    }
}
