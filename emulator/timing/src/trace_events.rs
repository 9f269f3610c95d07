//! Events of Chrome's trace format, which Perfetto (<https://ui.perfetto.dev>) displays. (Google, «Trace Event Format»:
//! complete events `X`, metadata events `M` that name processes and threads, times in microseconds.)

use serde_json::{Map, Value, json};

/// The IDs of a track: of a process and of a thread in it.
pub type Track = (u64, u64);

/// What a metadata event names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// The track's process.
    Process,
    /// The track's thread.
    Thread,
}

/// The event that gives a track's process or thread its name.
pub fn name((pid, tid): Track, named: Named, name: &str) -> Value {
    let what = match named {
        Named::Process => "process_name",
        Named::Thread => "thread_name",
    };
    json!({"ph": "M", "name": what, "pid": pid, "tid": tid, "args": {"name": name}})
}

/// Something that takes time on a track. Times are in microseconds.
#[derive(Clone, Debug)]
pub struct Span<'a> {
    /// Its track.
    pub track: Track,
    /// Its name.
    pub name: &'a str,
    /// Its category, by which viewers filter.
    pub category: &'a str,
    /// Its start.
    pub start: f64,
    /// Its duration.
    pub duration: f64,
    /// Further values, by name.
    pub arguments: Map<String, Value>,
}

impl From<Span<'_>> for Value {
    fn from(span: Span<'_>) -> Self {
        let (pid, tid) = span.track;
        json!({
            "ph": "X",
            "name": span.name,
            "cat": span.category,
            "pid": pid,
            "tid": tid,
            "ts": span.start,
            "dur": span.duration,
            "args": span.arguments,
        })
    }
}
