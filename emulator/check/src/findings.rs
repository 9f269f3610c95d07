//! What checks have found in a launch, before it is put in words for people and tools.

use std::collections::HashMap;

use super::Kind;

/// Findings of one kind at one place count as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Key {
    /// What was found.
    pub(crate) kind: Kind,
    /// Index of the instruction in its code.
    pub(crate) index: u32,
    /// The instruction of the other side.
    pub(crate) other: Option<u32>,
}

/// A wave's part in a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Side {
    /// Index of the instruction in its code.
    pub(crate) index: u32,
    /// The workgroup.
    pub(crate) workgroup: [u32; 3],
    /// The wave in the workgroup.
    pub(crate) wave: u32,
    /// The lanes, one bit each; 0 for the scalar unit.
    pub(crate) lanes: u64,
    /// What it did, as in «writes 4 bytes».
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

/// A finding: the first that was met, by the order of workgroups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Example {
    /// The wave that was found.
    pub(crate) side: Side,
    /// The memory it is about.
    pub(crate) access: Option<Access>,
    /// The other side of a race, or the instruction that this one comes too soon after.
    pub(crate) other: Option<Side>,
}

#[derive(Clone, Debug)]
struct Entry {
    /// The workgroup's number: the lowest is kept, so that reports do not depend on which thread was first.
    number: u64,
    count: u64,
    example: Example,
}

/// Findings of a launch, each with one example.
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

    /// Takes note of a finding; `example` is asked for if it is the first of its key.
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

    /// Adds another thread's.
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

    /// All of them with how often each was met, by kind and place.
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
