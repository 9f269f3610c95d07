//! Other devices' memory that a device's kernels reach.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use super::{AllocationKind, DeviceMemory, Reach, View};

/// The memory of a device's peers.
#[derive(Default)]
pub(super) struct Peers(Mutex<Vec<Weak<DeviceMemory>>>);

impl Peers {
    fn list(&self) -> MutexGuard<'_, Vec<Weak<DeviceMemory>>> {
        // Whole between statements.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A device's own view, and with it what its peers have now of [`AllocationKind::Device`]. Of the rest, host memory
    /// is every device's anyway and the others have one owner.
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
    /// Has kernels reach another device's allocations; false if they do already.
    pub fn enable_peer(&self, peer: &Arc<DeviceMemory>) -> bool {
        let mut peers = self.peers.list();
        // Devices that are gone leave nothing behind.
        peers.retain(|known| known.strong_count() > 0);
        let is_known = peers
            .iter()
            .any(|known| known.as_ptr() == Arc::as_ptr(peer));
        if !is_known {
            peers.push(Arc::downgrade(peer));
        }
        !is_known
    }

    /// Ends that; false if it had not begun.
    pub fn disable_peer(&self, peer: &Arc<DeviceMemory>) -> bool {
        let mut peers = self.peers.list();
        let before = peers.len();
        peers.retain(|known| known.as_ptr() != Arc::as_ptr(peer));
        peers.len() < before
    }

    /// Ends it for all peers.
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
        // What comes later is reached, too, and what goes is not.
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
