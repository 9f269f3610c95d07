//! Winners that were measured on a device, in the user's cache directory.
//!
//! There is a file for each device, driver and set of kernels. Its first line names them, every other line has a problem
//! and the kernel that was fastest. Processes that write at the same time wait for each other, read what the other wrote,
//! and replace the file as a whole. A file that can't be read counts as empty; a line that can't be read, such as the last
//! one of a truncated file, is left out. [`Cache::note`] says so.

use super::table::checksum;
use crate::gemm::problem::Problem;
use ferrowave_shared::Kernel;
use std::{
    collections::BTreeMap,
    env,
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
    process,
    time::Duration,
};

/// The environment variable of the cache directory. If it is empty, nothing is kept.
const CACHE_VARIABLE: &str = "FERROWAVE_CACHE";

/// The beginning of a file's first line: changes with the format.
const FORMAT: &str = "# ferrowave tuning 2: ";

/// The kernel that was fastest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Winner {
    /// The kernel.
    pub kernel: &'static Kernel,
    /// Into how many parts it divides k.
    pub parts: u32,
    /// Its time.
    pub time: Duration,
}

/// The winners of a device.
#[derive(Debug, Default)]
pub struct Cache {
    /// `None` if nothing is kept.
    path: Option<PathBuf>,
    first_line: String,
    winners: BTreeMap<String, Winner>,
    note: Option<String>,
}

/// What a winner depends on: a problem's types of elements, results and sums, layouts, extents, batch, and whether its lines
/// are aligned.
pub fn key(problem: &Problem, is_aligned: bool) -> String {
    let types = problem.types();
    format!(
        "{},{},{},{}{},{},{},{},{},{}",
        types.name(),
        types.output.name(),
        types.accumulator.name(),
        problem.a().order.letter(),
        problem.b().order.letter(),
        problem.m(),
        problem.n(),
        problem.k(),
        problem.batch(),
        if is_aligned { "aligned" } else { "unaligned" }
    )
}

/// The folder of the winners in the user's cache directory; `None` if there is none.
pub fn folder() -> Option<PathBuf> {
    let variable = |name| env::var_os(name).filter(|value| !value.is_empty());
    let cache = match env::var_os(CACHE_VARIABLE) {
        Some(folder) if folder.is_empty() => return None,
        Some(folder) => PathBuf::from(folder),
        None => {
            let caches = variable("XDG_CACHE_HOME").map(PathBuf::from);
            let caches = caches.or_else(|| Some(Path::new(&variable("HOME")?).join(".cache")));
            caches?.join("ferrowave")
        }
    };
    Some(cache.join("tuning"))
}

impl Cache {
    /// Reads the winners of what `identity` names: device, driver and kernels.
    pub fn open(folder: Option<&Path>, gpu: &str, identity: &str) -> Self {
        let first_line = format!("{FORMAT}{}", identity.replace(['\n', '\r'], " "));
        let sum = checksum(first_line.as_bytes());
        let mut cache = Self {
            path: folder.map(|folder| folder.join(format!("{gpu}-{sum:08x}.csv"))),
            first_line,
            ..Self::default()
        };
        cache.read();
        cache
    }

    /// The winner of a problem.
    pub fn winner(&self, key: &str) -> Option<Winner> {
        self.winners.get(key).copied()
    }

    /// What is wrong with the file.
    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// The file; `None` if nothing is kept.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Keeps a winner, also in the file, together with those that other processes have added to it.
    ///
    /// # Errors
    /// If the file can't be written, which [`note`](Self::note) says from then on. The winner is kept in this process.
    pub fn keep(&mut self, key: String, winner: Winner) -> Result<(), String> {
        let kept = self.write(&key, winner);
        self.winners.insert(key, winner);
        kept.map_err(|error| {
            let path = self.path.as_deref().unwrap_or(Path::new(""));
            let error = format!("the winner is not kept: `{}`: {error}", path.display());
            self.note = Some(error.clone());
            error
        })
    }

    fn write(&mut self, key: &str, winner: Winner) -> io::Result<()> {
        let Some(path) = self.path.clone() else {
            return Ok(());
        };
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        // Never removed: another process may be waiting for it.
        let lock = File::create(path.with_extension("lock"))?;
        lock.lock()?;
        self.read();
        self.winners.insert(key.to_owned(), winner);
        let mut text = format!("{}\n", self.first_line);
        for (
            key,
            Winner {
                kernel,
                parts,
                time,
            },
        ) in &self.winners
        {
            text += &format!("{key},{},{parts},{}\n", kernel.symbol, time.as_nanos());
        }
        let part = path.with_extension(format!("{}.part", process::id()));
        let written = File::create(&part)
            .and_then(|mut file| {
                file.write_all(text.as_bytes())?;
                file.sync_all()
            })
            .and_then(|()| fs::rename(&part, &path));
        if written.is_err() {
            // What remains of it is of no use.
            let _ = fs::remove_file(&part);
        }
        written
    }

    /// Adds the winners in the file.
    fn read(&mut self) {
        let Some(path) = &self.path else {
            return;
        };
        let text = match fs::read(path) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) => {
                if error.kind() != io::ErrorKind::NotFound {
                    self.note = Some(format!("`{}`: {error}", path.display()));
                }
                return;
            }
        };
        let mut lines = text.split_inclusive('\n');
        let first = lines.next().and_then(|line| line.strip_suffix('\n'));
        if first != Some(self.first_line.as_str()) {
            self.note = Some(format!(
                "`{}` is truncated or of another version; its winners are not used, and the next one that is kept replaces it",
                path.display()
            ));
            return;
        }
        let mut unreadable = 0;
        for line in lines {
            match parse(line) {
                Some((key, winner)) => {
                    self.winners.insert(key, winner);
                }
                None => unreadable += 1,
            }
        }
        self.note = (unreadable > 0).then(|| {
            format!(
                "`{}`: {unreadable} of its lines can't be read and are left out, as of a truncated file",
                path.display()
            )
        });
    }
}

