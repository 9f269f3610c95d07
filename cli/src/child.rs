//! Child processes with a time limit. Under ROCm, a kernel that faults aborts the process, and one that hangs never lets it
//! end.

use std::{
    env, fmt,
    io::{self, BufRead as _, BufReader, Read},
    path::PathBuf,
    process::{Child, Command, ExitStatus, Stdio},
    sync::{Arc, Mutex, PoisonError, mpsc},
    thread,
    time::{Duration, Instant},
};

/// How often a running child is looked at.
const PERIOD: Duration = Duration::from_millis(10);
/// How long a killed child may take to end. One that waits inside the driver ends only when the driver lets it.
const GRACE: Duration = Duration::from_secs(2);

/// How a child ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// With this exit code.
    Code(i32),
    /// By this signal.
    Signal(i32),
    /// It was killed because it took longer than this.
    Killed(Duration),
}

impl Ended {
    /// Why the child did not do what it was started for, with the end of what it wrote to standard error.
    pub(crate) fn complaint(&self) -> String {
        const LINES: usize = 20;
        let lines: Vec<_> = self.error.lines().collect();
        let last = lines[lines.len().saturating_sub(LINES)..].iter();
        let said: String = last.map(|line| format!("\n  {line}")).collect();
        format!("the kernel's process failed: {}{said}", self.end)
    }
}

/// A child that has ended, and what it wrote.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) end: End,
    /// Its standard output.
    pub(crate) output: String,
    /// Its standard error.
    pub(crate) error: String,
}

/// The path of this program. Where there is no `/proc`, as in a plain chroot, it is the one by which it was called.
///
/// # Errors
/// If the path is unknown.
pub(crate) fn path_of_this_program() -> io::Result<PathBuf> {
    env::current_exe().or_else(|error| {
        let called = env::args_os().next().map(PathBuf::from);
        called.filter(|path| path.is_absolute()).ok_or(error)
    })
}

/// This program again, with the same environment. The caller adds the arguments.
///
/// # Errors
/// If the path of this program is unknown.
pub(crate) fn this_program() -> io::Result<Command> {
    path_of_this_program().map(Command::new)
}

/// This command again, with more arguments.
///
/// # Errors
/// If the path of this program is unknown.
pub(crate) fn this_command(more: &[&str]) -> io::Result<Command> {
    let mut command = this_program()?;
    command.args(env::args_os().skip(1)).args(more);
    Ok(command)
}

/// Runs a command without input, and kills it if it takes longer than `limit`.
///
/// # Errors
/// If it cannot be started.
pub(crate) fn run(command: &mut Command, limit: Duration) -> io::Result<Ended> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let output = Pipe::new(child.stdout.take());
    let error = Pipe::new(child.stderr.take());
    let end = match wait(&mut child, limit)? {
        Some(status) => end_of(status),
        None => {
            child.kill()?;
            wait(&mut child, GRACE)?;
            End::Killed(limit)
        }
    };
    Ok(Ended {
        end,
        output: output.text(),
        error: error.text(),
    })
}

/// A child whose output is read while it runs, line by line. It is killed on drop.
pub(crate) struct Lines {
    child: Child,
    lines: mpsc::Receiver<String>,
    error: Option<Pipe>,
}

impl Lines {
    /// Starts a command without input.
    ///
    /// # Errors
    /// If it cannot be started.
    pub(crate) fn start(command: &mut Command) -> io::Result<Self> {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let error = Some(Pipe::new(child.stderr.take()));
        let (found, lines) = mpsc::channel();
        let output = child.stdout.take();
        thread::spawn(move || {
            let output = output
                .into_iter()
                .flat_map(|output| BufReader::new(output).lines());
            // It ends with the pipe, or with the receiver.
            output
                .map_while(Result::ok)
                .all(|line| found.send(line).is_ok())
        });
        Ok(Lines {
            child,
            lines,
            error,
        })
    }

    /// The next line. If the child ends before it, or takes longer than `limit`, how it ended.
    ///
    /// # Errors
    /// If the child cannot be waited for.
    pub(crate) fn next(&mut self, limit: Duration) -> io::Result<Result<String, Ended>> {
        let end = match self.lines.recv_timeout(limit) {
            Ok(line) => return Ok(Ok(line)),
            Err(mpsc::RecvTimeoutError::Timeout) => None,
            // It may still be ending.
            Err(mpsc::RecvTimeoutError::Disconnected) => wait(&mut self.child, GRACE)?,
        };
        let end = match end {
            Some(status) => end_of(status),
            None => {
                self.child.kill()?;
                wait(&mut self.child, GRACE)?;
                End::Killed(limit)
            }
        };
        Ok(Err(Ended {
            end,
            output: String::new(),
            error: self.error.take().map(Pipe::text).unwrap_or_default(),
        }))
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        // Both fail only if it has ended.
        let _ = self.child.kill();
        let _ = wait(&mut self.child, GRACE);
    }
}

