//! Objects of the program that graphs keep alive: a destructor runs when the last reference is gone.

use std::{
    ffi::c_void,
    sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError},
};

use crate::handles::Handles;

/// An object of the program.
pub(crate) struct UserObject {
    /// Its handle.
    id: usize,
    destroy: unsafe extern "C" fn(*mut c_void),
    /// The argument's address.
    data: usize,
    references: Mutex<u64>,
}

/// User objects by handle, until their last reference is gone.
pub(crate) static USER_OBJECTS: LazyLock<Handles<UserObject>> = LazyLock::new(Handles::new);

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A poisoned lock is ignored: the state is valid between statements.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl UserObject {
    pub(crate) fn new(
        id: usize,
        destroy: unsafe extern "C" fn(*mut c_void),
        data: usize,
        references: u64,
    ) -> Arc<Self> {
        Arc::new(UserObject {
            id,
            destroy,
            data,
            references: Mutex::new(references),
        })
    }

    pub(crate) fn retain(&self, count: u64) {
        *locked(&self.references) += count;
    }

    /// Releases references, and destroys the object with the last one. If there are fewer, nothing happens.
    pub(crate) fn release(&self, count: u64) {
        let is_last = {
            let mut references = locked(&self.references);
            if *references < count {
                return;
            }
            *references -= count;
            *references == 0
        };
        if is_last {
            USER_OBJECTS.remove(self.id);
            // SAFETY: the program guarantees that the function may be called with this argument, once. No reference is
            // left, and without one no call gets here again.
            unsafe { (self.destroy)(std::ptr::with_exposed_provenance_mut(self.data)) }
        }
    }
}

/// The references of a graph; released on drop.
#[derive(Default)]
pub(crate) struct Held(Mutex<Vec<(Arc<UserObject>, u64)>>);

impl Held {
    /// Adds references that the caller has.
    pub(crate) fn keep(&self, object: &Arc<UserObject>, count: u64) {
        let mut held = locked(&self.0);
        match held
            .iter_mut()
            .find(|(other, _)| Arc::ptr_eq(other, object))
        {
            Some((_, kept)) => *kept += count,
            None => held.push((Arc::clone(object), count)),
        }
    }

    /// Releases references. If there are fewer, nothing happens.
    pub(crate) fn release(&self, object: &Arc<UserObject>, count: u64) {
        let enough = {
            let mut held = locked(&self.0);
            let kept = held
                .iter_mut()
                .find(|(other, _)| Arc::ptr_eq(other, object));
            let enough = kept.and_then(|(_, kept)| {
                *kept = kept.checked_sub(count)?;
                Some(())
            });
            held.retain(|(_, kept)| *kept > 0);
            enough.is_some()
        };
        // The destructor runs without the lock.
        if enough {
            object.release(count);
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let held = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        for (object, count) in held.drain(..) {
            object.release(count);
        }
    }
}
