//! Whether launches through HIP are counted, and where the profiles go.
//!
//! A program in the same process enables counting with [`set_profiling`] and reads profiles with [`take_profiles`]. For
//! other programs, the environment may name a directory. Each kernel that ran gets a `.json`, an `.html` and a `.txt`
//! file there; the first two contain the modelled times of its last launches if those are modelled ([`super::timing`]).
//! Files are written after launches, rarely enough that writing takes a small part of the time, and at exit. Profiles
//! that cannot be written are printed to standard error at exit, as text.

use std::{
    collections::VecDeque,
    env, fs, io,
    path::{Path, PathBuf},
    process,
    sync::{LazyLock, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use super::{
    check,
    error::{say, warn},
};
use ferrowave_emulator::dispatch::{LaunchConfig, LaunchError};
use ferrowave_emulator::exec::Observer;
use ferrowave_emulator::program::Kernel;
use ferrowave_profile::{Counted, Format, Profile, Setup};
use ferrowave_timing::Timing;

/// Environment variable: the directory for the profiles of all kernels that run.
pub const PROFILE_VARIABLE: &str = "FERROWAVE_PROFILE";

/// Minimum time between writes.
const LEAST_PAUSE: Duration = Duration::from_secs(1);
/// The time between writes is at least the last write's duration times this factor.
const PAUSE_FACTOR: u32 = 10;
/// Maximum number of launches of a kernel whose modelled times are kept, because each has the times of all
/// instructions.
const MOST_TIMINGS: usize = 64;
/// Maximum length of a file name without its extension, in bytes. Names of C++ kernels may exceed the file system's
/// limit.
const MAX_NAME_BYTES: usize = 180;

/// The destination of profiles.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Sink {
    /// Launches are not counted.
    Off,
    /// Kept until [`take_profiles`].
    Kept,
    /// Written to files in a directory.
    Directory(PathBuf),
}

struct State {
    sink: Sink,
    entries: Vec<Entry>,
    /// The earliest time of the next write.
    next_write: Option<Instant>,
}

/// A kernel that ran.
struct Entry {
    profile: Profile,
    /// The modelled times of its last launches, if any.
    timings: VecDeque<Timing>,
    /// Name of its files, without extension.
    name: String,
    /// Whether it has run since its files were written.
    is_new: bool,
}

static STATE: LazyLock<Mutex<State>> = LazyLock::new(|| Mutex::new(State::from_environment()));

fn state() -> MutexGuard<'static, State> {
    // A poisoned lock is ignored: the state is valid between statements.
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Enables or disables counting from now on, overriding the environment.
pub fn set_profiling(on: bool) {
    state().sink = if on { Sink::Kept } else { Sink::Off };
}

/// Takes the counters since the last call: one profile per kernel, in the order of their first launches.
pub fn take_profiles() -> Vec<Profile> {
    let entries = std::mem::take(&mut state().entries);
    entries.into_iter().map(|entry| entry.profile).collect()
}

/// Counts all launches while `run` runs, including those of other threads. Restores the previous setting afterwards.
pub fn during<R>(run: impl FnOnce() -> R) -> (R, Vec<Profile>) {
    let (sink, entries) = {
        let mut state = state();
        let entries = std::mem::take(&mut state.entries);
        (std::mem::replace(&mut state.sink, Sink::Kept), entries)
    };
    let result = run();
    let mut state = state();
    state.sink = sink;
    let counted = std::mem::replace(&mut state.entries, entries);
    (
        result,
        counted.into_iter().map(|entry| entry.profile).collect(),
    )
}

/// Runs a launch, checked and counted if enabled.
pub(super) fn launch(kernel: &Kernel, config: &LaunchConfig<'_>) -> Result<(), LaunchError> {
    if state().sink == Sink::Off {
        return check::launch(kernel, config);
    }
    let setup = Setup::new(kernel);
    let (outcome, counters) = check::launch_beside(kernel, config, || setup.counter())?;
    let counted = Counted::new(kernel, config, counters);
    state().add(kernel, &counted);
    outcome
}

/// Like `launch`, with another observer on each host thread.
pub fn launch_beside<O: Observer + Send>(
    kernel: &Kernel,
    config: &LaunchConfig<'_>,
    other: impl Fn() -> O + Sync,
) -> Result<(Result<(), LaunchError>, Vec<O>), LaunchError> {
    if state().sink == Sink::Off {
        return check::launch_beside(kernel, config, other);
    }
    let setup = Setup::new(kernel);
    let both = || (setup.counter(), other());
    let (outcome, observers) = check::launch_beside(kernel, config, both)?;
    let (counters, others) = observers.into_iter().unzip();
    let counted = Counted::new(kernel, config, counters);
    state().add(kernel, &counted);
    Ok((outcome, others))
}

/// Adds a launch that was only estimated to its kernel's files: its time, without counts.
pub(super) fn add_estimate(kernel: &Kernel, config: &LaunchConfig<'_>, timing: &Timing) {
    let mut state = state();
    if matches!(state.sink, Sink::Directory(_)) {
        state.add(kernel, &Counted::new(kernel, config, Vec::new()));
        drop(state);
        add_timing(kernel, timing);
    }
}

/// Adds the modelled time of a launch to its kernel's files.
pub(super) fn add_timing(kernel: &Kernel, timing: &Timing) {
    let mut state = state();
    if !matches!(state.sink, Sink::Directory(_)) {
        return;
    }
    let entry = state.entry(kernel);
    if entry.timings.len() == MOST_TIMINGS {
        entry.timings.pop_front();
    }
    entry.timings.push_back(timing.clone());
    // The files may have been written after the launch was counted and before it was modelled.
    entry.is_new = true;
}

impl State {
    fn from_environment() -> Self {
        // Exit handlers run in reverse order of registration, and that of the checks ends the program, so it must run
        // last.
        check::prepare();
        let directory = env::var_os(PROFILE_VARIABLE).filter(|directory| !directory.is_empty());
        let sink = match directory {
            None => Sink::Off,
            Some(directory) => {
                // SAFETY: the function is part of this program and takes no arguments.
                unsafe {
                    libc::atexit(at_exit);
                }
                Sink::Directory(directory.into())
            }
        };
        State {
            sink,
            entries: Vec::new(),
            next_write: None,
        }
    }

    fn add(&mut self, kernel: &Kernel, counted: &Counted) {
        let entry = self.entry(kernel);
        entry.profile.add(kernel, counted);
        entry.is_new = true;
        let started = Instant::now();
        if self.next_write.is_some_and(|time| started < time) {
            return;
        }
        if let Sink::Directory(directory) = &self.sink {
            // A file that cannot be written now is tried again later. A failure at exit is reported.
            let new = self.entries.iter_mut().filter(|entry| entry.is_new);
            for entry in new {
                entry.is_new = entry.write(directory).is_err();
            }
            let pause = LEAST_PAUSE.max(PAUSE_FACTOR * started.elapsed());
            self.next_write = Some(Instant::now() + pause);
        }
    }

    fn entry(&mut self, kernel: &Kernel) -> &mut Entry {
        let identity = kernel.identity();
        let known = |entry: &Entry| entry.profile.identity() == identity;
        let index = self.entries.iter().position(known).unwrap_or_else(|| {
            let name = self.free_name(kernel.name());
            self.entries.push(Entry {
                profile: Profile::new(kernel),
                timings: VecDeque::new(),
                name,
                is_new: true,
            });
            self.entries.len() - 1
        });
        &mut self.entries[index]
    }

    /// An unused file name for a kernel. Kernels of different code objects may have the same name.
    fn free_name(&self, kernel: &str) -> String {
        let first = file_name(kernel);
        let is_free = |name: &String| self.entries.iter().all(|entry| entry.name != *name);
        let numbered = (2..).map(|number| format!("{first}-{number}"));
        let mut names = std::iter::once(first.clone()).chain(numbered);
        names.find(is_free).unwrap_or(first)
    }
}

/// The name of a kernel's files, without extension: the kernel's name, limited to characters that every file system
/// supports.
fn file_name(kernel: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    let name: String = kernel
        .chars()
        .map(|c| if plain(c) { c } else { '_' })
        .take(MAX_NAME_BYTES)
        .collect();
    match name.trim_start_matches('.') {
        "" => "kernel".to_owned(),
        name => name.to_owned(),
    }
}

impl Entry {
    fn write(&self, directory: &Path) -> io::Result<()> {
        fs::create_dir_all(directory)?;
        let profiles = std::slice::from_ref(&self.profile);
        let timings: Vec<Timing> = self.timings.iter().cloned().collect();
        for (ending, format) in [
            ("json", Format::Json),
            ("html", Format::Html),
            ("txt", Format::Listing),
        ] {
            // Files are renamed when complete, so that a reader never sees a partial file.
            let part = directory.join(format!("{}.{ending}.{}", self.name, process::id()));
            let written = fs::write(&part, format.write_with(profiles, &timings)).and_then(|()| {
                fs::rename(&part, directory.join(format!("{}.{ending}", self.name)))
            });
            if written.is_err() {
                let _ = fs::remove_file(&part);
            }
            written?;
        }
        Ok(())
    }
}

/// Writes the profiles that have changed.
extern "C" fn at_exit() {
    let mut state = state();
    let Sink::Directory(directory) = state.sink.clone() else {
        return;
    };
    for entry in state.entries.iter_mut().filter(|entry| entry.is_new) {
        if let Err(error) = entry.write(&directory) {
            warn(format_args!(
                "the profile of {} cannot be written to `{}`: {error}",
                entry.profile.kernel,
                directory.display()
            ));
            let profiles = std::slice::from_ref(&entry.profile);
            say(Format::Listing.write(profiles));
        }
        entry.is_new = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_become_file_names() {
        assert_eq!(file_name("gemm_naive_f32"), "gemm_naive_f32");
        assert_eq!(file_name("_Z1kPf"), "_Z1kPf");
        assert_eq!(file_name("a/b<int>::c"), "a_b_int___c");
        assert_eq!(file_name("../../etc/x"), "_.._etc_x");
        assert_eq!(file_name(""), "kernel");
        assert_eq!(file_name(".."), "kernel");
        assert_eq!(file_name(&"ü".repeat(500)).len(), MAX_NAME_BYTES);
    }
}
