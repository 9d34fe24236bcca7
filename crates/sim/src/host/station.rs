//! Station of servers: requests in order of arrival, with service times known at arrival.

use crate::kernel::ready_tree::ReadyTree;
use std::collections::VecDeque;
use tameshi_base::Nanos;

/// Servers, each with its queue. No call allocates once the queues fit the load.
#[derive(Debug)]
pub(super) struct Station {
    /// Per server, its requests, and the end of each.
    queues: Vec<VecDeque<(Nanos, u32)>>,
    /// Per server, the end of its last request.
    free: Vec<Nanos>,
    ends: ReadyTree,
    busy_ns: Nanos,
}

impl Station {
    /// Idle station of *n* servers.
    pub(super) fn new(servers: usize) -> Self {
        Self {
            queues: vec![VecDeque::new(); servers],
            free: vec![0; servers],
            ends: ReadyTree::new(servers),
            busy_ns: 0,
        }
    }

    /// Return the server that is free first.
    pub(super) fn first_free(&self) -> usize {
        let first = self.free.iter().enumerate().min_by_key(|(_, free)| **free);
        first.map_or(0, |(server, _)| server)
    }

    /// Enqueue a request at a server.
    pub(super) fn serve(&mut self, server: usize, now: Nanos, cost: Nanos, request: u32) {
        let end = self.free[server].max(now) + cost;
        self.free[server] = end;
        self.busy_ns += cost;
        if self.queues[server].is_empty() {
            self.ends.set(server, Some(end));
        }
        self.queues[server].push_back((end, request));
    }

    /// Return when a request next ends; [`Nanos::MAX`] if there is none.
    #[inline]
    pub(super) fn next(&self) -> Nanos {
        self.ends.first().0
    }

    /// Take the request that ends next.
    pub(super) fn take(&mut self) -> Option<u32> {
        let (_, server) = self.ends.first();
        let (_, request) = self.queues[server].pop_front()?;
        self.ends.set(server, self.queues[server].front().map(|(end, _)| *end));
        Some(request)
    }

    /// Return when a server ends its last request.
    #[inline]
    pub(super) fn free_at(&self, server: usize) -> Nanos {
        self.free[server]
    }

    /// Return the number of servers, and their working time up to `now`.
    pub(super) fn worked(&self, now: Nanos) -> (u64, Nanos) {
        let ahead: Nanos = self.free.iter().map(|free| free.saturating_sub(now)).sum();
        (self.free.len() as u64, self.busy_ns - ahead)
    }
}