/// A line of the file.
fn parse(line: &str) -> Option<(String, Winner)> {
    // A line without an end may lack digits.
    let line = line.strip_suffix('\n')?;
    let mut fields = line.rsplitn(4, ',');
    let time = Duration::from_nanos(fields.next()?.parse().ok()?);
    let parts = fields.next()?.parse().ok()?;
    let kernel = Kernel::by_symbol(fields.next()?)?;
    let winner = Winner {
        kernel,
        parts,
        time,
    };
    Some((fields.next()?.to_owned(), winner))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gemm::{Order, Request};
    use ferrowave_shared::{CATALOGUE, ElementType, ElementTypes};
    use std::{collections::BTreeSet, thread};

    fn winner(number: usize) -> Winner {
        Winner {
            kernel: &CATALOGUE[number % CATALOGUE.len()],
            parts: number as u32 + 1,
            time: Duration::from_nanos(1000 + number as u64),
        }
    }

    fn open(folder: &Path) -> Cache {
        Cache::open(Some(folder), "gfx90a", "MI210, HIP 7, code 12")
    }

    #[test]
    fn problems_with_other_types_layouts_extents_or_lines_have_winners_of_their_own() {
        let types = |input, output, accumulator| ElementTypes {
            a: input,
            b: input,
            output,
            accumulator,
            is_sparse: false,
        };
        use ElementType::{Bf16, F16, F32, I8, I32};
        let plain = Request::new(64, 32, 16);
        let requests = [
            plain,
            Request::new(32, 64, 16),
            Request::new(64, 32, 32),
            Request { batch: 2, ..plain },
            Request {
                order_a: Order::ColumnMajor,
                ..plain
            },
            Request {
                order_b: Order::ColumnMajor,
                ..plain
            },
            Request {
                types: types(F16, F16, F32),
                ..plain
            },
            Request {
                types: types(F16, F32, F32),
                ..plain
            },
            Request {
                types: types(Bf16, F32, F32),
                ..plain
            },
            Request {
                types: types(I8, I32, I32),
                ..plain
            },
            Request {
                types: ElementTypes::FP8,
                ..plain
            },
            Request {
                types: ElementTypes::FP8_BF8,
                ..plain
            },
        ];
        let keys: BTreeSet<_> = requests
            .iter()
            .flat_map(|request| {
                let problem = request.check().unwrap();
                [true, false].map(|is_aligned| key(&problem, is_aligned))
            })
            .collect();
        assert_eq!(keys.len(), 2 * requests.len());
    }

    #[test]
    fn winners_are_kept_for_their_device_driver_and_kernels_only() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("not").join("yet");
        open(&folder).keep("a,NN".to_owned(), winner(3)).unwrap();
        let again = open(&folder);
        assert_eq!(again.winner("a,NN"), Some(winner(3)));
        assert_eq!((again.winner("b"), again.note()), (None, None));
        let other = Cache::open(Some(&folder), "gfx90a", "MI210, HIP 6, code 12");
        assert_eq!(other.winner("a,NN"), None);
        let nowhere = &mut Cache::open(None, "gfx90a", "");
        nowhere.keep("a".to_owned(), winner(1)).unwrap();
        assert_eq!(nowhere.winner("a"), Some(winner(1)));
    }

    #[test]
    fn what_several_write_at_the_same_time_is_all_there() {
        let folder = tempfile::tempdir().unwrap();
        // Each thread has a cache of its own, as a process would; files are locked by opened file.
        thread::scope(|scope| {
            for writer in 0..8 {
                let folder = folder.path();
                scope.spawn(move || {
                    let mut cache = open(folder);
                    for number in 0..10 {
                        let number = 10 * writer + number;
                        cache.keep(format!("p{number}"), winner(number)).unwrap();
                    }
                });
            }
        });
        let all = open(folder.path());
        for number in 0..80 {
            assert_eq!(all.winner(&format!("p{number}")), Some(winner(number)));
        }
        assert_eq!(all.note(), None);
    }

    #[test]
    fn a_damaged_file_is_said_and_its_whole_lines_are_used() {
        let folder = tempfile::tempdir().unwrap();
        let mut cache = open(folder.path());
        for number in 0..3 {
            cache.keep(format!("p{number}"), winner(number)).unwrap();
        }
        let path = cache.path().unwrap().to_owned();
        let text = fs::read_to_string(&path).unwrap();
        // At every length: what is read was written.
        for length in 0..text.len() {
            fs::write(&path, &text[..length]).unwrap();
            let cut = open(folder.path());
            for number in 0..3 {
                let read = cut.winner(&format!("p{number}"));
                assert!(read.is_none_or(|read| read == winner(number)), "{length}");
            }
            assert_eq!(
                cut.note().is_some(),
                !text[..length].ends_with('\n'),
                "{length}"
            );
        }
        fs::write(&path, format!("# ferrowave tuning 0: x\n{text}")).unwrap();
        let other = open(folder.path());
        assert!(other.note().unwrap().contains("of another version"));
        assert_eq!(other.winner("p1"), None);
    }

    #[test]
    fn a_cache_that_cannot_be_written_says_so_and_keeps_the_winner_in_the_process() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        // A file where the folder should be, as permissions do not bind root.
        let mut cache = open(&file);
        let error = cache.keep("p".to_owned(), winner(1)).unwrap_err();
        assert!(error.starts_with("the winner is not kept: `"), "{error}");
        assert_eq!(cache.note(), Some(&*error));
        assert_eq!(cache.winner("p"), Some(winner(1)));
    }
}
