//! Access to the memory of other devices.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use super::{AllocationKind, DeviceMemory, Reach, View};

/// The memory of a device's peers.
#[derive(Default)]
pub(super) struct Peers(Mutex<Vec<Weak<DeviceMemory>>>);

impl Peers {
    fn list(&self) -> MutexGuard<'_, Vec<Weak<DeviceMemory>>> {
        // A panic elsewhere cannot leave the list inconsistent.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds to a device's own view the current allocations of [`AllocationKind::Device`] of its peers. Host memory is
    /// visible to every device anyway; the other kinds belong to one device.
    pub(super) fn join(&self, own: Arc<View>) -> Arc<View> {
        let peers: Vec<Arc<View>> = self
            .list()
            .iter()
            .filter_map(Weak::upgrade)
            .map(|peer| peer.own_view())
            .collect();
        if peers.is_empty() {
            return own;
        }
        let mut reaches = own.reaches.clone();
        let all_of = |view: &View| -> Vec<_> {
            let written = view.written.iter().cloned();
            view.infos.iter().copied().zip(written).collect()
        };
        let mut places = all_of(&own);
        for peer in &peers {
            let theirs = all_of(peer).into_iter();
            let theirs = theirs.filter(|(info, _)| info.kind == AllocationKind::Device);
            for (info, written) in theirs {
                reaches.push(Reach::of(&info));
                places.push((info, written));
            }
        }
        reaches.sort_by_key(|reach| reach.base);
        places.sort_by_key(|(info, _)| info.base);
        let (infos, written) = places.into_iter().unzip();
        let freed = own.freed.clone();
        Arc::new(View {
            has_fine_grained: reaches.iter().any(Reach::is_fine_grained),
            reaches,
            infos,
            written,
            freed,
            _alive: Vec::new(),
            _peers: peers.into_iter().chain([own]).collect(),
        })
    }
}

impl DeviceMemory {
    /// Allows kernels to access another device's allocations. Returns false if this was already allowed.
    pub fn enable_peer(&self, peer: &Arc<DeviceMemory>) -> bool {
        let mut peers = self.peers.list();
        // Removes devices that no longer exist.
        peers.retain(|known| known.strong_count() > 0);
        let is_known = peers
            .iter()
            .any(|known| known.as_ptr() == Arc::as_ptr(peer));
        if !is_known {
            peers.push(Arc::downgrade(peer));
        }
        !is_known
    }

    /// Disallows access to a peer. Returns false if it was not allowed.
    pub fn disable_peer(&self, peer: &Arc<DeviceMemory>) -> bool {
        let mut peers = self.peers.list();
        let before = peers.len();
        peers.retain(|known| known.as_ptr() != Arc::as_ptr(peer));
        peers.len() < before
    }

    /// Disallows access to all peers.
    pub fn disable_peers(&self) {
        self.peers.list().clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_has_what_peers_have_while_they_are_enabled() {
        let memories = [(); 2].map(|()| Arc::new(DeviceMemory::new(1 << 20)));
        let [own, peer] = &memories;
        let [a, b] = memories
            .each_ref()
            .map(|memory| memory.allocate(64, AllocationKind::Device).expect("room"));
        let launch = peer.allocate(64, AllocationKind::Launch).expect("room");
        let reaches = |address| {
            own.view()
                .reach(address)
                .covers(address, address + 64, true)
        };
        assert!(reaches(a) && !reaches(b));
        assert!(own.enable_peer(peer) && !own.enable_peer(peer));
        assert!(reaches(a) && reaches(b) && !reaches(launch));
        assert!(
            !peer.view().reach(a).covers(a, a + 64, false),
            "one way only"
        );
        // Later allocations are accessible too, and freed ones are not.
        let later = peer.allocate(64, AllocationKind::Device).expect("room");
        assert!(reaches(later));
        let view = own.view();
        peer.free(b).expect("it is allocated");
        assert!(!reaches(b));
        assert!(
            view.reach(b).covers(b, b + 64, true),
            "a view keeps what it saw"
        );
        let bases: Vec<_> = own
            .view()
            .allocations()
            .iter()
            .map(|info| info.base)
            .collect();
        assert!(bases.is_sorted() && bases.len() == 2);
        assert!(own.disable_peer(peer) && !own.disable_peer(peer));
        assert!(!reaches(later));
    }
}
