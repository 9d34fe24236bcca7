//! TPC-C's queued deliveries: terminals are done with them at once, and one connection carries them out.

use crate::engine::{Left, MYSQL_57, drive, run, spec};

fn tpcc(scale: u32, rest: &str, millis: u64) -> Left {
    let program = format!("{{ tpcc = {{ warehouses = {scale}, clients = {}, {rest} }} }}", 8 * scale);
    run(&spec(MYSQL_57, drive(), "512 MiB", &program, millis))
}

fn count(left: &Left, kind: &str) -> f64 {
    left.of(&format!("tpcc.{kind} transaction.count"))
}

#[test]
fn what_is_queued_is_carried_out_once_while_the_background_keeps_up() {
    let left = tpcc(1, "delivery = \"deferred\", rate = \"200 /s\"", 4000);
    let (queued, done) = (count(&left, "delivery"), count(&left, "deferred_delivery"));
    assert!(queued > 20.0 && (queued - 1.0..=queued).contains(&done), "{done} of {queued}");
    let statements = left.of("statement.count");
    let at_once = tpcc(1, "rate = \"200 /s\"", 4000);
    let (orders, orders_at_once) = (count(&left, "new_order"), count(&at_once, "new_order"));
    assert!((orders - orders_at_once).abs() < 3.0, "the same arrivals: {orders} and {orders_at_once}");
    let ratio = statements / at_once.of("statement.count");
    assert!((ratio - 1.0).abs() < 0.02, "the same statements, by whom ever: {ratio}");
}

#[test]
fn terminals_do_not_wait_for_a_background_that_falls_behind() {
    let deferred = || tpcc(6, "delivery = \"deferred\"", 1500);
    let (left, at_once) = (deferred(), tpcc(6, "delivery = \"at_once\"", 1500));
    let (queued, done) = (count(&left, "delivery"), count(&left, "deferred_delivery"));
    assert!(done > 0.0 && done < queued, "many terminals queue more than one connection delivers: {done} of {queued}");
    assert!(count(&left, "new_order") > count(&at_once, "new_order"));
    assert_eq!(left.digest, deferred().digest);
}
