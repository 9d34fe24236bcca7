//! Options of a simulated server: those of each version, their values, and their effects.

use crate::database::{KEYS, MARIADB, MYSQL_55, MYSQL_57, MYSQL_80, OLTP, drive, model, run, spec};
use tameshi_base::units::Size;
use tameshi_spec::run::{RunSpec, Start};

fn with(profile: &str, option: &str, value: &str) -> RunSpec {
    let mut spec = spec(profile, drive(), "6 MiB", KEYS, 100);
    spec.engines["mysql"].options.insert(option.into(), value.into());
    spec
}

/// Refusal of an option, without its name.
fn said(profile: &str, option: &str, value: &str) -> Option<String> {
    let sentences = crate::support::refused(&with(profile, option, value));
    assert!(sentences.len() <= 1, "{sentences:?}");
    let prefix = format!("engine.mysql.options.{option}: ");
    sentences.first().map(|sentence| sentence.strip_prefix(&prefix).expect("it names the option").to_string())
}

#[test]
fn options_accept_the_servers_values() {
    let all = [MYSQL_55, MYSQL_57, MYSQL_80, MARIADB];
    let since_5_6 = &all[1..];
    let numbers: [(&str, u64, u64, &[&str]); 12] = [
        ("innodb_io_capacity", 100, u64::MAX, &all),
        ("innodb_io_capacity_max", 100, u64::MAX, since_5_6),
        ("innodb_lru_scan_depth", 100, u64::MAX, since_5_6),
        ("innodb_flush_neighbors", 0, 2, since_5_6),
        ("innodb_old_blocks_time", 0, u64::from(u32::MAX), &all),
        ("innodb_old_blocks_pct", 5, 95, &all),
        ("innodb_read_ahead_threshold", 0, 64, &all),
        ("innodb_change_buffer_max_size", 0, 50, since_5_6),
        ("innodb_read_io_threads", 1, 64, &all),
        ("innodb_purge_threads", 1, 32, &all[3..]),
        ("innodb_max_dirty_pages_pct", 0, 99, &all[..1]),
        ("innodb_buffer_pool_dump_pct", 1, 100, since_5_6),
    ];
    for (option, least, most, versions) in numbers {
        for profile in versions {
            let outside = [i128::from(least) - 1, i128::from(most) + 1].map(|number| number.to_string());
            for inside in [least, most] {
                assert_eq!(said(profile, option, &inside.to_string()), None, "{option}");
            }
            for outside in outside.iter().map(String::as_str).chain(["", "1.5", "many"]) {
                let why =
                    format!("`{outside}` is not accepted by the server; a whole number from {least} to {most} is");
                assert_eq!(said(profile, option, outside), Some(why), "{option}");
            }
        }
    }
}

#[test]
fn max_dirty_pages_pct_accepts_thousandths_since_5_6() {
    for profile in [MYSQL_57, MYSQL_80, MARIADB] {
        for inside in ["0", "99.999", "1.5"] {
            assert_eq!(said(profile, "innodb_max_dirty_pages_pct", inside), None);
        }
        for outside in ["-0.001", "100", "NaN", "inf", "half"] {
            let why = format!("`{outside}` is not accepted by the server; a number from 0 to 99.999 is");
            assert_eq!(said(profile, "innodb_max_dirty_pages_pct", outside), Some(why));
        }
    }
}

#[test]
fn options_missing_in_5_5_are_refused_with_its_behaviour() {
    for (option, why) in [
        ("innodb_io_capacity_max", "this version has no such option: pages are flushed up to `innodb_io_capacity`"),
        ("innodb_lru_scan_depth", "this version has no such option: user threads flush for free pages"),
        ("innodb_flush_neighbors", "this version has no such option: neighbours are always flushed along"),
        (
            "innodb_change_buffer_max_size",
            "this version has no such option: the change buffer takes up to half of the pool",
        ),
        ("innodb_buffer_pool_dump_pct", "this version keeps nothing of its pool over a restart"),
        ("innodb_buffer_pool_dump_at_shutdown", "this version keeps nothing of its pool over a restart"),
        ("innodb_buffer_pool_load_at_startup", "this version keeps nothing of its pool over a restart"),
    ] {
        assert_eq!(said(MYSQL_55, option, "100").as_deref(), Some(why), "{option}");
    }
}

#[test]
fn mariadb_shutdown_mode_3_is_not_simulated() {
    let why = "`3`, which leaves transactions to be taken back after the next start, is not simulated; 0, 1 and 2 are";
    assert_eq!(said(MARIADB, "innodb_fast_shutdown", "3").as_deref(), Some(why));
    for profile in [MYSQL_55, MYSQL_57, MYSQL_80] {
        let why = "`3` is not accepted by the server; a whole number from 0 to 2 is";
        assert_eq!(said(profile, "innodb_fast_shutdown", "3").as_deref(), Some(why));
        assert_eq!(said(profile, "innodb_fast_shutdown", "2"), None);
    }
}

#[test]
fn io_capacity_max_follows_or_limits_io_capacity() {
    let digest = |mut spec: RunSpec, options: &[(&str, &str)]| {
        let options = options.iter().map(|&(option, value)| (option.to_string(), value.to_string()));
        spec.engines["mysql"].options.extend(options);
        run(&spec).digest
    };
    let (capacity, most) = ("innodb_io_capacity", "innodb_io_capacity_max");
    // For a log that is small for its changes, pages are flushed at the greatest capacity.
    let flushing = |options: &[(&str, &str)]| {
        let mut spec = spec(MYSQL_57, drive(), "64 MiB", KEYS, 3500);
        (spec.start, spec.engines["mysql"].redo_log) = (Start::Warm, Some(Size(64 << 20)));
        model(&mut spec).cpu.statement.value.0 = 300_000;
        digest(spec, options)
    };
    assert_eq!(flushing(&[(capacity, "1500")]), flushing(&[(capacity, "1500"), (most, "3000")]));
    assert_eq!(flushing(&[(capacity, "150")]), flushing(&[(capacity, "150"), (most, "2000")]));
    assert_eq!(flushing(&[]), flushing(&[(capacity, "200"), (most, "2000")]));
    assert_ne!(flushing(&[(capacity, "1500")]), flushing(&[(capacity, "1500"), (most, "2000")]));
    // Buffered changes are merged at the other capacity.
    let merging = |options: &[(&str, &str)]| digest(spec(MYSQL_57, drive(), "6 MiB", OLTP, 2500), options);
    assert_eq!(merging(&[(capacity, "4000"), (most, "200")]), merging(&[(capacity, "200"), (most, "200")]));
    assert_ne!(merging(&[(capacity, "100"), (most, "200")]), merging(&[(capacity, "200"), (most, "200")]));
}
