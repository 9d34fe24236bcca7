//! Sources of what happens next, and their precedence at one instant.
//!
//! The precedence is: events, the end of the interval, jobs, the database server, the host,
//! devices. An interval ends after everything of its last instant, and therefore changes no order.

use tameshi_base::Nanos;

/// Source of the next step of a simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// A fault or another event of the run.
    Event,
    /// The end of the interval.
    Boundary,
    /// The job with this index is due to issue.
    Job(usize),
    /// The database server.
    Server,
    /// The host.
    Host,
    /// The device with this index.
    Device(usize),
}

/// Next time of each source; [`Nanos::MAX`] if it has none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sources {
    pub(crate) event: Nanos,
    pub(crate) boundary: Nanos,
    pub(crate) job: (Nanos, usize),
    pub(crate) server: Nanos,
    pub(crate) host: Nanos,
    pub(crate) device: (Nanos, usize),
}

impl Sources {
    /// Return the first time and its source; [`Nanos::MAX`] if nothing happens any more.
    #[inline(always)]
    pub(crate) fn next(&self) -> (Nanos, Source) {
        let ((job, index), (device, number)) = (self.job, self.device);
        let after_server = self.host.min(device);
        let after_job = self.server.min(after_server);
        let first = job.min(after_job);
        if self.event < Nanos::MAX && self.event <= first.min(self.boundary) {
            (self.event, Source::Event)
        } else if first > self.boundary {
            (self.boundary, Source::Boundary)
        } else if job <= after_job {
            (job, Source::Job(index))
        } else if self.server <= after_server {
            (self.server, Source::Server)
        } else if self.host <= device {
            (self.host, Source::Host)
        } else {
            (device, Source::Device(number))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: Nanos = Nanos::MAX;

    fn sources(times: [Nanos; 6]) -> Sources {
        let [event, boundary, job, server, host, device] = times;
        Sources { event, boundary, job: (job, 3), server, host, device: (device, 4) }
    }

    #[test]
    fn equal_times_follow_precedence_and_boundary_comes_last() {
        let order = [Source::Event, Source::Job(3), Source::Server, Source::Host, Source::Device(4)];
        let mut times = [5, 5, 5, 5, 5, 5];
        for (source, place) in order.into_iter().zip([0, 2, 3, 4, 5]) {
            assert_eq!(sources(times).next(), (5, source));
            times[place] = NONE;
        }
        assert_eq!(sources(times).next(), (5, Source::Boundary));
    }

    #[test]
    fn earliest_source_comes_first() {
        for (place, source) in [Source::Event, Source::Boundary, Source::Job(3), Source::Server, Source::Host]
            .into_iter()
            .chain([Source::Device(4)])
            .enumerate()
        {
            let mut times = [9; 6];
            times[place] = 7;
            assert_eq!(sources(times).next(), (7, source));
        }
        assert_eq!(sources([NONE; 6]).next().0, NONE);
    }
}
