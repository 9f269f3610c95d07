//! The findings of a launch in raw form, before [`super::report`] describes them.

use std::collections::HashMap;

use super::Kind;

/// Findings with the same key are counted as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Key {
    /// What was found.
    pub(crate) kind: Kind,
    /// Index of the instruction in its code.
    pub(crate) index: u32,
    /// The instruction of the other side.
    pub(crate) other: Option<u32>,
}

/// One wave's part in a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Side {
    /// Index of the instruction in its code.
    pub(crate) index: u32,
    /// The workgroup.
    pub(crate) workgroup: [u32; 3],
    /// The wave in the workgroup.
    pub(crate) wave: u32,
    /// The lanes, one bit each; 0 for a scalar access.
    pub(crate) lanes: u64,
    /// What the wave did, such as «writes 4 bytes».
    pub(crate) what: String,
}

/// The memory of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Global memory, by address.
    Global {
        /// First byte.
        address: u64,
        /// Length in bytes.
        bytes: u32,
    },
    /// LDS, by offset.
    Lds {
        /// First byte.
        offset: u64,
        /// Length in bytes.
        bytes: u32,
    },
}

/// The example of a finding: the first by the order of workgroups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Example {
    /// The wave with the finding.
    pub(crate) side: Side,
    /// The accessed memory.
    pub(crate) access: Option<Access>,
    /// The other side of a race, or the earlier instruction that this one follows too soon.
    pub(crate) other: Option<Side>,
}

/// A finding of one wave.
pub(crate) struct Single {
    /// What was found.
    pub(crate) kind: Kind,
    /// Index of the instruction in its code.
    pub(crate) index: u32,
    /// The wave in the workgroup.
    pub(crate) wave: u32,
    /// The lanes, one bit each; 0 for a scalar access.
    pub(crate) lanes: u64,
    /// The accessed memory.
    pub(crate) access: Option<Access>,
}

#[derive(Clone, Debug)]
struct Entry {
    /// The workgroup's number. The lowest is kept, so that reports do not depend on the order of threads.
    number: u64,
    count: u64,
    example: Example,
}

/// The findings of a launch, with one example each.
#[derive(Clone, Debug, Default)]
pub(crate) struct Findings {
    entries: HashMap<Key, Entry>,
    workgroup: [u32; 3],
    number: u64,
}

impl Findings {
    pub(crate) fn begin(&mut self, workgroup: [u32; 3], number: u64) {
        (self.workgroup, self.number) = (workgroup, number);
    }

    /// Counts a finding. Calls `example` if it is the first with its key.
    pub(crate) fn add(&mut self, key: Key, example: impl FnOnce([u32; 3]) -> Example) {
        let (workgroup, number) = (self.workgroup, self.number);
        match self.entries.get_mut(&key) {
            Some(entry) => {
                entry.count += 1;
                if number < entry.number {
                    (entry.number, entry.example) = (number, example(workgroup));
                }
            }
            None => {
                let entry = Entry {
                    number,
                    count: 1,
                    example: example(workgroup),
                };
                self.entries.insert(key, entry);
            }
        }
    }

    /// Counts a finding of one wave. Calls `what`, which says what the wave did, if it is the first with its key.
    pub(crate) fn add_single(&mut self, single: Single, what: impl FnOnce() -> String) {
        let Single {
            kind,
            index,
            wave,
            lanes,
            access,
        } = single;
        let key = Key {
            kind,
            index,
            other: None,
        };
        self.add(key, |workgroup| Example {
            side: Side {
                index,
                workgroup,
                wave,
                lanes,
                what: what(),
            },
            access,
            other: None,
        });
    }

    /// Adds the findings of another thread.
    pub(crate) fn merge(&mut self, others: Findings) {
        for (key, other) in others.entries {
            match self.entries.get_mut(&key) {
                Some(entry) => {
                    entry.count += other.count;
                    if other.number < entry.number {
                        (entry.number, entry.example) = (other.number, other.example);
                    }
                }
                None => {
                    self.entries.insert(key, other);
                }
            }
        }
    }

    /// All findings, sorted by kind and place, with their counts.
    pub(crate) fn sorted(&self) -> Vec<(Key, &Example, u64)> {
        let mut all: Vec<_> = self
            .entries
            .iter()
            .map(|(key, entry)| (*key, &entry.example, entry.count))
            .collect();
        all.sort_by_key(|(key, ..)| *key);
        all
    }
}
