//! What is noted of a server that something befalls: its way down and back, and what it has promised meanwhile.

use super::fault::{Blow, How};
use crate::fault::Loss;
use serde_json::{Value, json};
use std::collections::VecDeque;
use tameshi_base::{Nanos, Reason};
use tameshi_record::outage::{BUCKET, Gap};

/// Positions of the log that are remembered: more than a drive's buffer holds writes of it.
const REMEMBERED: usize = 1 << 16;

/// A line for the record.
pub(crate) struct News {
    pub(crate) at: Nanos,
    pub(crate) kind: &'static str,
    pub(crate) fields: Value,
}

/// A server on its way down.
#[derive(Debug)]
pub(super) struct Shutdown {
    pub(super) blow: Blow,
    pub(super) began: Nanos,
    /// No client is inside any more.
    pub(super) is_alone: bool,
    /// Buffered changes are merged still.
    pub(super) merges: bool,
    /// Pages that had been flushed when it began; and from then to its end.
    pub(super) flushed_before: u64,
    pub(super) flushed: u64,
    /// Pages that are listed, to be read back.
    pub(super) listed: usize,
}

impl Shutdown {
    /// For the record: what it was up to `gone`, when nothing of the server was there any more.
    pub(super) fn told(&self, gone: Nanos) -> Value {
        json!({
            "event": self.blow.event, "shutdown_ns": gone - self.began, "pages_flushed": self.flushed,
            "pages_listed": self.listed,
        })
    }
}

/// Where a server is on its way back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// It waits for what is under way.
    Dying,
    /// Nobody starts it.
    Away,
    Starting,
    /// It reads the log, or parses what it has read.
    Log,
    Pages,
    /// It can't come back.
    InVain,
}

/// A server's way back.
#[derive(Debug)]
pub(super) struct Recovery {
    pub(super) blow: Blow,
    /// How it was shut down, where it was.
    pub(super) shutdown: Option<Shutdown>,
    /// When the server was gone.
    pub(super) began: Nanos,
    pub(super) started: Nanos,
    pub(super) step: Step,
    /// Bytes of log that are not read yet, and all of them.
    pub(super) log_left: u64,
    pub(super) log_bytes: u64,
    /// Bytes of the piece of log that is being read.
    pub(super) piece: u32,
    pub(super) pages: Vec<u32>,
    pub(super) next_page: usize,
    /// Pages that are being read or written.
    pub(super) outstanding: u32,
    /// Processor time of copies from the page cache that is not spent yet.
    pub(super) copying: Nanos,
}

impl Recovery {
    /// From `blow` at `began` on.
    pub(super) fn of(blow: Blow, began: Nanos) -> Self {
        let pages = Vec::new();
        Self {
            blow,
            shutdown: None,
            began,
            started: began,
            step: Step::Dying,
            log_left: 0,
            log_bytes: 0,
            piece: 0,
            pages,
            next_page: 0,
            outstanding: 0,
            copying: 0,
        }
    }

    /// After a shutdown that was over at `gone`.
    pub(super) fn after(shutdown: Shutdown, gone: Nanos) -> Self {
        let blow = shutdown.blow.clone();
        Self { shutdown: Some(shutdown), ..Self::of(blow, gone) }
    }

    /// Whether there is a process again.
    pub(super) fn is_started(&self) -> bool {
        matches!(self.step, Step::Starting | Step::Log | Step::Pages)
    }

    /// What `blow` at `now` inherits of the one before, which isn't over.
    pub(super) fn goes_into(&self, blow: &mut Blow, now: Nanos) {
        // A failover's machine is another one, and nobody's waiting for this one keeps it.
        if blow.how == How::PowerCut {
            blow.down = blow.down.max((self.began + self.blow.down).saturating_sub(now));
        }
        // What is lost is counted when nothing is under way any more.
        if self.step == Step::Dying {
            blow.loss.add(&self.blow.loss);
        }
    }

    /// Whether the server can't come back.
    pub(super) fn is_in_vain(&self) -> bool {
        self.step == Step::InVain
    }

    /// The server can't come back.
    pub(super) fn is_in_vain_from(&mut self, now: Nanos) {
        (self.step, self.started) = (Step::InVain, now);
    }

