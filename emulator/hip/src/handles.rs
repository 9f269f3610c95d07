//! Handles: numbers that stand for objects, so that one that is stale or made up is found out, not followed.

use std::{
    collections::HashMap,
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{AtomicUsize, Ordering},
    },
};

/// The next handle, of whatever kind: no two objects of a process have the same, even one after the other. The first
/// are left to HIP's special values, and the distance keeps a pointer into an opaque struct from being another's.
static NEXT: AtomicUsize = AtomicUsize::new(0x1000);
const STEP: usize = 16;

/// A handle that nothing has.
pub(super) fn unused() -> usize {
    NEXT.fetch_add(STEP, Ordering::Relaxed)
}

/// The objects of one kind.
pub(super) struct Handles<T> {
    objects: RwLock<HashMap<usize, Arc<T>>>,
}

impl<T> Handles<T> {
    pub(super) fn new() -> Self {
        Handles {
            objects: RwLock::default(),
        }
    }

    /// Takes an object in and returns its handle.
    pub(super) fn insert(&self, object: Arc<T>) -> usize {
        self.insert_with(|_| object)
    }

    /// Takes in an object that is made from its handle.
    pub(super) fn insert_with(&self, make: impl FnOnce(usize) -> Arc<T>) -> usize {
        let handle = unused();
        self.insert_at(handle, make(handle));
        handle
    }

    /// Takes an object in under a handle that was [`unused`].
    pub(super) fn insert_at(&self, handle: usize, object: Arc<T>) {
        self.write().insert(handle, object);
    }

    pub(super) fn get(&self, handle: usize) -> Option<Arc<T>> {
        let objects = self.objects.read().unwrap_or_else(PoisonError::into_inner);
        objects.get(&handle).cloned()
    }

    /// The handle of an object.
    pub(super) fn handle_of(&self, object: &Arc<T>) -> Option<usize> {
        let objects = self.objects.read().unwrap_or_else(PoisonError::into_inner);
        let mut handles = objects.iter();
        let (&handle, _) = handles.find(|(_, other)| Arc::ptr_eq(object, other))?;
        Some(handle)
    }

    pub(super) fn remove(&self, handle: usize) -> Option<Arc<T>> {
        self.write().remove(&handle)
    }

    pub(super) fn retain(&self, keep: impl Fn(&T) -> bool) {
        // Dropped after the lock is given back: an object's end may take other locks.
        let _gone: Vec<_> = self.write().extract_if(|_, object| !keep(object)).collect();
    }

    fn write(&self) -> std::sync::RwLockWriteGuard<'_, HashMap<usize, Arc<T>>> {
        // Valid between statements, even after a panic.
        self.objects.write().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_is_never_used_twice() {
        let (letters, numbers) = (Handles::new(), Handles::new());
        let a = letters.insert(Arc::new('a'));
        assert_eq!(letters.get(a).as_deref(), Some(&'a'));
        assert_eq!(letters.remove(a).as_deref(), Some(&'a'));
        assert_eq!(letters.remove(a), None);
        let b = letters.insert(Arc::new('b'));
        let one = numbers.insert(Arc::new(1));
        assert!(a != b && b != one);
        assert_eq!((letters.get(a), numbers.get(b)), (None, None));
        letters.retain(|&letter| letter != 'b');
        assert_eq!(letters.get(b), None);
    }
}
