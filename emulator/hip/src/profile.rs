//! Counters of launches that come through HIP: whether, and where profiles go.
//!
//! A program of the same process asks with [`set_profiling`] and gets them from [`take_profiles`]. Any other is profiled
//! if the environment names a directory: there each kernel that ran gets a `.json`, an `.html` and a `.txt` file, the first
//! two with the times of its last launches if those are modelled ([`super::timing`]). They are
//! written after launches, but not so often that writing is what takes the time, and at the end of the program. What
//! cannot be written there goes to standard error at the end, as text.

use std::{
    collections::VecDeque,
    env, fs, io,
    path::{Path, PathBuf},
    process,
    sync::{LazyLock, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use super::check;
use ferrowave_emulator::dispatch::{LaunchConfig, LaunchError};
use ferrowave_emulator::exec::Observer;
use ferrowave_emulator::program::Kernel;
use ferrowave_profile::{Counted, Format, Profile, Setup};
use ferrowave_timing::Timing;

/// The environment variable that names a directory for the profiles of all kernels that run.
pub const PROFILE_VARIABLE: &str = "FERROWAVE_PROFILE";

/// Files are written no more often than this.
const LEAST_PAUSE: Duration = Duration::from_secs(1);
/// Pauses between writing take so many times as long as writing at least.
const PAUSE_FACTOR: u32 = 10;
/// Modelled times are kept of so many launches of a kernel: each has all of its instructions.
const MOST_TIMINGS: usize = 64;
/// The longest file name without its ending, in bytes: names of C++ kernels may be longer than any file's.
const MAX_NAME_BYTES: usize = 180;

/// Where profiles go.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Sink {
    /// There are none.
    Off,
    /// They are kept until a call takes them.
    Kept,
    /// To files.
    Directory(PathBuf),
}

struct State {
    sink: Sink,
    entries: Vec<Entry>,
    /// Files are not written before.
    next_write: Option<Instant>,
}

/// A kernel that ran.
struct Entry {
    profile: Profile,
    /// The modelled times of its last launches, if they are modelled.
    timings: VecDeque<Timing>,
    /// Its files' name without ending.
    name: String,
    /// It has run since they were written.
    is_new: bool,
}

static STATE: LazyLock<Mutex<State>> = LazyLock::new(|| Mutex::new(State::from_environment()));

fn state() -> MutexGuard<'static, State> {
    // Valid between statements, even after a panic.
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Says whether launches are profiled from now on, whatever the environment says.
pub fn set_profiling(on: bool) {
    state().sink = if on { Sink::Kept } else { Sink::Off };
}

/// Takes what was counted since the last time, a profile for each kernel, in the order of their first launches.
pub fn take_profiles() -> Vec<Profile> {
    let entries = std::mem::take(&mut state().entries);
    entries.into_iter().map(|entry| entry.profile).collect()
}

/// Counts what is launched while `run` runs, whatever was asked for before, which stands again afterwards. Launches of
/// other threads count, too.
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

/// Runs a launch, checked and counted if that was chosen.
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

/// Runs a launch as `launch` does, and beside the rest another observer on each host thread.
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

/// Adds the modelled time of a launch to what goes to files about its kernel.
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
    // Counted before it was modelled, it may have been written already.
    entry.is_new = true;
}

impl State {
    fn from_environment() -> Self {
        // What is registered first is called last, and checks end the program when they are called.
        check::prepare();
        let directory = env::var_os(PROFILE_VARIABLE).filter(|directory| !directory.is_empty());
        let sink = match directory {
            None => Sink::Off,
            Some(directory) => {
                #[cfg(unix)]
                // SAFETY: the function is part of this program and takes nothing.
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
            // What cannot be written now may be at the end, and is said then.
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

    /// A file name for a kernel that no other has: kernels of different code objects may have one name.
    fn free_name(&self, kernel: &str) -> String {
        let first = file_name(kernel);
        let is_free = |name: &String| self.entries.iter().all(|entry| entry.name != *name);
        let numbered = (2..).map(|number| format!("{first}-{number}"));
        let mut names = std::iter::once(first.clone()).chain(numbered);
        names.find(is_free).unwrap_or(first)
    }
}

/// What a kernel's files are called, without ending: its name, as far as every file system takes it.
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
            // Who reads them while the program runs finds whole files.
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

/// Writes what has not been written.
#[cfg(unix)]
extern "C" fn at_exit() {
    let mut state = state();
    let Sink::Directory(directory) = state.sink.clone() else {
        return;
    };
    for entry in state.entries.iter_mut().filter(|entry| entry.is_new) {
        if let Err(error) = entry.write(&directory) {
            eprintln!(
                "ferrowave: the profile of {} cannot be written to `{}`: {error}",
                entry.profile.kernel,
                directory.display()
            );
            let profiles = std::slice::from_ref(&entry.profile);
            eprint!("{}", Format::Listing.write(profiles));
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