    /// Tells what it was up to `now`, when the server was back or something else befell it.
    pub(super) fn tell(&self, now: Nanos, back: bool, watch: &mut Watch) {
        let recovery = if self.is_started() { now - self.started } else { 0 };
        let down = self.blow.down.min(now - self.began);
        let began = self.shutdown.as_ref().map_or(self.began, |shutdown| shutdown.began);
        let rest = json!({
            "away_ns": now - began, "down_ns": down, "recovery_ns": recovery, "back": back,
            "log_bytes": self.log_bytes, "pages": self.pages.len(),
        });
        if let Some(shutdown) = &self.shutdown {
            return watch.tell_restart(shutdown, self.began, rest);
        }
        let how = match self.blow.how {
            How::PowerCut => "power_cut",
            How::Failover => "failover",
            How::Kill | How::Storage | How::Shutdown => "kill",
        };
        watch.tell(self.began, "crash", with_rest(json!({ "event": self.blow.event, "how": how }), rest));
    }
}

/// Pages that come back.
#[derive(Debug)]
pub(super) struct Loading {
    /// The event that the start was for.
    pub(super) event: String,
    pub(super) began: Nanos,
    pub(super) next: usize,
    /// Pages that were read, and those that are being read.
    pub(super) read: u64,
    pub(super) on_the_way: u32,
    /// Processor time of pages that have come, not spent yet.
    pub(super) owed: Nanos,
    pub(super) is_working: bool,
    /// It sleeps until then.
    pub(super) until: Nanos,
    /// When it looked last whether clients were at work, and how many transactions they had completed.
    pub(super) looked: Option<(Nanos, u64)>,
}

/// Commits of clients that changed something.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ledger {
    pub(super) acknowledged: u64,
    pub(super) lost: u64,
    pub(super) ambiguous: u64,
}

/// What is noted of a server that something will befall.
#[derive(Default)]
pub(super) struct Watch {
    pub(super) shutdown: Option<Shutdown>,
    pub(super) recovery: Option<Recovery>,
    pub(super) loading: Option<Loading>,
    /// Pages that were listed at the last shutdown, in their order; whether not all of them have been read back.
    pub(super) listed: Vec<u32>,
    pub(super) is_unfinished: bool,
    /// By page, the log position of its last change.
    pub(super) changed: Vec<u64>,
    /// Changes logged so far.
    records: u64,
    /// Log up to here has been written to the storage, synced or not; and has been handed to the kernel.
    written: u64,
    handed: u64,
    /// After a kill: the log is synced up to here only, whatever the server that has read more of it from the kernel believes,
    /// until it syncs the log again.
    synced: Option<u64>,
    /// Bytes written to the storage, and how many they were when the log was written up to which position.
    bytes: u64,
    writes: VecDeque<(u64, u64)>,
    /// Log positions of the commits that were answered last.
    answered: VecDeque<u64>,
    pub(super) ledger: Ledger,
    pub(super) ends: u32,
    /// Transactions that clients have completed.
    pub(super) completed: u64,
    /// Work that has been asked of processors and isn't done.
    pub(super) working: u32,
    pub(super) begin: Nanos,
    /// Transactions that were completed since, by [`BUCKET`].
    pub(super) counts: Vec<u64>,
    pub(super) gaps: Vec<Gap>,
    pub(super) news: Vec<News>,
}

impl Watch {
    /// A phase begins.
    pub(super) fn begin(&mut self, now: Nanos) {
        self.begin = now;
        self.counts.clear();
        self.gaps.clear();
        if self.recovery.is_some() {
            self.gaps.push(Gap { error: now, success: None });
        }
    }

    /// A page was changed by a record that ends here.
    #[inline]
    pub(super) fn change(&mut self, page: u32, lsn: u64) {
        let page = page as usize;
        if page >= self.changed.len() {
            self.changed.resize((page + 1).next_multiple_of(1 << 14), 0);
        }
        self.changed[page] = lsn;
        self.records += 1;
    }

    /// The kernel has the log up to here.
    pub(super) fn hand(&mut self, lsn: u64) {
        self.handed = self.handed.max(lsn);
    }

    /// A write to the storage is complete.
    pub(super) fn write(&mut self, bytes: u32) {
        self.bytes += u64::from(bytes);
    }

    /// The log has been written up to here.
    pub(super) fn log_written(&mut self, lsn: u64) {
        self.written = self.written.max(lsn);
        if self.writes.len() == REMEMBERED {
            self.writes.pop_front();
        }
        self.writes.push_back((self.bytes, self.written));
    }

    /// The log is synced as far as the server believes.
    pub(super) fn log_synced(&mut self) {
        self.synced = None;
    }

    /// Up to where the log is synced, where the server believes that it is up to `durable`.
    fn durable(&self, durable: u64) -> u64 {
        self.synced.map_or(durable, |synced| synced.min(durable))
    }

