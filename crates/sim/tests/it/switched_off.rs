//! Each mechanism of the simulated InnoDB alone: its effect shows with it and never without it.

use crate::binlog::logging;
use crate::database::{
    KEYS, Left, MARIADB, MYSQL_55, MYSQL_57, OLTP, TPCC, drive, model as rules, round_costs, run, spec,
};
use crate::page_cache::on;
use crate::read_threads::{STATEMENT, free_scan};
use crate::support::{assert_close, sourced, xpoint};
use tameshi_base::units::{Size, Time};
use tameshi_spec::profile::Device;
use tameshi_spec::run::{RunSpec, Start};
use tameshi_spec::study::Doublewrite;

/// A mechanism.
struct Mechanism {
    name: &'static str,
    /// A run in which it shows.
    with: fn() -> RunSpec,
    /// Switches it off, and nothing else.
    off: fn(&mut RunSpec),
    /// Counted effect; zero without the mechanism.
    shows: fn(&Left) -> f64,
}

/// A pool of a few hundred pages on a drive that takes its time.
fn small(profile: &str, program: &str) -> RunSpec {
    spec(profile, drive(), "6 MiB", program, 1200)
}

/// A pool that holds all, and a log that fills up again and again; nothing is written for free
/// pages.
fn small_log(profile: &str) -> RunSpec {
    let mut spec = spec(profile, drive(), "64 MiB", KEYS, 1500);
    (spec.start, spec.engines["mysql"].redo_log) = (Start::Warm, Some(Size(4 << 20)));
    spec
}

/// A pool that holds all, a log that does not fill up in three seconds, and pages that are changed
/// again and again.
fn large(profile: &str) -> RunSpec {
    let mut spec = spec(profile, drive(), "64 MiB", KEYS, 3500);
    (spec.start, spec.engines["mysql"].redo_log) = (Start::Warm, Some(Size(256 << 20)));
    rules(&mut spec).cpu.statement = sourced(Time(300_000));
    spec
}

/// Clean pages everywhere in a small pool, and some dirty ones among them; nothing is flushed but
/// from the LRU list's end.
fn few_changes(profile: &str, millis: u64) -> RunSpec {
    let mut spec = spec(profile, drive(), "6 MiB", "{ ycsb = { mix = \"B\", records = 20000, clients = 4 } }", millis);
    let rules = rules(&mut spec);
    (rules.flushing.background, rules.checkpoint_age, rules.undo, rules.purge) = (None, None, None, None);
    rules.pool.search_depth = sourced(100_000);
    spec
}

/// Nothing but statements takes time on a processor.
fn statements_only() -> RunSpec {
    let mut spec = small_log(MYSQL_57);
    round_costs(&mut spec);
    let cpu = &mut rules(&mut spec).cpu;
    let free = || sourced(Time(0));
    (cpu.commit, cpu.page_get, cpu.row, cpu.change) = (free(), free(), free(), free());
    spec
}

