//! Queues of one function: one queue, or one per stream in four priority classes (NVMe).
//!
//! Urgent commands go first. High, medium and low take turns by weight. Streams of a class take
//! turns, with up to a burst of commands per turn.

use super::round_robin::WeightedRoundRobin;
use std::collections::VecDeque;
use tameshi_base::{Command, Nanos};
use tameshi_spec::run::Arbitration;
use tameshi_workload::Priority;

/// Waiting command, and its submission.
type Waiting = (Command, Nanos);

const CLASSES: usize = 4;

/// Priority class: one queue per stream.
#[derive(Debug, Default)]
struct Class {
    streams: Vec<(u16, VecDeque<Waiting>)>,
    turns: WeightedRoundRobin,
    /// Stream of the present burst, and the commands left of it.
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

    /// Take the next command; up to `burst` commands of one stream in a row.
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

/// Queues of a function.
#[derive(Debug)]
pub(super) struct Queues {
    /// `None`: one queue for all commands.
    arbitration: Option<Arbitration>,
    /// Classes by priority, urgent first.
    classes: [Class; CLASSES],
    /// Turns of the classes after the urgent one.
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

    /// Set the arbitration; `None` for one queue.
    pub(super) fn arbitrate(&mut self, arbitration: Option<Arbitration>) {
        if let Some(Arbitration { high, medium, low, .. }) = arbitration {
            let weights = [high, medium, low].into_iter().enumerate();
            weights.for_each(|(place, weight)| self.turns.set_weight(place, i64::from(weight)));
        }
        self.arbitration = arbitration;
    }

    /// Queue a command of a stream with this priority.
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

    /// Take the next command.
    pub(super) fn pop(&mut self) -> Option<Waiting> {
        let burst = self.arbitration.map_or(1, |arbitration| arbitration.burst);
        if self.urgent > 0 {
            self.urgent -= 1;
            return self.classes[Priority::Urgent as usize].pop(burst);
        }
        let class = self.turns.take()? + 1;
        self.classes[class].pop(burst)
    }

    /// Forget all commands.
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
    fn urgent_commands_go_first_and_others_by_weight() {
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
        assert_eq!(streams(&mut queues, 1), [3], "urgent commands go first at any time");
    }

    #[test]
    fn streams_of_a_class_take_turns_in_bursts() {
        let mut queues = queues(4);
        wait(&mut queues, 0, Priority::High, 12);
        wait(&mut queues, 1, Priority::High, 6);
        assert_eq!(streams(&mut queues, 20), [0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0]);
    }

    #[test]
    fn no_arbitration_means_one_queue() {
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