/// The child's status, or nothing if it still runs when the limit is over.
fn wait(child: &mut Child, limit: Duration) -> io::Result<Option<ExitStatus>> {
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if started.elapsed() >= limit {
            return Ok(None);
        }
        thread::sleep(PERIOD);
    }
}

fn end_of(status: ExitStatus) -> End {
    match status.code() {
        Some(code) => End::Code(code),
        None => End::Signal(signal_of(status)),
    }
}

#[cfg(unix)]
fn signal_of(status: ExitStatus) -> i32 {
    std::os::unix::process::ExitStatusExt::signal(&status).unwrap_or(0)
}

/// Windows has no signals; there, a status always has a code.
#[cfg(not(unix))]
fn signal_of(_status: ExitStatus) -> i32 {
    0
}

/// What a child writes, read by a thread: it would wait if a pipe were full.
struct Pipe {
    bytes: Arc<Mutex<Vec<u8>>>,
    reader: thread::JoinHandle<()>,
}

impl Pipe {
    fn new(pipe: Option<impl Read + Send + 'static>) -> Self {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let to = Arc::clone(&bytes);
        let reader = thread::spawn(move || {
            let Some(mut pipe) = pipe else { return };
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = pipe.read(&mut buffer) {
                let mut to = to.lock().unwrap_or_else(PoisonError::into_inner);
                to.extend_from_slice(&buffer[..count]);
            }
        });
        Pipe { bytes, reader }
    }

    /// All that was written. A pipe that stays open, because a process that cannot be killed holds it, is not waited for.
    fn text(self) -> String {
        let started = Instant::now();
        while !self.reader.is_finished() && started.elapsed() < GRACE {
            thread::sleep(PERIOD);
        }
        let bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            End::Code(code) => write!(f, "it ended with exit code {code}"),
            End::Signal(signal) => {
                let name = match signal {
                    4 => "SIGILL",
                    6 => "SIGABRT",
                    7 => "SIGBUS",
                    8 => "SIGFPE",
                    9 => "SIGKILL",
                    11 => "SIGSEGV",
                    15 => "SIGTERM",
                    _ => return write!(f, "it was ended by signal {signal}"),
                };
                write!(f, "it was ended by {name}")
            }
            End::Killed(limit) => write!(
                f,
                "it did not end within {} s, and was killed",
                limit.as_secs_f64()
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, limit: Duration) -> Ended {
        run(Command::new("sh").args(["-c", script]), limit).unwrap()
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn what_a_child_writes_and_how_it_ends_are_known() {
        let ended = shell("echo out; echo err >&2; exit 3", LONG);
        assert_eq!(ended.end, End::Code(3));
        assert_eq!((&*ended.output, &*ended.error), ("out\n", "err\n"));
        assert_eq!(shell("kill -ABRT $$", LONG).end, End::Signal(6));
        // More than a pipe holds.
        let ended = shell("head -c 1000000 /dev/zero", LONG);
        assert_eq!((ended.end, ended.output.len()), (End::Code(0), 1_000_000));
    }

    #[test]
    fn lines_come_while_the_child_runs() {
        let script = "echo one; echo two; echo why >&2; exec sleep 1000";
        let mut lines = Lines::start(Command::new("sh").args(["-c", script])).unwrap();
        let mut next = |limit| lines.next(limit).unwrap();
        assert_eq!(next(LONG).unwrap(), "one");
        assert_eq!(next(LONG).unwrap(), "two");
        let short = Duration::from_millis(200);
        let ended = next(short).unwrap_err();
        assert_eq!((ended.end, &*ended.error), (End::Killed(short), "why\n"));
        let mut lines = Lines::start(Command::new("sh").args(["-c", "kill -ABRT $$"])).unwrap();
        assert_eq!(lines.next(LONG).unwrap().unwrap_err().end, End::Signal(6));
    }

    #[test]
    fn a_child_that_hangs_is_killed_and_what_it_wrote_is_kept() {
        let started = Instant::now();
        let ended = shell("echo begun; exec sleep 1000", Duration::from_millis(200));
        assert_eq!(ended.end, End::Killed(Duration::from_millis(200)));
        assert_eq!(ended.output, "begun\n");
        assert_eq!(
            ended.end.to_string(),
            "it did not end within 0.2 s, and was killed"
        );
        assert!(started.elapsed() < Duration::from_secs(20));
    }

    #[test]
    fn a_command_that_does_not_start_is_an_error() {
        assert!(run(&mut Command::new("/nowhere/at/all"), LONG).is_err());
    }
}
