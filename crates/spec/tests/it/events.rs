//! Events of a study: their targets, and refused targets.

use crate::golden::check_golden;
use crate::support::{SMALL, planned, planned_in, profiles};
use tameshi_base::InputErrorKind;
use tameshi_base::units::Size;
use tameshi_spec::document::Source;
use tameshi_spec::plan::{Plan, Request, plan};
use tameshi_spec::run::World;
use tameshi_spec::study::{Failure, Member, PowerCut};

const PROGRAM: &str = "[workload.key_update]\ntables = 1\nrows = 10\nrow_size = \"200 B\"\nclients = 1";

fn with(event: &str) -> String {
    let mirror = "size = \"1 MiB\"\nraid1 = { members = 2, device = \"null\" }";
    SMALL.replacen("device = \"null\"", mirror, 1) + event
}

#[test]
fn events_resolve_to_their_storage_and_member() {
    let text = with(
        "[event.dies]\nat = \"100 ms\"\nphase = \"p\"\nfail = { member = 1 }\n\
         [event.new]\nat = \"200 ms\"\nreplace = { storage = \"disk\", member = 1 }\n\
         [event.dark]\nat = \"300 ms\"\npower_cut = {}\n",
    );
    let plan = planned(&text).expect("plans");
    assert_eq!(plan.refusals, []);
    let run = &plan.runs[0];
    let of = |member| Some(Member { storage: Some("disk".into()), member });
    let dies = Failure { storage: Some("disk".into()), member: Some(1), channel: None };
    assert_eq!(run.events["dies"].fail, Some(dies));
    assert_eq!(run.events["new"].replace, of(Some(1)));
    let dark = PowerCut { storage: Some("disk".into()), ..PowerCut::default() };
    assert_eq!(run.events["dark"].power_cut, Some(dark));
}

/// Code, key and message of each refusal.
fn refused(plan: &Plan) -> Vec<(&str, &str, &str)> {
    plan.refusals.iter().map(|each| (each.code.as_str(), each.key.as_str(), each.message.as_str())).collect()
}

#[test]
fn event_that_the_world_cannot_inject_is_refused() {
    let text = with("[event.over]\nat = \"1 ms\"\nfailover = {}\n");
    let why = "`failover` is an event of a database, and no phase runs a program; add such a program";
    assert_eq!(refused(&planned(&text).expect("plans")), [("event_without_database", "event.over", why)]);
    let text = with("[event.dies]\nat = \"1 ms\"\nfail = { member = 0 }\n");
    let plan = planned_in(&text, World::Measured, &profiles()).expect("plans");
    let why = "bind a command to it, --event dies=COMMAND";
    assert_eq!(refused(&plan), [("event_not_bound", "event.dies", why)]);
    let text = with("[event.other]\nat = \"1 ms\"\ncommand = [\"true\"]\n");
    assert_eq!(refused(&planned(&text).expect("plans"))[0].0, "event_kind");
}

#[test]
fn bound_event_is_refused_in_no_measured_run() {
    let text = with("[event.dies]\nat = \"1 ms\"\nfail = { member = 0 }\n");
    let request = |world| Request { bound_events: vec!["dies".into()], ..Request::new(world) };
    let planned = |world| plan("t", Source { file: "t.toml", text: &text }, &request(world), &profiles(), &|_| vec![]);
    assert_eq!(planned(World::Measured).expect("plans").refusals, []);
    assert_eq!(planned(World::Emulated).expect("plans").refusals, [], "served drives fail by themselves");
}

#[test]
fn trace_is_refused_in_every_world() {
    let text = SMALL.replace("[workload.stream.s]", "[workload.trace]\nname = \"t\"").replace("stream.s", "trace");
    let plan = planned(&text).expect("plans");
    let why = "no world replays a trace yet; let a `workload.stream` or a program do the work";
    assert_eq!(refused(&plan), [("trace", "workload.trace", why)]);
}

#[test]
fn measured_world_injects_events_of_databases_only() {
    let events = "[event.killed]\nat = \"1 ms\"\nkill = { down = \"2 s\" }\n\
                  [event.dark]\nat = \"2 ms\"\npower_cut = {}\n";
    let measured = |text: &str| planned_in(text, World::Measured, &profiles()).expect("plans");
    assert_eq!(measured(&with(events)).refusals.len(), 2);
    let text = with(events).replace("[workload.stream.s]", PROGRAM).replace("stream.s", "key_update");
    let plan = measured(&text);
    assert_eq!(plan.refusals, []);
    let run = &plan.runs[0];
    assert_eq!(run.events["killed"].kill.as_ref().map(|kill| kill.down.0), Some(2_000_000_000));
    assert_eq!(run.events["dark"].power_cut.as_ref().and_then(|cut| cut.storage.as_deref()), Some("disk"));
}

