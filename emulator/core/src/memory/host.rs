//! The program's own memory, for devices that retry page faults: their kernels reach whatever the process has mapped.
//!
//! The memory of allocations is mapped in the process, too. It is left out here, so that kernels reach it as without this
//! module: not behind an allocation, and not on another device without peer access.

use std::{
    collections::BTreeMap,
    fs,
    sync::{Mutex, MutexGuard, PoisonError},
};

use super::{PAGE_BYTES, Reach};

/// The memory of all allocations of this process, with red zones, and reserved addresses: first addresses and ends.
static TAKEN: Mutex<BTreeMap<u64, u64>> = Mutex::new(BTreeMap::new());

fn taken() -> MutexGuard<'static, BTreeMap<u64, u64>> {
    // A poisoned lock is ignored: the map is valid between statements.
    TAKEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes memory, which is then not the program's.
pub(super) fn take(start: u64, bytes: usize) {
    taken().insert(start, start + bytes as u64);
}

/// Gives memory back that was taken, before the system may use its addresses again.
pub(super) fn give_back(start: u64) {
    taken().remove(&start);
}

/// Memory that the process has mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mapping {
    start: u64,
    end: u64,
    writable: bool,
    /// Whether it is of a file, which may end before it.
    of_file: bool,
}

impl Mapping {
    /// Finds the end of the part that there is. Nothing can be behind a file's end, so that a page is there if a later one
    /// is.
    fn end_with_file(&mut self) {
        if !std::mem::take(&mut self.of_file) {
            return;
        }
        let bytes = PAGE_BYTES as u64;
        let is_there = |page: u64| is_readable((page * bytes).max(self.start));
        // The pages before the first are there, the last is not.
        let (mut first, mut last) = (self.start / bytes, (self.end - 1) / bytes);
        if is_there(last) {
            return;
        }
        while first < last {
            let middle = first.midpoint(last);
            match is_there(middle) {
                true => first = middle + 1,
                false => last = middle,
            }
        }
        self.end = (first * bytes).max(self.start);
    }

    fn reach(&self) -> Reach {
        Reach::of_program(self.start, self.end, self.writable)
    }
}

/// Whether the byte at an address can be read. The system looks, so that there is no signal if not.
fn is_readable(address: u64) -> bool {
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::fs::FileExt;
        let memory = fs::File::open("/proc/self/mem");
        memory.is_ok_and(|memory| memory.read_exact_at(&mut [0], address).is_ok())
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = address;
        false
    }
}

/// What can be read of the mappings that `/proc/self/maps` lists, sorted.
fn mapped(maps: &str) -> Vec<Mapping> {
    let mut all: Vec<Mapping> = Vec::new();
    for line in maps.lines() {
        let mut fields = line.split_ascii_whitespace();
        let (Some(range), Some(access)) = (fields.next(), fields.next()) else {
            continue;
        };
        let (inode, name) = (fields.nth(2).unwrap_or("0"), fields.next().unwrap_or(""));
        let Some((start, end)) = range.split_once('-') else {
            continue;
        };
        let number = |text| u64::from_str_radix(text, 16);
        let (Ok(start), Ok(end)) = (number(start), number(end)) else {
            continue;
        };
        // The system's own pages have such names: `[vdso]`, `[vvar]`, `[vsyscall]`.
        if !access.starts_with('r') || name.starts_with("[v") {
            continue;
        }
        let new = Mapping {
            start,
            end,
            writable: access[1..].starts_with('w'),
            of_file: inode != "0",
        };
        match all.last_mut() {
            Some(last)
                if last.end == start
                    && last.writable == new.writable
                    && !last.of_file
                    && !new.of_file =>
            {
                last.end = end;
            }
            _ => all.push(new),
        }
    }
    all
}

/// Removes from sorted mappings what is taken.
fn without(all: &[Mapping], taken: &BTreeMap<u64, u64>) -> Vec<Mapping> {
    let mut left = Vec::new();
    for &mapping in all {
        let mut start = mapping.start;
        let before = taken.range(..start).next_back();
        for (&from, &to) in before.into_iter().chain(taken.range(start..mapping.end)) {
            if start < from {
                left.push(Mapping {
                    start,
                    end: from,
                    ..mapping
                });
            }
            start = start.max(to);
        }
        if start < mapping.end {
            left.push(Mapping { start, ..mapping });
        }
    }
    left
}

/// The program's memory as launches have found it: a launch looks again at what it does not find, or may not write.
#[derive(Debug, Default)]
pub(super) struct HostMemory(Mutex<Vec<Mapping>>);

impl HostMemory {
    fn known(&self) -> MutexGuard<'_, Vec<Mapping>> {
        // A poisoned lock is ignored: the list is valid between statements.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets what earlier launches have found: the program may have unmapped it since.
    pub(super) fn forget(&self) {
        self.known().clear();
    }

    /// The memory around an address; [`Reach::NOTHING`] if the program has none there.
    pub(super) fn reach(&self, address: u64) -> Reach {
        let known = find(&mut self.known(), address);
        known.unwrap_or_else(|| self.reach_now(address))
    }

    /// As [`Self::reach`], as the system has it now.
    pub(super) fn reach_now(&self, address: u64) -> Reach {
        let maps = fs::read_to_string("/proc/self/maps").unwrap_or_default();
        let mut known = self.known();
        *known = without(&mapped(&maps), &taken());
        find(&mut known, address).unwrap_or(Reach::NOTHING)
    }
}

fn find(all: &mut [Mapping], address: u64) -> Option<Reach> {
    let after = all.partition_point(|mapping| mapping.start <= address);
    let mapping = &mut all[after.checked_sub(1)?];
    mapping.end_with_file();
    (address < mapping.end).then(|| mapping.reach())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAPS: &str = "1000-2000 r-xp 00000000 08:01 17 /lib/libc.so\n2000-4000 rw-p 00000000 00:00 0 \n\
                        4000-6000 rw-p 00000000 00:00 0 [heap]\n6000-7000 ---p 00000000 00:00 0\n\
                        7000-8000 r--p 00000000 00:00 0\n8000-9000 r--p 00000000 00:00 0 [vvar]\nno line\n";

    fn ranges(all: &[Mapping]) -> Vec<(u64, u64, bool)> {
        all.iter()
            .map(|mapping| (mapping.start, mapping.end, mapping.writable))
            .collect()
    }

    #[test]
    fn what_can_be_read_is_mapped() {
        let all = mapped(MAPS);
        let expected = [
            (0x1000, 0x2000, false),
            (0x2000, 0x6000, true),
            (0x7000, 0x8000, false),
        ];
        assert_eq!(ranges(&all), expected);
        assert!(all[0].of_file && !all[1].of_file);
    }

    #[test]
    fn what_is_taken_is_left_out() {
        let all = mapped(MAPS);
        let left =
            |taken: &[(u64, u64)]| ranges(&without(&all[1..2], &taken.iter().copied().collect()));
        assert_eq!(left(&[]), [(0x2000, 0x6000, true)]);
        assert_eq!(left(&[(0x1000, 0x2000), (0x6000, 0x7000)]), left(&[]));
        assert_eq!(left(&[(0x1000, 0x2100)]), [(0x2100, 0x6000, true)]);
        assert_eq!(
            left(&[(0x2000, 0x2100), (0x3000, 0x3800), (0x5f00, 0x7000)]),
            [(0x2100, 0x3000, true), (0x3800, 0x5f00, true)]
        );
        assert_eq!(left(&[(0x1000, 0x9000)]), []);
    }
}
