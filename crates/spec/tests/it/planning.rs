//! Plans of studies: cells, phases, seeds and bounds.

use crate::support::{SMALL, planned, planned_in, profiles};
use tameshi_base::{Rate, Share};
use tameshi_spec::document::Source;
use tameshi_spec::plan::{Plan, RepeatedRun, Request, plan, plan_each};
use tameshi_spec::run::World;
use tameshi_spec::search::CellRates;
use tameshi_workload::Arrivals;

fn with(text: &str) -> String {
    SMALL.replacen("[workload.stream.s]", &format!("{text}\n[workload.stream.s]"), 1)
}

#[test]
fn axes_across_make_runs_and_axes_within_make_phases() {
    let plan = planned(&with(
        "[run]\nrepetitions = 2\n[axis.read]\nset = \"workload.stream.s.read\"\nlevels = [\"0 %\", \"100 %\"]\n\
         [axis.depth]\nvaries = \"within\"\nset = \"workload.stream.s.queue_depth\"\nlevels = [1, 8, 32]",
    ))
    .expect("plans");
    assert_eq!(plan.runs.len(), 4);
    let reads: Vec<_> = plan.runs.iter().map(|run| (run.repetition, run.phases[0].streams[0].stream.read)).collect();
    assert_eq!(reads, [(0, Share(0)), (0, Share::WHOLE), (1, Share(0)), (1, Share::WHOLE)]);
    let depths: Vec<_> = plan.runs[0].phases.iter().map(|phase| phase.streams[0].stream.queue_depth).collect();
    assert_eq!(depths, [1, 8, 32]);
    assert_eq!(plan.time_ns_at_most, Some(12_000_000_000));
}

#[test]
fn repetitions_differ_in_seed_and_cells_share_it() {
    let plan = planned(&with(
        "[run]\nrepetitions = 2\n[axis.read]\nset = \"workload.stream.s.read\"\nlevels = [\"0 %\", \"100 %\"]",
    ))
    .expect("plans");
    let seeds: Vec<u64> = plan.runs.iter().map(|run| run.seed).collect();
    assert_eq!(seeds[0], seeds[1]);
    assert_ne!(seeds[0], seeds[2]);
}

#[test]
fn neighbouring_phases_over_the_same_axes_repeat_together() {
    let text = with("[axis.depth]\nvaries = \"within\"\nset = \"workload.stream.s.queue_depth\"\nlevels = [1, 8]")
        + "[phase.q]\nworkload = [\"stream.s\"]\nuntil = { time = \"1 s\" }\n\
           [phase.once]\nworkload = [\"stream.s\"]\nover = []\nuntil = { time = \"1 s\" }\n";
    let names: Vec<String> = planned(&text).expect("plans").runs[0]
        .phases
        .iter()
        .map(|phase| format!("{}{}", phase.name, phase.levels.values().cloned().collect::<String>()))
        .collect();
    assert_eq!(names, ["p1", "q1", "p8", "q8", "once"]);
}

