//! Published figures: their metrics, subjects and windows, and errors of absent ones.

use crate::golden::check_golden;
use crate::support::{SMALL, planned, planned_in, profiles};
use tameshi_base::InputErrorKind;
use tameshi_spec::run::World;

fn with(figure: &str) -> String {
    format!("{SMALL}[window.late]\nfrom = \"500 ms\"\n[[published]]\nid = \"S1\"\ncell = {{}}\n{figure}\n")
}

const TPCC: &str = "title = \"t\"\nquestion = \"q?\"\n[storage.disk]\nsize = \"1 GiB\"\n[engine.sqlite]\n[workload.tpcc]\nwarehouses = 1\nclients = 1\n[phase.p]\nworkload = [\"tpcc\"]\nuntil = { time = \"1 s\" }\n[[published]]\nid = \"S1\"\ncell = {}\nmetric = \"transaction.rate\"\n";

#[test]
fn figure_with_absent_names_is_refused_at_its_place() {
    for (name, figure) in [
        ("published_metric_that_does_not_exist", "metric = \"read.iopss\""),
        ("published_metric_of_all_that_does_not_exist", "metric = \"all.latency.p99\""),
        ("published_metric_that_is_divided_by_none", "metric = \"read.iops\"\nper = \"nosuch\""),
        ("published_metric_of_all_that_is_divided", "metric = \"all.iops\"\nper = \"write.iops\""),
        ("published_subject_that_does_not_exist", "metric = \"read.iops\"\nsubject = \"nosuch\""),
        ("published_window_that_does_not_exist", "metric = \"read.iops\"\nwindow = \"lat\""),
        ("published_phase_that_does_not_exist", "metric = \"read.iops\"\nphase = \"nosuch\""),
    ] {
        let error = planned(&with(figure)).expect_err(name);
        assert_eq!(error.kind, InputErrorKind::UnknownName, "{error}");
        check_golden(name, &error.to_string());
    }
    let study = format!("{TPCC}subject = \"tpcc.delivry\"\n");
    let error = planned_in(&study, World::Measured, &profiles()).expect_err("no such transaction");
    check_golden("published_transaction_that_does_not_exist", &error.to_string());
}

#[test]
fn a_figure_may_be_of_all_that_a_study_shows() {
    for figure in [
        "metric = \"read.iops\"\nper = \"write.iops\"",
        "metric = \"all.latency.mean\"\nsubject = \"s\"\nwindow = \"late\"",
        "metric = \"read.latency.mean\"\nwindow = \"all\"\nphase = \"p\"",
    ] {
        planned(&with(figure)).unwrap_or_else(|error| panic!("{error}"));
    }
    for subject in ["tpcc", "tpcc.new_order", "tpcc.delivery", "server", "client", "disk"] {
        let study = format!("{TPCC}subject = \"{subject}\"\n");
        planned_in(&study, World::Measured, &profiles()).unwrap_or_else(|error| panic!("{error}"));
    }
    for percentile in ["read.latency.p95", "transaction.latency.p05", "sync.latency.p9999"] {
        planned(&with(&format!("metric = \"{percentile}\""))).unwrap_or_else(|error| panic!("{error}"));
    }
    for none in ["read.latency.p9", "read.latency.p9x", "read.iops.p95", "nosuch.latency.p95"] {
        planned(&with(&format!("metric = \"{none}\""))).expect_err(none);
    }
}

#[test]
fn figure_error_has_its_place_after_omitted_figures() {
    let figure =
        |cell: &str, metric: &str| format!("[[published]]\nid = \"S\"\ncell = {cell}\nmetric = \"{metric}\"\n");
    let axis = "[axis.d]\nset = \"workload.stream.s.queue_depth\"\nlevels = [1, 2]\n[quick]\naxis.d.levels = [2]\n";
    let text = [SMALL, axis, &figure("{ d = 1 }", "read.iops"), &figure("{ d = 2 }", "nosuch")].concat();
    let source = tameshi_spec::document::Source { file: "t.toml", text: &text };
    let request = tameshi_spec::plan::Request { quick: true, ..tameshi_spec::plan::Request::new(World::Simulated) };
    let error =
        tameshi_spec::plan::plan("t", source, &request, &profiles(), &|_| Vec::new()).expect_err("no such metric");
    assert_eq!((error.key.as_str(), error.found.as_str()), ("published.1.metric", "nosuch"));
    assert!(error.source_line.contains("nosuch"), "{error}");
}
