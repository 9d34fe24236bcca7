//! Packets on their way in one direction: first in, first out, in memory that is mapped once.

use crate::mapping::Mapping;
use std::collections::VecDeque;
use std::io;
use tameshi_base::Nanos;

/// Room for the longest packet that a TUN device hands over.
pub(super) const LONGEST: usize = 1 << 16;
/// Least memory that a packet takes, which bounds their number.
const GRANULE: usize = 64;

/// Packet on its way: due time, place in memory, length.
#[derive(Clone, Copy, Debug)]
struct Packet {
    due: Nanos,
    start: usize,
    length: usize,
}

/// Queue of packets.
#[derive(Debug)]
pub(super) struct Packets {
    memory: Mapping,
    bytes: usize,
    queue: VecDeque<Packet>,
    /// Place of the next packet. It is above the oldest packet's, except after a wrap.
    head: usize,
}

impl Packets {
    /// Create an empty queue for packets of `bytes` in all.
    pub(super) fn new(bytes: usize) -> io::Result<Self> {
        let bytes = bytes.next_multiple_of(GRANULE).max(2 * LONGEST);
        let queue = VecDeque::with_capacity(bytes / GRANULE);
        Ok(Self { memory: Mapping::anonymous(bytes)?, bytes, queue, head: 0 })
    }

    /// Return whether there is room for another packet, and move to it.
    #[inline]
    pub(super) fn has_room(&mut self) -> bool {
        let end = match self.queue.front() {
            None => {
                self.head = 0;
                self.bytes
            }
            Some(oldest) if self.head <= oldest.start => oldest.start,
            Some(_) if self.bytes - self.head >= LONGEST => self.bytes,
            Some(oldest) => {
                self.head = 0;
                oldest.start
            }
        };
        end - self.head >= LONGEST
    }

    /// Return the room of the next packet, which [`has_room`](Self::has_room) has found.
    #[inline]
    pub(super) fn room(&mut self) -> &mut [u8] {
        self.memory.bytes_mut(self.head, LONGEST)
    }

    /// Append the packet that was written into the room.
    #[inline]
    pub(super) fn push(&mut self, length: usize, due: Nanos) {
        self.queue.push_back(Packet { due, start: self.head, length });
        self.head += length.max(1).next_multiple_of(GRANULE);
    }

    /// Return the due time of the oldest packet.
    #[inline]
    pub(super) fn next_due(&self) -> Option<Nanos> {
        self.queue.front().map(|packet| packet.due)
    }

    /// Return the oldest packet.
    #[inline]
    pub(super) fn first(&self) -> Option<&[u8]> {
        self.queue.front().map(|packet| self.memory.bytes(packet.start, packet.length))
    }

    /// Remove the oldest packet.
    #[inline]
    pub(super) fn pop(&mut self) {
        self.queue.pop_front();
    }

    /// Remove all packets; return their number.
    pub(super) fn clear(&mut self) -> u64 {
        let packets = self.queue.len() as u64;
        self.queue.clear();
        packets
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    fn push(packets: &mut Packets, content: &[u8], due: Nanos) -> bool {
        if !packets.has_room() {
            return false;
        }
        packets.room()[..content.len()].copy_from_slice(content);
        packets.push(content.len(), due);
        true
    }

    #[test]
    fn full_queue_has_no_room_until_a_packet_leaves() {
        let mut packets = Packets::new(0).expect("memory");
        let long = vec![7; LONGEST];
        assert!(push(&mut packets, &long, 1) && push(&mut packets, &long, 2));
        assert!(!packets.has_room());
        packets.pop();
        assert!(push(&mut packets, &long, 3) && !packets.has_room());
        assert_eq!(packets.clear(), 2);
        assert!(packets.has_room() && packets.next_due().is_none());
    }

    #[test]
    fn packets_of_any_length_never_take_more_entries_than_reserved() {
        let mut packets = Packets::new(1 << 18).expect("memory");
        let reserved = packets.queue.capacity();
        while push(&mut packets, &[1], 0) {}
        assert_eq!(packets.queue.capacity(), reserved);
    }

    proptest! {
        #[test]
        fn packets_leave_as_they_came(steps in prop::collection::vec((1..3000_usize, any::<bool>()), 1..600)) {
            let mut packets = Packets::new(200_000).expect("memory");
            let mut expected = VecDeque::new();
            for (number, (length, leaves)) in steps.into_iter().enumerate() {
                let content = vec![number as u8; length];
                if push(&mut packets, &content, number as Nanos) {
                    expected.push_back((number as Nanos, content));
                }
                if leaves && let Some((due, content)) = expected.pop_front() {
                    prop_assert_eq!(packets.next_due(), Some(due));
                    prop_assert_eq!(packets.first(), Some(content.as_slice()));
                    packets.pop();
                }
            }
            prop_assert_eq!(packets.clear(), expected.len() as u64);
        }
    }
}