const COUNTED: [Mechanism; 27] = [
    Mechanism {
        name: "midpoint",
        // A table that is larger than the pool, read from one end to the other again and again: of
        // that LRU keeps nothing.
        with: || {
            let mut spec = spec(MYSQL_57, drive(), "12 MiB", "{ scan = { size = \"40 MB\" } }", 1000);
            // Who reads a leaf asks its bitmap, which is there.
            (rules(&mut spec).read_ahead, rules(&mut spec).change_buffer) = (None, None);
            spec
        },
        off: |spec| rules(spec).pool.midpoint = None,
        shows: |left| left.of("server.page_requests") - left.of("server.page_misses"),
    },
    Mechanism {
        name: "LRU flushing of 5.7",
        with: || few_changes(MYSQL_57, 60),
        off: |spec| rules(spec).flushing.lru_scan_depth = None,
        shows: |left| left.of("server.pages_written"),
    },
    Mechanism {
        name: "LRU flushing of MariaDB",
        with: || few_changes(MARIADB, 60),
        off: |spec| rules(spec).flushing.lru_scan_depth = None,
        shows: |left| left.of("server.pages_written"),
    },
    Mechanism {
        name: "LRU flushing of 5.5",
        with: || few_changes(MYSQL_55, 150),
        off: |spec| rules(spec).flushing.free_pages = None,
        shows: |left| left.of("server.pages_written"),
    },
    Mechanism {
        name: "flushes of single pages, each of which is synced by itself",
        with: || {
            let mut spec = small(MYSQL_57, OLTP);
            let rules = rules(&mut spec);
            (rules.flushing.background, rules.checkpoint_age, rules.flushing.lru_scan_depth) = (None, None, None);
            spec
        },
        off: |spec| rules(spec).flushing.single_slots = None,
        shows: |left| {
            f64::from(left.of("server.fsyncs") - left.of("server.log_fsyncs") > left.of("server.pages_written"))
        },
    },
    Mechanism {
        name: "change buffer, whose merges read pages without a request",
        with: || {
            let mut spec = small(MYSQL_57, OLTP);
            rules(&mut spec).read_ahead = None;
            spec
        },
        off: |spec| rules(spec).change_buffer = None,
        shows: |left| (left.of("server.pages_read") - left.of("server.page_misses")).max(0.0),
    },
    Mechanism {
        name: "group commit",
        with: || {
            let keys = KEYS.replace("clients = 4", "clients = 64");
            spec(MYSQL_57, Device::XPoint(xpoint()), "256 MiB", &keys, 300)
        },
        off: |spec| rules(spec).group_commit = None,
        // Commits without a flush of their own, but for those that wait for theirs at the end.
        shows: |left| (left.of("server.updates") - left.of("server.log_fsyncs") - 64.0).max(0.0),
    },
    Mechanism {
        name: "read threads",
        with: || free_scan(Some((4, 10_000))),
        off: |spec| rules(spec).read_threads = None,
        shows: |left| left.of("transaction.latency_sum") - left.of("transaction.count") * STATEMENT as f64,
    },
    Mechanism {
        name: "flush-list flushing in the background",
        with: || large(MYSQL_57),
        off: |spec| rules(spec).flushing.background = None,
        shows: |left| left.of("server.pages_written"),
    },
    Mechanism {
        name: "adaptive flushing",
        with: || large(MYSQL_57),
        off: |spec| rules(spec).flushing.adaptive = None,
        shows: |left| left.of("server.pages_written"),
    },
    Mechanism {
        name: "adaptive flushing, by the server's option",
        with: || large(MYSQL_57),
        off: |spec| drop(spec.engines["mysql"].options.insert("innodb_adaptive_flushing".into(), "OFF".into())),
        shows: |left| left.of("server.pages_written"),
    },
    Mechanism {
        name: "adaptive flushing of 5.5",
        with: || large(MYSQL_55),
        off: |spec| rules(spec).flushing.adaptive = None,
        shows: |left| left.of("server.pages_written"),
    },
    Mechanism {
        name: "doublewrite",
        with: || small(MYSQL_57, OLTP),
        off: |spec| spec.engines["mysql"].doublewrite = Some(Doublewrite::Off),
        shows: |left| left.of("server.doublewrite_pages"),
    },
    Mechanism {
        name: "read-ahead",
        with: || spec(MYSQL_57, drive(), "6 MiB", "{ scan = { size = \"8 MB\" } }", 300),
        off: |spec| rules(spec).read_ahead = None,
        shows: |left| left.of("server.page_read_aheads"),
    },
    Mechanism {
        name: "checkpoint age",
        with: || {
            // Nothing else flushes, so that what is written is for the log.
            let mut spec = small_log(MYSQL_57);
            rules(&mut spec).flushing.background = None;
            spec
        },
        off: |spec| rules(spec).checkpoint_age = None,
        shows: |left| left.of("server.pages_written") + left.of("server.time_log_space_ns"),
    },
    Mechanism {
        name: "flush method: syncs of data files",
        with: || {
            let mut spec = small(MYSQL_57, OLTP);
            spec.engines["mysql"].doublewrite = Some(Doublewrite::Off);
            spec
        },
        off: |spec| spec.engines["mysql"].flush_method = Some("O_DIRECT_NO_FSYNC".into()),
        shows: |left| left.of("server.fsyncs") - left.of("server.log_fsyncs"),
    },
    Mechanism {
        name: "flush method: the page cache",
        with: || on(small(MYSQL_57, KEYS), "fsync", 1 << 30),
        off: |spec| spec.engines["mysql"].flush_method = Some("O_DIRECT".into()),
        shows: |left| left.of("server.page_cache_hits"),
    },
    Mechanism {
        name: "row locks",
        with: || small(MYSQL_57, &KEYS.replace("rows = 20000", "rows = 20")),
        off: |spec| rules(spec).row_locks = None,
        shows: |left| left.of("server.lock_waits") + left.of("server.time_row_locks_ns"),
    },
    Mechanism {
        name: "row locks, of TPC-C",
        with: || small(MYSQL_57, TPCC),
        off: |spec| rules(spec).row_locks = None,
        shows: |left| left.of("server.lock_waits"),
    },
    Mechanism {
        name: "undo logs",
        with: || large(MYSQL_57),
        off: |spec| rules(spec).undo = None,
        // A transaction asks for the root and the leaf, and with them for its undo page and its
        // segment's header.
        shows: |left| (left.of("server.page_requests") / left.of("transaction.count")).round() - 2.0,
    },
    Mechanism {
        name: "the pool's mutex",
        with: || small_log(MYSQL_55),
        off: |spec| rules(spec).pool.look = None,
        shows: |left| left.of("server.time_pool_mutex_ns"),
    },
    Mechanism {
        name: "page latches",
        with: || small_log(MYSQL_57),
        off: |spec| rules(spec).flushing.latched_writes = None,
        shows: |left| left.of("server.time_page_latches_ns"),
    },
    Mechanism {
        name: "purge",
        with: || large(MARIADB),
        off: |spec| rules(spec).purge = None,
        // Without it a transaction asks for the root, the leaf, the undo page and its segment's
        // header.
        shows: |left| (left.of("server.page_requests") / left.of("transaction.count")).round() - 4.0,
    },
    Mechanism {
        name: "processor time of a statement",
        with: statements_only,
        off: |spec| rules(spec).cpu.statement = sourced(Time(0)),
        shows: |left| left.of("server.time_processor_ns"),
    },
    Mechanism {
        name: "binary log",
        with: || logging(small(MYSQL_57, KEYS), "1"),
        off: |spec| spec.engines["mysql"].options.clear(),
        shows: |left| {
            let counts =
                ["bytes", "groups", "writes", "fsyncs"].map(|count| left.of(&format!("server.binlog_{count}")));
            if counts.contains(&0.0) { 0.0 } else { counts.iter().sum() }
        },
    },
    Mechanism {
        name: "syncs of the binary log",
        with: || logging(small(MARIADB, KEYS), "1"),
        off: |spec| drop(spec.engines["mysql"].options.insert("sync_binlog".into(), "0".into())),
        shows: |left| left.of("server.binlog_writes") + left.of("server.binlog_fsyncs"),
    },
    Mechanism {
        name: "durable commits",
        with: || small(MYSQL_57, KEYS),
        off: |spec| spec.engines["mysql"].commit = Some("0".into()),
        shows: |left| left.of("server.time_log_ns"),
    },
];

