//! Queued deliveries of TPC-C: terminals queue them at once, one connection carries them out, each
//! counts once.

use crate::database::{Left, MYSQL_57, drive, run, spec};

fn tpcc(scale: u32, rest: &str, millis: u64) -> Left {
    let program = format!("{{ tpcc = {{ warehouses = {scale}, clients = {}, {rest} }} }}", 8 * scale);
    run(&spec(MYSQL_57, drive(), "512 MiB", &program, millis))
}

fn count(left: &Left, kind: &str) -> f64 {
    left.of(&format!("tpcc.{kind} transaction.count"))
}

/// Mean latency of the deliveries.
fn mean(left: &Left) -> f64 {
    left.of("tpcc.delivery transaction.latency_sum") / count(left, "delivery")
}

#[test]
fn queued_delivery_counts_once_when_carried_out() {
    let left = tpcc(1, "delivery = \"deferred\", rate = \"200 /s\"", 4000);
    let at_once = tpcc(1, "rate = \"200 /s\"", 4000);
    for kind in ["new_order", "payment", "order_status", "delivery", "stock_level"] {
        let (of, other) = (count(&left, kind), count(&at_once, kind));
        assert!(of > 20.0 && (of - other).abs() < 3.0, "the same arrivals of {kind}: {of} and {other}");
    }
    let all: f64 = left.of("transaction.count");
    assert!((left.of("load.started") + left.of("load.unserved") - all).abs() <= 2.0, "nothing is left: {all}");
    assert!(left.of("tpcc.deferred_delivery transaction.count") == 0.0, "by one name only");
    assert!(mean(&left) > 0.9 * mean(&at_once), "no delivery takes no time: {} and {}", mean(&left), mean(&at_once));
    let ratio = left.of("statement.count") / at_once.of("statement.count");
    assert!((ratio - 1.0).abs() < 0.02, "the same statements, by whom ever: {ratio}");
}

#[test]
fn terminals_do_not_wait_for_a_slow_background() {
    let deferred = || tpcc(6, "delivery = \"deferred\"", 1500);
    let (left, at_once) = (deferred(), tpcc(6, "delivery = \"at_once\"", 1500));
    let (done, unserved, orders) =
        (count(&left, "delivery"), left.of("tpcc.delivery load.unserved"), count(&left, "new_order"));
    assert!(done > 0.0 && unserved > 0.0, "many terminals queue more than one connection delivers: {done}, {unserved}");
    // Each of 48 terminals has one delivery and ten orders in its deck, and may be anywhere in it.
    assert!((done + unserved - orders / 10.0).abs() <= 48.0, "{done} and {unserved}, with {orders} orders");
    assert!(orders > count(&at_once, "new_order"));
    assert!(mean(&left) > 10.0 * mean(&at_once), "their latency runs from when they were queued");
    assert_eq!(left.digest, deferred().digest);
}