#[test]
fn measured_power_cut_waits_for_no_write() {
    let text = with("[event.dark]\nat = \"2 ms\"\npower_cut = { during_write = \"16 KiB\" }\n");
    for world in [World::Simulated, World::Emulated, World::Measured] {
        let text = text.replace("[workload.stream.s]", PROGRAM).replace("stream.s", "key_update");
        let planned = planned_in(&text, world, &profiles());
        if world == World::Measured {
            check_golden("measured_power_cut_during_a_write", &planned.expect_err("refused").to_string());
        } else {
            let event = planned.expect("plans").runs[0].events["dark"].power_cut.clone().expect("a cut");
            assert_eq!(event.during_write, Some(Size(16 << 10)));
        }
    }
}

#[test]
fn event_with_an_impossible_target_is_refused() {
    use InputErrorKind::{BadValue, Conflict, MissingKey, UnknownName};
    for (name, event, kind) in [
        ("event_after_its_phase", "at = \"5 s\"\nphase = \"p\"\nfail = { member = 0 }", Conflict),
        ("event_for_no_member", "at = \"1 ms\"\nfail = { member = 2 }", BadValue),
        ("event_for_an_unknown_storage", "at = \"1 ms\"\nfail = { storage = \"dsk\" }", UnknownName),
        ("replacement_of_nobody", "at = \"1 ms\"\nreplace = {}", MissingKey),
        ("power_cut_during_a_write_of_no_size", "at = \"1 ms\"\npower_cut = { during_write = \"lots\" }", BadValue),
        ("power_cut_of_a_member", "at = \"1 ms\"\npower_cut = { member = 1 }", Conflict),
    ] {
        let error = planned(&with(&format!("[event.e]\n{event}\n"))).expect_err(name);
        assert_eq!(error.kind, kind, "{name}: {error}");
        check_golden(name, &error.to_string());
    }
    let text = with("[event.e]\nat = \"1 ms\"\nfailover = {}\n").replace("[workload.stream.s]", PROGRAM);
    let error = planned(&text.replace("stream.s", "key_update")).expect_err("a mirror has no other side");
    check_golden("failover_without_a_standby", &error.to_string());
    let text = format!("{SMALL}[event.e]\nat = \"1 ms\"\nreplace = {{ member = 0 }}\n");
    let error = planned(&text).expect_err("a plain device");
    check_golden("replacement_without_a_copy", &error.to_string());
}

const FAILS: &str = "phase = \"p\"\nfail = { member = 1 }";
const REPLACED: &str = "phase = \"p\"\nreplace = { member = 1 }";

/// A study of a mirror with events at times of their own.
fn with_events(events: &[(&str, &str)]) -> String {
    let each = |(place, (at, event)): (usize, &(&str, &str))| format!("[event.e{place}]\nat = \"{at}\"\n{event}\n");
    with(&events.iter().enumerate().map(each).collect::<String>())
}

#[test]
fn replacing_the_living_and_failing_the_dead_are_refused() {
    let everything = "phase = \"p\"\nfail = {}";
    for (name, events) in [
        ("replacement_of_what_never_fails", &[("1 ms", REPLACED), ("0 s", "phase = \"p\"\nfail = { member = 0 }")][..]),
        ("replacement_before_the_failure", &[("3 ms", FAILS), ("1 ms", REPLACED)]),
        ("replacement_of_one_time_before_the_failure", &[("1 ms", REPLACED), ("1 ms", FAILS)]),
        ("second_replacement_for_one_failure", &[("1 ms", FAILS), ("3 ms", REPLACED), ("2 ms", REPLACED)]),
        ("failure_of_what_is_dead", &[("1 ms", FAILS), ("3 ms", FAILS)]),
        ("failure_behind_that_of_everything", &[("1 ms", everything), ("3 ms", FAILS)]),
        ("failure_of_what_is_replaced_later", &[("1 ms", FAILS), ("3 ms", FAILS), ("5 ms", REPLACED)]),
    ] {
        let error = planned(&with_events(events)).expect_err(name);
        assert_eq!(error.kind, InputErrorKind::Conflict, "{name}: {error}");
        check_golden(name, &error.to_string());
    }
}

