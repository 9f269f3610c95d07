//! Shows the progress of long launches on the terminal.

use std::{
    io::{IsTerminal as _, Write as _, stderr},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use ferrowave_emulator::dispatch::{self, Progress};

use crate::{say, table};

/// Time before the line first appears.
const PATIENCE: Duration = Duration::from_secs(1);
/// Time between updates.
const PAUSE: Duration = Duration::from_millis(200);
/// Maximum characters of a kernel's name.
const NAME_LETTERS: usize = 32;
/// Width assumed for a terminal that does not report one.
const USUAL_WIDTH: usize = 80;
/// Moves the cursor to the start of the line and clears it.
const CLEAR: &str = "\r\x1b[K";

/// Whether a progress line is on the screen and must be cleared before other output.
static DRAWN: Mutex<bool> = Mutex::new(false);

fn drawn() -> MutexGuard<'static, bool> {
    DRAWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes a line to standard error, in place of a [`ProgressLine`] if there is one.
pub fn note(text: &str) {
    let mut drawn = drawn();
    let clear = if std::mem::take(&mut *drawn) {
        CLEAR
    } else {
        ""
    };
    say(format_args!("{clear}{text}\n"));
}

/// Shows the progress of the emulator's launches on standard error after one second, if that is a terminal. Dropping it
/// clears the line.
#[derive(Debug)]
pub struct ProgressLine {
    ended: Arc<(Mutex<bool>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

impl ProgressLine {
    /// Starts to follow launches.
    pub fn start() -> Self {
        let ended = Arc::default();
        let thread = stderr().is_terminal().then(|| {
            dispatch::follow_launches();
            let ended = Arc::clone(&ended);
            thread::spawn(move || draw(&ended))
        });
        ProgressLine { ended, thread }
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        *self.ended.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.ended.1.notify_all();
        // A panic of the drawing thread is ignored.
        let _ = self.thread.take().map(JoinHandle::join);
        let mut drawn = drawn();
        if std::mem::take(&mut *drawn) {
            say(CLEAR);
        }
    }
}

/// Updates the line until the work has ended.
fn draw((ended, changed): &(Mutex<bool>, Condvar)) {
    let started = Instant::now();
    let mut pause = PATIENCE;
    let mut guard = ended.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        guard = changed
            .wait_timeout_while(guard, pause, |ended| !*ended)
            .unwrap_or_else(PoisonError::into_inner)
            .0;
        if *guard {
            return;
        }
        pause = PAUSE;
        // A line that wraps could not be cleared, and writing the last column may wrap. The window's width may change.
        let width = table::terminal_width().unwrap_or(USUAL_WIDTH) - 1;
        let text = text(dispatch::progress().as_ref(), started.elapsed(), width);
        let mut drawn = drawn();
        // A failed write is ignored.
        let mut out = stderr().lock();
        let _ = write!(out, "{CLEAR}{text}").and_then(|()| out.flush());
        *drawn = true;
    }
}

/// The line, in at most `width` characters. The kernel's name is shortened first.
fn text(progress: Option<&Progress>, time: Duration, width: usize) -> String {
    let Some(progress) = progress else {
        return cut(&format!("working, {} s", time.as_secs()), width);
    };
    let figures = format!(
        ": {} of {} workgroups, {:.1} million wave-instructions, {} s",
        progress.ended,
        progress.workgroups,
        progress.instructions as f64 / 1e6,
        progress.time.as_secs()
    );
    let room = width.saturating_sub(figures.len()).min(NAME_LETTERS);
    cut(&(cut(&progress.kernel, room) + &figures), width)
}

/// Shortens a text to `letters` characters, the last one an ellipsis.
fn cut(text: &str, letters: usize) -> String {
    match text.char_indices().nth(letters) {
        None => text.to_owned(),
        Some(_) => text
            .chars()
            .take(letters.saturating_sub(1))
            .chain(['…'])
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_say_how_far_it_is_and_fit_a_terminal() {
        let mut progress = Progress {
            kernel: "gemm_naive_f32".to_owned(),
            workgroups: 4096,
            ended: 12,
            instructions: 1_260_000_000,
            time: Duration::from_millis(12_900),
        };
        assert_eq!(
            text(Some(&progress), Duration::ZERO, 79),
            "gemm_naive_f32: 12 of 4096 workgroups, 1260.0 million wave-instructions, 12 s"
        );
        progress.kernel = "_ZN7rocprim".repeat(50);
        for width in [20, 79, 200] {
            let text = text(Some(&progress), Duration::ZERO, width);
            assert!(text.chars().count() <= width, "{width}: {text}");
        }
        assert_eq!(
            text(Some(&progress), Duration::ZERO, 79),
            "_ZN7rocprim_ZN7…: 12 of 4096 workgroups, 1260.0 million wave-instructions, 12 s"
        );
        assert_eq!(text(None, Duration::from_secs(3), 79), "working, 3 s");
    }
}