#[test]
fn each_mechanism_shows_where_it_is_on_and_nowhere_else() {
    for Mechanism { name, with, off, shows } in COUNTED {
        let mut spec = with();
        let on = run(&spec);
        off(&mut spec);
        assert_eq!(crate::support::refused(&spec), Vec::<String>::new(), "without {name}");
        let without = run(&spec);
        assert!(on.of("transaction.count") > 0.0 && without.of("transaction.count") > 0.0, "{name}");
        assert!(shows(&on) > 0.0, "{name}: {}", shows(&on));
        assert_eq!(shows(&without), 0.0, "without {name}");
    }
}

#[test]
fn log_without_undo_has_only_new_row_bytes_and_the_commit() {
    // An update of a payload: 90 bytes, and as many as it has, of which the first KiB brings half
    // as many again along.
    let each = |noted: bool| {
        let mut spec = large(MYSQL_57);
        let rules = rules(&mut spec);
        (rules.change_buffer, rules.redo_extra) = (None, sourced(tameshi_base::units::Share(0)));
        if !noted {
            rules.undo = None;
        }
        let left = run(&spec);
        left.of("server.log_bytes") / left.of("transaction.count")
    };
    let (payload, header, commit) = (400.0 - 8.0, 90.0, 80.0);
    assert_close(each(false), header + payload + commit, 0.002, "bytes of log for each transaction");
    // The old bytes, twice the undo record, beside the row and on its page, and the segment's
    // header.
    assert_close(each(true) - each(false), payload + 60.0 + 60.0 + 40.0, 0.002, "bytes of log for undo");
}
