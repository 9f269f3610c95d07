//! Handles: numbers that identify objects, so that a stale or invalid handle is detected and never dereferenced.

use std::{
    collections::HashMap,
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{AtomicUsize, Ordering},
    },
};

/// The next handle of any kind. Handles are never reused in a process. The first values are left to HIP's special
/// handles; the step between handles keeps a pointer into an opaque struct from equalling another handle.
static NEXT: AtomicUsize = AtomicUsize::new(0x1000);
const STEP: usize = 16;

/// Returns an unused handle.
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

    /// Adds an object and returns its handle.
    pub(super) fn insert(&self, object: Arc<T>) -> usize {
        self.insert_with(|_| object)
    }

    /// Adds an object that is created from its handle.
    pub(super) fn insert_with(&self, make: impl FnOnce(usize) -> Arc<T>) -> usize {
        let handle = unused();
        self.insert_at(handle, make(handle));
        handle
    }

    /// Adds an object under a handle of [`unused`].
    pub(super) fn insert_at(&self, handle: usize, object: Arc<T>) {
        self.write().insert(handle, object);
    }

    pub(super) fn get(&self, handle: usize) -> Option<Arc<T>> {
        let objects = self.objects.read().unwrap_or_else(PoisonError::into_inner);
        objects.get(&handle).cloned()
    }

    /// All objects.
    pub(super) fn all(&self) -> Vec<Arc<T>> {
        let objects = self.objects.read().unwrap_or_else(PoisonError::into_inner);
        objects.values().cloned().collect()
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
        // Objects are dropped after the lock is released, because dropping them may take other locks.
        let _gone: Vec<_> = self.write().extract_if(|_, object| !keep(object)).collect();
    }

    fn write(&self) -> std::sync::RwLockWriteGuard<'_, HashMap<usize, Arc<T>>> {
        // A poisoned lock is ignored: the state is valid between statements.
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