#[test]
fn events_possible_in_some_run_are_planned() {
    let of_the_run = "fail = { member = 1 }";
    let everything = "phase = \"p\"\nfail = {}";
    for events in [
        &[("1 ms", FAILS), ("2 ms", REPLACED), ("3 ms", FAILS)][..],
        &[("2 ms", REPLACED), ("1 ms", FAILS)],
        &[("1 ms", FAILS), ("1 ms", REPLACED)],
        &[("1 ms", FAILS), ("2 ms", REPLACED), ("3 ms", FAILS), ("4 ms", REPLACED)],
        &[("1 ms", FAILS), ("2 ms", REPLACED), ("3 ms", of_the_run), ("4 ms", REPLACED)],
        &[("1 ms", FAILS), ("2 ms", everything)],
        &[("1 ms", REPLACED), ("3 ms", of_the_run)],
        &[("1 ms", "phase = \"p\"\nfail = { member = 0 }"), ("2 ms", FAILS)],
    ] {
        planned(&with_events(events)).expect("plans");
    }
}

const OF_THE_RUN: &str = "fail = { member = 1 }";
const TWO_PHASES: &str = "[phase.before]\nworkload = [\"stream.s\"]\nuntil = { time = \"2 s\" }\n[phase.p]";

#[test]
fn an_event_of_the_run_at_its_end_or_behind_it_is_refused() {
    let two = |text: String| text.replace("[phase.p]", TWO_PHASES);
    let rounds = "[rounds.r]\nphases = [\"p\"]\ntimes = 3\n";
    for (name, text) in [
        ("event_at_the_end_of_the_run", with_events(&[("1 s", OF_THE_RUN)])),
        ("event_behind_the_end_of_the_run", with_events(&[("2 s", OF_THE_RUN)])),
        ("event_behind_a_phase_that_may_end_early", {
            with_events(&[("1 s", OF_THE_RUN)]).replace("time = \"1 s\"", "time = \"1 s\", amount = \"1 MiB\"")
        }),
        ("event_behind_two_phases", two(with_events(&[("3 s", OF_THE_RUN)]))),
        ("event_behind_all_rounds", with_events(&[("3 s", OF_THE_RUN)]) + rounds),
    ] {
        let error = planned(&text).expect_err(name);
        assert_eq!(error.kind, InputErrorKind::Conflict, "{name}: {error}");
        check_golden(name, &error.to_string());
    }
    let killed = "[event.e]\nat = \"1 s\"\nkill = {}\n";
    let text = with(killed).replace("[workload.stream.s]", PROGRAM).replace("stream.s", "key_update");
    planned_in(&text, World::Measured, &profiles()).expect_err("one phase lasts its time in every world");
    planned_in(&text.replacen("\"1 s\"\nkill", "\"999 ms\"\nkill", 1), World::Measured, &profiles()).expect("it may");
}

#[test]
fn an_event_of_the_run_may_come_where_the_end_is_not_certain() {
    let two = |text: String| text.replace("[phase.p]", TWO_PHASES);
    planned(&with_events(&[("999 ms", OF_THE_RUN)])).expect("just before the end");
    planned(&two(with_events(&[("2999 ms", OF_THE_RUN)]))).expect("in the second phase");
    let without_time = two(with_events(&[("9 s", OF_THE_RUN)])).replacen("time = \"2 s\"", "amount = \"1 MiB\"", 1);
    planned(&without_time).expect("the first phase has no known length");
    let deep = "[workload.stream.deep]\nqueue_depth = 8\n[workload.stream.s]";
    let shallow = two(with_events(&[("9 s", OF_THE_RUN)])).replace("[workload.stream.s]", deep);
    planned(&shallow.replacen("[\"stream.s\"]", "[\"stream.deep\"]", 1)).expect("a long queue drains in between");
    let arriving = "[workload.stream.s]\narrivals = { constant = { rate = \"10 /s\" } }";
    planned(&two(with_events(&[("9 s", OF_THE_RUN)])).replace("[workload.stream.s]", arriving))
        .expect("and so may this");
    let levels = "[axis.late]\nset = \"event.e0.at\"\nlevels = [\"5 ms\", \"9 s\"]\n";
    planned(&(with_events(&[("1 ms", OF_THE_RUN)]) + levels)).expect("it happens at one level");
    let rounds = "[rounds.r]\nphases = [\"before\", \"p\"]\ntimes = 2\n";
    let grows = two(with_events(&[("9 s", OF_THE_RUN)])) + rounds;
    planned(&grows).expect_err("equal depths");
    let grows = grows.replace("[workload.stream.s]", deep).replacen(
        "phase.p]\nworkload = [\"stream.s\"]",
        "phase.p]\nworkload = [\"stream.deep\"]",
        1,
    );
    planned(&grows).expect("the second round has less outstanding than the first ends with");
}

