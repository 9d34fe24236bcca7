//! The queues of one function of a drive: one, or one for each stream in four classes of priority (NVMe).
//!
//! Urgent goes before all others. High, medium and low take turns by their weights; within a class its streams do, up to a burst of
//! commands at once.

use super::round_robin::WeightedRoundRobin;
use std::collections::VecDeque;
use tameshi_base::{Command, Nanos};
use tameshi_spec::run::Arbitration;
use tameshi_workload::Priority;

/// A command, and since when it waits.
type Waiting = (Command, Nanos);

const CLASSES: usize = 4;

/// A class: a queue for each of its streams.
#[derive(Debug, Default)]
struct Class {
    streams: Vec<(u16, VecDeque<Waiting>)>,
    turns: WeightedRoundRobin,
    /// Whose burst it is, and how many more commands it may have of it.
    burst: (usize, u32),
}

impl Class {
    fn push(&mut self, stream: u16, waiting: Waiting) {
        let known = self.streams.iter().position(|(of, _)| *of == stream);
        let place = known.unwrap_or_else(|| {
            self.streams.push((stream, VecDeque::new()));
            self.turns.join(1)
        });
        self.turns.wait(place);
        self.streams[place].1.push_back(waiting);
    }

    /// The next command, with up to so many of one stream in a row.
    fn pop(&mut self, burst: u32) -> Option<Waiting> {
        let (place, left) = self.burst;
        let goes_on = left > 0 && self.turns.take_at(place);
        if goes_on {
            self.burst.1 -= 1;
        } else {
            self.burst = (self.turns.take()?, burst - 1);
        }
        self.streams[self.burst.0].1.pop_front()
    }
}

/// A function's queues.
#[derive(Debug)]
pub(super) struct Queues {
    /// `None`: all commands are in one queue.
    arbitration: Option<Arbitration>,
    /// By priority, the urgent first.
    classes: [Class; CLASSES],
    /// How the classes after the urgent one take turns.
    turns: WeightedRoundRobin,
    urgent: u32,
}

impl Queues {
    pub(super) fn new() -> Self {
        let mut turns = WeightedRoundRobin::default();
        (1..CLASSES).for_each(|_| {
            turns.join(1);
        });
        Self { arbitration: None, classes: Default::default(), turns, urgent: 0 }
    }

    /// From now on commands are told apart, or not.
    pub(super) fn arbitrate(&mut self, arbitration: Option<Arbitration>) {
        if let Some(Arbitration { high, medium, low, .. }) = arbitration {
            let weights = [high, medium, low].into_iter().enumerate();
            weights.for_each(|(place, weight)| self.turns.set_weight(place, i64::from(weight)));
        }
        self.arbitration = arbitration;
    }

    /// A command waits, of a stream of this priority.
    pub(super) fn push(&mut self, command: &Command, priority: Priority, now: Nanos) {
        let (class, stream) = match self.arbitration {
            Some(_) => (priority as usize, command.stream),
            None => (Priority::Medium as usize, 0),
        };
        match class.checked_sub(1) {
            Some(place) => self.turns.wait(place),
            None => self.urgent += 1,
        }
        self.classes[class].push(stream, (*command, now));
    }

    /// The command whose turn it is.
    pub(super) fn pop(&mut self) -> Option<Waiting> {
        let burst = self.arbitration.map_or(1, |arbitration| arbitration.burst);
        if self.urgent > 0 {
            self.urgent -= 1;
            return self.classes[Priority::Urgent as usize].pop(burst);
        }
        let class = self.turns.take()? + 1;
        self.classes[class].pop(burst)
    }

    /// Nothing waits any more.
    pub(super) fn clear(&mut self) {
        for class in &mut self.classes {
            class.streams.iter_mut().for_each(|(_, queue)| queue.clear());
            class.turns.clear();
            class.burst = (0, 0);
        }
        self.turns.clear();
        self.urgent = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tameshi_base::CommandKind;

    fn queues(burst: u32) -> Queues {
        let mut queues = Queues::new();
        queues.arbitrate(Some(Arbitration { high: 4, medium: 2, low: 1, burst }));
        queues
    }

    fn wait(queues: &mut Queues, stream: u16, priority: Priority, count: u64) {
        for id in 0..count {
            let (kind, offset_bytes, length_bytes) = (CommandKind::Read, 0, 4096);
            let command = Command { id, kind, offset_bytes, length_bytes, fua: false, stream };
            queues.push(&command, priority, 0);
        }
    }

    fn streams(queues: &mut Queues, count: usize) -> Vec<u16> {
        (0..count).filter_map(|_| queues.pop()).map(|(command, _)| command.stream).collect()
    }

    #[test]
    fn urgent_commands_go_first_and_the_others_by_their_weights() {
        let mut queues = queues(1);
        for (stream, priority) in [(0, Priority::Low), (1, Priority::Medium), (2, Priority::High)] {
            wait(&mut queues, stream, priority, 70);
        }
        wait(&mut queues, 3, Priority::Urgent, 5);
        assert_eq!(streams(&mut queues, 5), [3; 5]);
        let served = streams(&mut queues, 70);
        let of = |stream: u16| served.iter().filter(|&&served| served == stream).count();
        assert_eq!((of(2), of(1), of(0)), (40, 20, 10));
        wait(&mut queues, 3, Priority::Urgent, 1);
        assert_eq!(streams(&mut queues, 1), [3], "whenever it comes");
    }

    #[test]
    fn streams_of_a_class_take_turns_a_burst_at_a_time() {
        let mut queues = queues(4);
        wait(&mut queues, 0, Priority::High, 12);
        wait(&mut queues, 1, Priority::High, 6);
        assert_eq!(streams(&mut queues, 20), [0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0]);
    }

    #[test]
    fn without_arbitration_all_wait_in_one_queue() {
        let mut queues = Queues::new();
        for (stream, priority) in
            [(0, Priority::Low), (1, Priority::Urgent), (2, Priority::Medium), (0, Priority::High)]
        {
            wait(&mut queues, stream, priority, 1);
        }
        assert_eq!(streams(&mut queues, 5), [0, 1, 2, 0]);
        wait(&mut queues, 1, Priority::Low, 3);
        queues.clear();
        assert!(queues.pop().is_none());
    }
}
