//! Access to the memory of other devices.

use std::{
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use super::{AllocationKind, DeviceMemory, Reach, View, host::HostMemory};

/// Allocations of a device to which another one can have access without the rest of the memory: those of a memory pool.
#[derive(Debug, Default)]
pub struct Group(());

/// What a device can access of another one's memory.
struct Peer {
    memory: Weak<DeviceMemory>,
    /// Whether it can access all of it.
    all: bool,
    /// What it can access otherwise.
    groups: Vec<Weak<Group>>,
}

impl Peer {
    fn is(&self, memory: &Arc<DeviceMemory>) -> bool {
        self.memory.as_ptr() == Arc::as_ptr(memory)
    }

    /// Forgets what no longer exists. Returns whether something is left.
    fn prune(&mut self) -> bool {
        self.groups.retain(|group| group.strong_count() > 0);
        self.memory.strong_count() > 0 && (self.all || !self.groups.is_empty())
    }
}

/// The part of a peer's memory that can be accessed.
struct Part {
    view: Arc<View>,
    all: bool,
    groups: Vec<Weak<Group>>,
}

impl Part {
    fn has(&self, kind: AllocationKind, group: Option<&Arc<Group>>) -> bool {
        let is_in = |group: &Arc<Group>| {
            let mut groups = self.groups.iter();
            groups.any(|shared| shared.as_ptr() == Arc::as_ptr(group))
        };
        kind == AllocationKind::Device && (self.all || group.is_some_and(is_in))
    }
}

/// The memory of a device's peers.
#[derive(Default)]
pub(super) struct Peers(Mutex<Vec<Peer>>);

impl Peers {
    fn list(&self) -> MutexGuard<'_, Vec<Peer>> {
        // A panic elsewhere cannot leave the list inconsistent.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes what is allowed of a peer, and forgets peers of which nothing is.
    fn change<R>(&self, memory: &Arc<DeviceMemory>, change: impl FnOnce(&mut Peer) -> R) -> R {
        let mut peers = self.list();
        let index = peers.iter().position(|peer| peer.is(memory));
        let index = index.unwrap_or_else(|| {
            peers.push(Peer {
                memory: Arc::downgrade(memory),
                all: false,
                groups: Vec::new(),
            });
            peers.len() - 1
        });
        let result = change(&mut peers[index]);
        peers.retain_mut(Peer::prune);
        result
    }

    /// Adds to a device's own view the current allocations of [`AllocationKind::Device`] of its peers that it can access.
    /// Host memory is visible to every device anyway; the other kinds belong to one device.
    pub(super) fn join(&self, own: Arc<View>) -> Arc<View> {
        let peers: Vec<Part> = self
            .list()
            .iter()
            .filter_map(|peer| {
                Some(Part {
                    view: peer.memory.upgrade()?.own_view(),
                    all: peer.all,
                    groups: peer.groups.clone(),
                })
            })
            .collect();
        if peers.is_empty() {
            return own;
        }
        let mut reaches = own.reaches.clone();
        let written = own.written.iter().cloned();
        let mut places: Vec<_> = own.infos.iter().copied().zip(written).collect();
        for peer in &peers {
            let View {
                infos,
                written,
                groups,
                ..
            } = &*peer.view;
            for ((info, written), group) in infos.iter().zip(written).zip(groups) {
                if peer.has(info.kind, group.as_ref()) {
                    reaches.push(peer.view.reach(info.base));
                    places.push((*info, written.clone()));
                }
            }
        }
        reaches.sort_by_key(|reach| reach.base);
        places.sort_by_key(|(info, _)| info.base);
        let (infos, written) = places.into_iter().unzip();
        let freed = own.freed.clone();
        Arc::new(View {
            has_fine_grained: own.host.is_some() || reaches.iter().any(Reach::is_fine_grained),
            reaches,
            infos,
            written,
            groups: Vec::new(),
            freed,
            host: own.host.as_ref().map(|_| HostMemory::default()),
            _alive: Vec::new(),
            _peers: peers
                .into_iter()
                .map(|peer| peer.view)
                .chain([own])
                .collect(),
        })
    }
}

impl DeviceMemory {
    /// Allows kernels to access another device's allocations. Returns false if this was already allowed.
    pub fn enable_peer(&self, peer: &Arc<DeviceMemory>) -> bool {
        self.peers
            .change(peer, |peer| !mem::replace(&mut peer.all, true))
    }

    /// Disallows access to a peer, except to what [`Self::enable_group`] allowed. Returns false if it was not allowed.
    pub fn disable_peer(&self, peer: &Arc<DeviceMemory>) -> bool {
        self.peers
            .change(peer, |peer| mem::replace(&mut peer.all, false))
    }

    /// Allows kernels to access the allocations of another device that are or will be in a group.
    pub fn enable_group(&self, peer: &Arc<DeviceMemory>, group: &Arc<Group>) {
        let group = Arc::downgrade(group);
        self.peers.change(peer, |peer| {
            if !peer.groups.iter().any(|known| known.ptr_eq(&group)) {
                peer.groups.push(group);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::MemoryError;

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

    #[test]
    fn a_view_has_the_groups_of_a_peer_that_are_enabled() {
        let memories = [(); 2].map(|()| Arc::new(DeviceMemory::new(1 << 20)));
        let [own, peer] = &memories;
        let take = |group: Option<&Arc<Group>>| {
            let address = peer.allocate(64, AllocationKind::Device).expect("room");
            if let Some(group) = group {
                peer.set_group(address, group).expect("it is allocated");
            }
            address
        };
        let groups = [(); 2].map(|()| Arc::new(Group::default()));
        let [shared, private] = groups.each_ref().map(Some);
        let [a, b, c] = [shared, private, None].map(take);
        let reaches = |address| {
            own.view()
                .reach(address)
                .covers(address, address + 64, true)
        };
        own.enable_group(peer, &groups[0]);
        own.enable_group(peer, &groups[0]);
        assert_eq!([a, b, c].map(reaches), [true, false, false]);
        let later = take(shared);
        assert!(reaches(later));
        // What both ways allow is there once.
        assert!(own.enable_peer(peer));
        assert_eq!([a, b, c].map(reaches), [true; 3]);
        assert_eq!(own.view().allocations().len(), 4);
        assert!(own.disable_peer(peer));
        assert_eq!([a, b, c].map(reaches), [true, false, false]);
        assert!(peer.view().reach(a).covers(a, a + 64, true));
        assert_eq!(
            peer.set_group(1, &groups[0]),
            Err(MemoryError::NotAnAllocation { address: 1 })
        );
    }
}
