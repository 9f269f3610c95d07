//! A line on the terminal for what takes long.

use std::{
    io::{IsTerminal as _, Write as _, stderr},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use ferrowave_emulator::dispatch::{self, Progress};

/// What is done before is not worth a line.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often the line changes.
const PAUSE: Duration = Duration::from_millis(200);
/// Letters of a kernel's name at most: the line must not be longer than a terminal's.
const NAME_LETTERS: usize = 32;
/// Takes the cursor to the line's beginning, and the line away.
const CLEAR: &str = "\r\x1b[K";

/// Whether a line stands there that must go before anything else is written.
static DRAWN: Mutex<bool> = Mutex::new(false);

fn drawn() -> MutexGuard<'static, bool> {
    DRAWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes a line to standard error, in place of a [`ProgressLine`] that may stand there.
pub fn note(text: &str) {
    let mut drawn = drawn();
    let clear = if std::mem::take(&mut *drawn) {
        CLEAR
    } else {
        ""
    };
    eprintln!("{clear}{text}");
}

/// Says on standard error how far the emulator's launches are, from the second second on, if that is a terminal. It goes
/// when it is dropped.
#[derive(Debug)]
pub struct ProgressLine {
    ended: Arc<(Mutex<bool>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

impl ProgressLine {
    /// Begins to wait.
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
        // A thread that panicked draws nothing any more.
        let _ = self.thread.take().map(JoinHandle::join);
        let mut drawn = drawn();
        if std::mem::take(&mut *drawn) {
            eprint!("{CLEAR}");
        }
    }
}

/// Draws the line until the work has ended.
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
        let text = text(dispatch::progress().as_ref(), started.elapsed());
        let mut drawn = drawn();
        // What cannot be drawn is not missed.
        let mut out = stderr().lock();
        let _ = write!(out, "{CLEAR}{text}").and_then(|()| out.flush());
        *drawn = true;
    }
}

fn text(progress: Option<&Progress>, time: Duration) -> String {
    let Some(progress) = progress else {
        return format!("working, {} s", time.as_secs());
    };
    let mut name: String = progress.kernel.chars().take(NAME_LETTERS).collect();
    if name.len() < progress.kernel.len() {
        name.push('…');
    }
    format!(
        "{name}: {} of {} workgroups, {:.1} million wave-instructions, {} s",
        progress.ended,
        progress.workgroups,
        progress.instructions as f64 / 1e6,
        progress.time.as_secs()
    )
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
            text(Some(&progress), Duration::ZERO),
            "gemm_naive_f32: 12 of 4096 workgroups, 1260.0 million wave-instructions, 12 s"
        );
        progress.kernel = "_ZN7rocprim".repeat(50);
        assert!(text(Some(&progress), Duration::ZERO).chars().count() < 110);
        assert_eq!(text(None, Duration::from_secs(3)), "working, 3 s");
    }
}
