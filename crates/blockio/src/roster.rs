//! Who works where: a thread for each job that a storage has at once, for the whole run.

use crate::backend::Chosen;
use crate::target::Target;
use std::collections::BTreeSet;
use tameshi_spec::run::{PhaseStream, RunSpec};
use tameshi_workload::spec::{Access, Submission};
use tameshi_workload::{Arrivals, Donor, StreamSpec};

/// One thread's place.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) storage: String,
    /// Whether its requests go through the page cache.
    pub(crate) buffered: bool,
    /// Where its requests move extents from, where they do.
    pub(crate) donor: Option<Donor>,
    pub(crate) chosen: Chosen,
    /// Whether its requests, one at a time, are carried out by the thread itself.
    pub(crate) in_place: bool,
    /// Whether completions are polled for.
    pub(crate) polled: bool,
    /// The processors that it runs on, where it is told.
    pub(crate) processors: Option<Vec<u32>>,
    /// Requests that it may have in flight.
    pub(crate) slots: u32,
    /// The longest of them, in bytes.
    pub(crate) longest_bytes: u64,
    /// The streams that it has a job of, and their names.
    pub(crate) streams: Vec<StreamSpec>,
    pub(crate) names: BTreeSet<String>,
}

/// The threads of a run.
#[derive(Debug, Default)]
pub(crate) struct Roster {
    pub(crate) places: Vec<Place>,
    /// Per phase, then per job of each of its streams in their order: the thread.
    pub(crate) seats: Vec<Vec<usize>>,
}

/// What carries a stream's requests: what the run chose, but for streams that say otherwise. io_uring knows no discard
/// of a block device's range.
pub(crate) fn chosen_for(stream: &StreamSpec, target: Option<&Target>, chosen: Chosen) -> Chosen {
    match stream.submission {
        _ if stream.call.is_some() && chosen != Chosen::Null => Chosen::Portable,
        Submission::PlainCalls => Chosen::Portable,
        Submission::Auto if stream.trims() && target.is_some_and(Target::is_block_device) => Chosen::Portable,
        Submission::Auto | Submission::IoUring | Submission::IoUringPolled => chosen,
    }
}

impl Roster {
    /// For all phases of `spec`, whose streams are carried as `chosen` says.
    pub(crate) fn of(spec: &RunSpec, chosen: impl Fn(&PhaseStream) -> Chosen) -> Self {
        let mut roster = Self::default();
        for phase in &spec.phases {
            let (mut seats, mut taken) = (Vec::new(), Vec::new());
            for stream in &phase.streams {
                let chosen = chosen(stream);
                for _ in 0..stream.stream.jobs {
                    let seat = roster.free_place(stream, chosen, &mut taken);
                    roster.places[seat].take_in(stream);
                    seats.push(seat);
                }
            }
            roster.seats.push(seats);
        }
        let repeated = spec.phases.len() > 1 || !spec.rounds.is_empty();
        roster.places.iter_mut().for_each(|place| place.make_room(repeated));
        roster
    }

    /// A place for a job beside those that are `taken`, made where there is none.
    fn free_place(&mut self, stream: &PhaseStream, chosen: Chosen, taken: &mut Vec<bool>) -> usize {
        let in_place = chosen == Chosen::Portable && stream.stream.most_outstanding() == 1;
        let polled = stream.stream.submission == Submission::IoUringPolled;
        let buffered = stream.stream.access == Access::Buffered;
        let fits = |place: &Place| {
            (place.storage.as_str(), place.chosen, place.in_place) == (stream.storage.as_str(), chosen, in_place)
                && (place.buffered, &place.donor) == (buffered, &stream.stream.donor)
                && (place.polled, &place.processors) == (polled, &stream.stream.processors)
        };
        taken.resize(self.places.len(), false);
        let free = (0..self.places.len()).find(|&seat| !taken[seat] && fits(&self.places[seat]));
        let seat = free.unwrap_or_else(|| {
            taken.push(false);
            self.places.push(Place {
                storage: stream.storage.clone(),
                buffered,
                donor: stream.stream.donor.clone(),
                chosen,
                in_place,
                polled,
                processors: stream.stream.processors.clone(),
                slots: 0,
                longest_bytes: 0,
                streams: Vec::new(),
                names: BTreeSet::new(),
            });
            self.places.len() - 1
        });
        taken[seat] = true;
        seat
    }
}

impl Place {
    fn take_in(&mut self, stream: &PhaseStream) {
        self.longest_bytes = self.longest_bytes.max(stream.stream.longest_command().0);
        if !self.streams.contains(&stream.stream) {
            self.streams.push(stream.stream.clone());
        }
        self.names.insert(stream.name.clone());
    }

    /// Where the thread is handed from phase to phase, arrivals that are fixed in advance find room beside all that is in
    /// flight still.
    fn make_room(&mut self, repeated: bool) {
        let most = |open: bool| {
            let of = self.streams.iter().filter(|stream| !open || stream.arrivals != Arrivals::Closed);
            of.map(StreamSpec::most_outstanding).max().unwrap_or(0)
        };
        let beside = if repeated && !self.in_place { most(true) } else { 0 };
        self.slots = most(false).saturating_add(beside).max(1);
    }
}