#[test]
fn rounds_hold_phases_at_all_levels_of_inner_axes() {
    let text = with(
        "[axis.wait]\nvaries = \"within\"\nset = \"phase.rest.until.time\"\nlevels = [\"1 s\", \"2 s\"]\n\
         [axis.depth]\nvaries = \"within\"\nset = \"workload.stream.s.queue_depth\"\nlevels = [1, 8]\n\
         [rounds.r]\nphases = [\"p\", \"rest\"]\nover = [\"wait\"]\nsteady = { max_rounds = 10 }\n\
         tracked = [{ phase = \"p\", levels = { depth = 8 } }]",
    ) + "[phase.rest]\nover = [\"wait\"]\nworkload = []\nuntil = { time = \"5 s\" }\n\
           [phase.after]\nover = []\nworkload = [\"stream.s\"]\nuntil = { time = \"1 s\" }\n";
    let plan = planned(&text).expect("plans");
    let run = &plan.runs[0];
    let told: Vec<String> = run
        .phases
        .iter()
        .map(|phase| format!("{}{:?}", phase.name, phase.levels.values().collect::<Vec<_>>()))
        .collect();
    let half =
        |wait: &str| [format!(r#"p["{wait}", "1"]"#), format!(r#"p["{wait}", "8"]"#), format!(r#"rest["{wait}"]"#)];
    assert_eq!(told, [&half("1 s")[..], &half("2 s")[..], &["after[]".to_string()]].concat());
    let rounds: Vec<_> =
        run.rounds.iter().map(|rounds| (rounds.first, rounds.phases, rounds.tracked.clone())).collect();
    assert_eq!(rounds, [(0, 3, vec![1]), (3, 3, vec![4])]);
    assert_eq!(plan.time_ns_at_most, Some((10 * (1 + 1 + 1) + 10 * (1 + 1 + 2) + 1) * 1_000_000_000));
}

#[test]
fn the_rounds_of_a_phase_bound_its_time() {
    let steady = SMALL.replacen("{ time = \"1 s\" }", "{ steady = { round = \"1 min\" } }", 1);
    assert_eq!(planned(&steady).expect("plans").time_ns_at_most, Some(25 * 60 * 1_000_000_000));
}

#[test]
fn labelled_levels_are_partial_studies() {
    let text = SMALL.replacen("[storage.disk]\ndevice = \"null\"", "[axis.size]\nsmall = { storage.disk.size = \"1 MiB\" }\nlarge = { storage.disk.size = \"1 GiB\", run.seed = 5 }\n[storage.disk]\ndevice = \"null\"", 1);
    let plan = planned(&text).expect("plans");
    let sizes: Vec<u64> = plan.runs.iter().map(|run| run.storage["disk"].size.0).collect();
    assert_eq!(sizes, [1 << 20, 1 << 30]);
    assert_eq!(plan.storage_bytes["disk"], 1 << 30);
}

#[test]
fn bytes_written_are_bounded_by_amount_or_rate() {
    let bound = |text: &str| planned(text).expect("plans").bytes_written_at_most;
    assert_eq!(bound(SMALL), Some(0));
    assert_eq!(
        bound(&with("[workload.stream.s]\nread = \"0 %\"").replacen("\n[workload.stream.s]\n[phase", "\n[phase", 1)),
        None
    );
    let writes = SMALL.replacen("[workload.stream.s]", "[workload.stream.s]\nread = \"0 %\"\njobs = 3", 1);
    let by_amount = writes.replacen("{ time = \"1 s\" }", "{ amount = \"1 MiB\" }", 1);
    assert_eq!(bound(&by_amount), Some(3 * 86 * 4096), "each of three jobs rounds its share up to whole blocks");
    let by_rate = SMALL.replacen(
        "[workload.stream.s]",
        "[workload.stream.s]\nread = \"0 %\"\narrivals = { constant = { rate = \"100 /s\" } }",
        1,
    );
    assert_eq!(bound(&by_rate), Some(100 * 4096));
    let mix = "block_size_mix = [{ size = \"4 KiB\", share = \"75 %\" }, { size = \"64 KiB\", share = \"25 %\" }]";
    let of_a_mix = |text: &str| bound(&text.replacen("[workload.stream.s]", &format!("[workload.stream.s]\n{mix}"), 1));
    assert_eq!(of_a_mix(&by_rate), Some(100 * (3 * 4096 + 65_536) / 4), "the mean length");
    let per_job = (1u64 << 20).div_ceil(3);
    assert_eq!(of_a_mix(&by_amount), Some(3 * (per_job - 1 + 65_536)), "the last of each may be the longest");
}

#[test]
fn bytes_written_are_bounded_by_a_stream_s_own_amount() {
    let bound = |text: &str| planned(text).expect("plans").bytes_written_at_most;
    let own = "[workload.stream.s]\nread = \"0 %\"\njobs = 3\namount = \"10 MiB\"";
    let writes = SMALL.replacen("[workload.stream.s]", own, 1);
    assert_eq!(bound(&writes), Some(2562 * 4096), "each of three jobs rounds its share up to whole blocks");
    assert_eq!(bound(&writes.replace("\"0 %\"", "\"100 %\"")), Some(0));
    let beside = |other: &str| {
        let both = format!("[workload.stream.other]\n{other}\n[workload.stream.s]");
        writes.replacen("[workload.stream.s]", &both, 1).replace("[\"stream.s\"]", "[\"stream.s\", \"stream.other\"]")
    };
    assert_eq!(bound(&beside("")), Some(2562 * 4096), "who only reads adds nothing");
    assert_eq!(bound(&beside("read = \"0 %\"")), None, "who writes without end does");
    let rate = beside("read = \"0 %\"\narrivals = { constant = { rate = \"100 /s\" } }");
    assert_eq!(bound(&rate), Some((2562 + 100) * 4096), "each by what bounds it");
    let of_phase = beside("read = \"0 %\"").replacen("time = \"1 s\"", "time = \"1 s\", amount = \"1 MiB\"", 1);
    assert_eq!(bound(&of_phase), Some((2562 + 256) * 4096), "the phase's amount is for those without their own");
    let tree = "read = \"0 %\"\npattern = \"sequential\"\nsync = { group_commit = { committers = 4 } }\n\
                lsm = { memtable = \"1 MiB\", journal = \"1 MiB\", fan_out = 4, levels = 2, block_size = \"64 KiB\", queue_depth = 4 }";
    let tree = bound(&writes.replacen("read = \"0 %\"", tree, 1));
    assert_eq!(tree, Some(3 * 2562 * 4096), "a tree's journal, and once more for each level");
    let for_a_time = of_phase.replacen("read = \"0 %\"", "read = \"0 %\"\nduration = \"500 ms\"", 1);
    assert_eq!(bound(&for_a_time), None, "and not for those that end by their time");
}

#[test]
fn through_the_page_cache_any_length_goes() {
    let stream = "[workload.stream.s]\naccess = \"buffered\"\nblock_size = \"2300 B\"";
    let plan = planned(&SMALL.replacen("[workload.stream.s]", stream, 1)).expect("plans");
    assert_eq!(plan.runs[0].phases[0].streams[0].stream.block_size.0, 2300);
}

#[test]
fn run_spec_survives_a_json_round_trip() {
    for world in [World::Simulated, World::Measured] {
        let text = SMALL.replacen("device = \"null\"", "device = \"null\"\nsize = \"1 MiB\"", 1);
        let run = planned_in(&text, world, &profiles()).expect("plans").runs.remove(0);
        let json = serde_json::to_string(&run).expect("a spec is JSON");
        assert_eq!(serde_json::from_str::<tameshi_spec::run::RunSpec>(&json).expect("reads back"), run);
    }
}

#[test]
fn the_worked_example_of_the_design_plans_with_its_database() {
    let text = include_str!("worked_example.toml");
    let plan = planned_in(text, World::Measured, &profiles()).expect("the form is complete");
    assert_eq!(plan.runs.len(), 2 * 2 * 3 * 3);
    assert_eq!(plan.refusals, []);
    let storages: Vec<&str> =
        plan.runs.iter().map(|run| run.database.as_ref().expect("it runs TPC-C").storage.as_str()).collect();
    assert!(storages.contains(&"disk_array") && storages.contains(&"flash"), "{storages:?}");
    assert!(
        plan.runs.iter().all(|run| run.phases[0].programs[0].word() == "tpcc" && run.engines.contains_key("mysql"))
    );
    assert_eq!(plan.bytes_written_at_most, None, "the writes of a database have no bound");
}

const PROGRAM: &str = "title = \"P\"\nquestion = \"?\"\n[storage.disk]\nsize = \"1 GiB\"\n\
    [workload.key_update]\ntables = 1\nrows = 10\nrow_size = \"300 B\"\nclients = 1\n\
    [phase.p]\nworkload = [\"key_update\"]\nuntil = { time = \"1 s\" }\n";

#[test]
fn a_program_without_an_engine_runs_on_sqlite() {
    let run = planned_in(PROGRAM, World::Measured, &profiles()).expect("plans").runs.remove(0);
    assert_eq!(run.database.expect("has one").engine, "sqlite");
    assert_eq!(run.engines.keys().collect::<Vec<_>>(), ["sqlite"]);
}

#[test]
fn of_several_engines_the_one_in_use_is_the_runs() {
    let two = format!("{PROGRAM}[engine.mariadb]\n[engine.postgresql]\n");
    let error = planned_in(&two, World::Measured, &profiles()).expect_err("which?");
    assert_eq!((error.key.as_str(), error.accepted.len()), ("use.engine", 2));
    let used = format!("{two}[use]\nengine = \"postgresql\"\n");
    let run = planned_in(&used, World::Measured, &profiles()).expect("plans").runs.remove(0);
    assert_eq!(run.engines.keys().collect::<Vec<_>>(), ["postgresql"], "the others change nothing of the run");
}

#[test]
fn an_axis_within_a_run_changes_clients_and_no_engine() {
    let within = |set: &str, levels: &str| {
        format!("{PROGRAM}[engine.mariadb]\n[axis.a]\nvaries = \"within\"\nset = \"{set}\"\nlevels = [{levels}]\n")
    };
    let clients = planned_in(&within("workload.key_update.clients", "1, 4"), World::Measured, &profiles());
    let phases = clients.expect("plans").runs.remove(0).phases;
    assert_eq!(phases.iter().map(|phase| phase.programs[0].clients()).collect::<Vec<_>>(), [1, 4]);
    let pool = within("engine.mariadb.buffer_pool", "\"16 MiB\", \"32 MiB\"");
    let error = planned_in(&pool, World::Measured, &profiles()).expect_err("a server would have to start anew");
    assert!(error.message.contains("can't change the engine"), "{error}");
}

#[test]
fn search_runs_a_closed_loop_maximum_then_open_loop_rates() {
    let text = with("[search]\nstream = \"s\"\nlimit = { metric = \"read.latency.p999\", below = \"1 ms\" }");
    let source = Source { file: "t.toml", text: &text };
    let rates = vec![CellRates { cell: Default::default(), rates: vec![Rate(1_500), Rate(2_000_000)] }];
    let request = Request { rates, ..Request::new(World::Simulated) };
    let planned = plan("t", source, &request, &profiles(), &|_| Vec::new()).expect("plans");
    let arrivals = |run: usize| planned.runs[run].phases[0].streams[0].stream.arrivals.clone();
    assert_eq!((planned.runs.len(), arrivals(0)), (3, Arrivals::Closed));
    assert_eq!(planned.runs[0].phases[0].name, "maximum");
    assert_eq!(arrivals(2), Arrivals::Poisson { rate: Rate(2_000_000) });
    assert_eq!(planned.runs[1].cell["rate"], "1.5");
    let axis = planned.study.axes.last().expect("an axis of rates");
    assert_eq!((axis.name.as_str(), &axis.levels[..]), ("rate", &["1.5".to_string(), "2000".to_string()][..]));
}

#[test]
fn study_without_a_quick_part_plans_all_cells() {
    for (part, reduced) in [("", false), ("[quick]\nrun.seed = 2\n", true)] {
        let source = Source { file: "t.toml", text: &with(part) };
        let request = Request { quick: true, ..Request::new(World::Simulated) };
        assert_eq!(
            plan("t", source, &request, &profiles(), &|_| Vec::new()).expect("plans").study.quick,
            reduced,
            "{part}"
        );
    }
}

#[test]
fn quick_part_omits_figures_of_omitted_cells() {
    let text = with(
        "[axis.d]\nset = \"workload.stream.s.queue_depth\"\nlevels = [1, 2]\n\
         [[published]]\nid = \"S1\"\ncell = { d = 1 }\nmetric = \"read.iops\"\n\
         [[published]]\nid = \"S2\"\ncell = { d = 2 }\nmetric = \"read.iops\"\n\
         [quick]\naxis.d.levels = [2, 3]\n",
    );
    let source = Source { file: "t.toml", text: &text };
    let figures = |quick: bool| {
        let request = Request { quick, ..Request::new(World::Simulated) };
        let planned = plan("t", source, &request, &profiles(), &|_| Vec::new()).expect("plans");
        planned.study.published.iter().map(|figure| figure.id.clone()).collect::<Vec<_>>()
    };
    assert_eq!((figures(false), figures(true)), (vec!["S1".into(), "S2".into()], vec!["S2".to_string()]));
}

/// The plan run by run, and its runs in the order of a whole plan.
fn planned_each(text: &str, request: &Request) -> Result<Plan, String> {
    let mut runs: Vec<RepeatedRun> = Vec::new();
    let source = Source { file: "t.toml", text };
    let outline = plan_each("t", source, request, &profiles(), &|_| Vec::new(), &mut |run| runs.push(run));
    let outline = outline.map_err(|error| error.to_string())?;
    assert!(outline.runs.is_empty());
    let most = runs.iter().map(|run| run.repetitions).max().unwrap_or(0);
    let of = |n| runs.iter().filter(move |run| n < run.repetitions).map(move |run| run.repetition(n));
    Ok(Plan { runs: (0..most).flat_map(of).collect(), ..outline })
}

#[test]
fn plan_run_by_run_equals_the_whole() {
    let axes = "[run]\nrepetitions = 3\n[axis.read]\nset = \"workload.stream.s.read\"\nlevels = [\"0 %\", \"100 %\"]\n\
                [axis.jobs]\nset = \"workload.stream.s.jobs\"\nlevels = [1, 2, 3]\n\
                [unknown.depth]\nset = \"workload.stream.s.queue_depth\"\nlevels = [1, 8, 32]\nassumed = 8";
    let request = Request::new(World::Simulated);
    let whole = planned(&with(axes)).expect("plans");
    assert_eq!(whole.runs.len(), 6 * 3 + 6 * 2);
    assert_eq!(planned_each(&with(axes), &request).expect("plans"), whole);
}

#[test]
fn packed_plan_may_have_more_runs() {
    let levels = |count: u32| (1..=count).map(|n| n.to_string()).collect::<Vec<_>>().join(", ");
    let axis = |name: &str, key: &str, count| {
        format!("[axis.{name}]\nset = \"workload.stream.s.{key}\"\nlevels = [{}]\n", levels(count))
    };
    let text = with(&(axis("jobs", "jobs", 101) + &axis("depth", "queue_depth", 100)));
    let packed = Request { packed: true, ..Request::new(World::Simulated) };
    let refused = planned(&text).expect_err("too many").to_string();
    assert!(refused.contains("at most 10000, up to 100000 with --records parquet"), "{refused}");
    assert_eq!(planned_each(&text, &packed).expect("plans").runs.len(), 10_100);
    let text = with(&(axis("jobs", "jobs", 401) + &axis("depth", "queue_depth", 250)));
    let refused = planned_each(&text, &packed).expect_err("too many");
    assert!(refused.contains("span 100250 cells") && !refused.contains("--records"), "{refused}");
}