    /// A client has been told that it has committed what ends here.
    pub(super) fn answer(&mut self, lsn: u64, durable: u64) {
        let durable = self.durable(durable);
        self.ledger.acknowledged += 1;
        if self.answered.len() >= REMEMBERED && self.answered.front().is_some_and(|&front| front <= durable) {
            self.answered.pop_front();
        }
        self.answered.push_back(lsn);
    }

    /// A client's transaction is complete.
    pub(super) fn complete(&mut self, now: Nanos) {
        let bucket = ((now - self.begin) / BUCKET) as usize;
        if bucket >= self.counts.len() {
            self.counts.resize(bucket + 1, 0);
        }
        self.counts[bucket] += 1;
        self.completed += 1;
        // What comes to its end during a shutdown does so on a connection of before.
        let is_back = self.shutdown.is_none();
        if let Some(gap) = self.gaps.last_mut().filter(|gap| gap.success.is_none() && is_back) {
            gap.success = Some(now);
        }
    }

    /// Clients lose their connections.
    pub(super) fn open_gap(&mut self, now: Nanos) {
        if self.gaps.last().is_none_or(|gap| gap.success.is_some()) {
            self.gaps.push(Gap { error: now, success: None });
        }
    }

    /// The server has ended: what it has acknowledged is held against what is there.
    pub(super) fn count_end(&mut self) {
        self.ends += 1;
    }

    /// The server ends, or the run does: what has not come back by now doesn't any more.
    pub(super) fn stop_loading(&mut self, now: Nanos) {
        self.end_loading(now, false);
    }

    pub(super) fn end_loading(&mut self, now: Nanos, whole: bool) {
        let Some(Loading { event, began, read, .. }) = self.loading.take() else { return };
        self.is_unfinished = !whole;
        let fields = json!({
            "event": event, "pages": read, "listed": self.listed.len(), "for_ns": now - began, "whole": whole,
        });
        self.tell(now, "pool_loaded", fields);
    }

    /// Bytes of log that a change makes on average.
    pub(super) fn record_bytes(&self, lsn: u64) -> u64 {
        (lsn / self.records.max(1)).max(1)
    }

    /// Up to where the log is there still.
    pub(super) fn survives(&self, blow: &Blow, durable: u64) -> u64 {
        let durable = self.durable(durable);
        let Loss { lost_bytes, flush_ns, hold_up_ns, .. } = blow.loss;
        // A drive that a capacitor carries calls a write durable when it has it: what its capacitor doesn't save was synced, too.
        let broken_promise = flush_ns > hold_up_ns;
        match blow.how {
            How::Kill | How::Storage | How::Shutdown => self.handed.max(self.written).max(durable),
            _ if lost_bytes == 0 => self.written.max(durable),
            _ if !broken_promise => durable,
            _ => {
                // The newest writes are those that are lost.
                let kept = self.bytes.saturating_sub(lost_bytes);
                self.writes.iter().rev().find(|(bytes, _)| *bytes <= kept).map_or(0, |(_, lsn)| *lsn)
            }
        }
    }

    /// Takes note that answered commits beyond a log position are lost, of a log that was synced up to `durable`; how many.
    pub(super) fn lose(&mut self, survives: u64, durable: u64) -> u64 {
        let before = self.answered.len();
        self.answered.retain(|&lsn| lsn <= survives);
        let lost = (before - self.answered.len()) as u64;
        self.ledger.lost += lost;
        self.synced = Some(self.durable(durable)).filter(|&synced| synced < survives);
        (self.written, self.handed) = (self.written.min(survives), survives);
        self.writes.retain(|&(_, lsn)| lsn <= survives);
        lost
    }

    /// Tells what became of a server that was shut down, besides what its shutdown was.
    pub(super) fn tell_restart(&mut self, shutdown: &Shutdown, gone: Nanos, rest: Value) {
        self.tell(shutdown.began, "restart", with_rest(shutdown.told(gone), rest));
    }

    pub(super) fn tell(&mut self, at: Nanos, kind: &'static str, fields: Value) {
        self.news.push(News { at, kind, fields });
    }

    pub(super) fn find(&mut self, at: Nanos, reason: Reason) {
        self.tell(at, "finding", json!({ "level": "invalid", "reasons": [reason] }));
    }
}

/// Fields of an event, and more of them.
fn with_rest(mut fields: Value, rest: Value) -> Value {
    if let (Some(fields), Value::Object(rest)) = (fields.as_object_mut(), rest) {
        fields.extend(rest);
    }
    fields
}