#[test]
fn event_order_over_phases_is_known_if_the_first_ends_by_time() {
    let before = "[phase.before]\nworkload = [\"stream.s\"]\nuntil = { time = \"1 s\" }\n[phase.p]";
    let fails_before = FAILS.replace("\"p\"", "\"before\"");
    let text = with_events(&[("900 ms", &fails_before), ("1 ms", FAILS)]).replace("[phase.p]", before);
    check_golden("failure_in_the_phase_after", &planned(&text).expect_err("it is dead").to_string());
    let ends_early = text.replacen("time = \"1 s\"", "time = \"1 s\", amount = \"1 MiB\"", 1);
    planned(&ends_early).expect("the first may happen while the second phase runs");
    let at_once = ends_early.replace("900 ms", "0 s");
    planned(&at_once).expect_err("a phase begins before the next");
}

#[test]
fn events_possible_at_some_level_are_planned() {
    let of = |levels: &str| {
        let axis = format!("[axis.late]\nset = \"event.e1.at\"\nlevels = [{levels}]\n");
        with_events(&[("10 ms", FAILS), ("20 ms", REPLACED)]) + &axis
    };
    planned(&of("\"5 ms\", \"30 ms\"")).expect("one of them may");
    planned(&of("\"5 ms\", \"6 ms\"")).expect_err("none of them may");
}

#[test]
fn replacement_after_failed_channel_or_storage_is_planned() {
    let everything = "phase = \"p\"\nfail = {}";
    planned(&with_events(&[("1 ms", everything), ("2 ms", REPLACED)])).expect("the run tells why it does not happen");
    let error = on_cards("device = \"card\"", "{ channel = 3 }\n[event.f]\nat = \"2 ms\"\nfail = { channel = 3 }");
    check_golden("channel_that_is_dead", &error.expect_err("it is dead").to_string());
    let other = "{ channel = 3 }\n[event.f]\nat = \"2 ms\"\nfail = { channel = 4 }";
    on_cards("device = \"card\"", other).expect("another channel");
}

const CARD: &str = include_str!("../../../../python/tameshi/data/profiles/devices/es3000-1.2t.toml");
const WITHOUT_PARITY: &str =
    include_str!("../../../../python/tameshi/data/profiles/devices/fusionio-iodrive-duo-320-slc.toml");

fn on_cards(storage: &str, event: &str) -> Result<tameshi_spec::plan::Plan, tameshi_base::InputError> {
    let device = |name: &str, text: &str| (name.to_string(), format!("profiles/devices/{name}.toml"), text.to_string());
    let mut profiles = profiles();
    profiles.devices.extend([device("card", CARD), device("other", WITHOUT_PARITY)]);
    let text = format!("{}[event.e]\nat = \"1 ms\"\nfail = {event}\n", SMALL.replacen("device = \"null\"", storage, 1));
    planned_in(&text, World::Simulated, &profiles)
}

#[test]
fn failed_channel_belongs_to_a_member_with_parity() {
    let run = &on_cards("device = \"card\"", "{ channel = 50 }").expect("plans").runs[0];
    let (storage, member, channel) = (Some("disk".into()), Some(0), Some(50));
    assert_eq!(run.events["e"].fail, Some(Failure { storage, member, channel }));
    for (name, storage, event) in [
        ("channel_that_is_not_there", "device = \"card\"", "{ channel = 51 }"),
        ("channel_of_a_dead_one_less", "device = \"card\"\naged = { dead_channels = 1 }", "{ channel = 48 }"),
        ("channel_of_some_member", "raid1 = { members = 2, device = \"card\" }", "{ channel = 1 }"),
        ("channel_without_parity", "device = \"other\"", "{ channel = 1 }"),
        ("channel_of_what_is_no_flash", "device = \"null\"", "{ channel = 1 }"),
    ] {
        let error = on_cards(storage, event).expect_err(name);
        check_golden(name, &error.to_string());
    }
}
