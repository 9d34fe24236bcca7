//! Values that are written in a wrong form: each error says in which form they are taken.

use crate::errors::FLASH;
use crate::golden::check_golden;
use crate::support::{SMALL, planned, planned_in, profiles};
use serde_json::Value;
use std::collections::BTreeSet;
use tameshi_base::InputErrorKind::{self, BadValue, UnknownKey, WrongType};
use tameshi_spec::run::World;
use tameshi_spec::study::Study;
use tameshi_spec::toml::typing::WITH_VALUES;

/// Name of the golden text, the stream's line, and the kind that it must give.
const CASES: &[(&str, &str, InputErrorKind)] = &[
    ("rate_of_bytes", "arrivals.poisson.rate = \"400 MB/s\"", BadValue),
    ("rate_without_a_unit", "arrivals.poisson.rate = 500", WrongType),
    ("size_in_small_letters", "block_size = \"4 kib\"", BadValue),
    ("size_per_second", "offset = \"100 GB/s\"", BadValue),
    ("share_above_the_whole", "read = \"120 %\"", BadValue),
    ("pattern_without_its_values", "pattern = \"zipf\"", WrongType),
    ("pattern_with_a_number_for_its_values", "pattern.zipf = 1.2", WrongType),
    ("pattern_with_a_misspelled_value", "pattern.zipf = { theta = 1.2 }", UnknownKey),
    ("pattern_that_is_a_number", "pattern = 4", WrongType),
    ("zones_without_their_parts", "pattern = \"zoned\"", WrongType),
    ("arrivals_without_their_rate", "arrivals = \"poisson\"", WrongType),
    ("offset_beyond_the_storage", "offset = \"2 TB\"", BadValue),
    ("offset_that_leaves_no_block", "offset = \"1048575 KiB\"\nblock_size = \"8 KiB\"", BadValue),
    ("span_below_a_block", "span = \"512 B\"", BadValue),
    ("depth_that_is_a_word", "queue_depth = \"four\"", WrongType),
    ("depth_below_zero", "queue_depth = -3", BadValue),
    ("depth_with_a_fraction", "queue_depth = 2.5", WrongType),
    ("depth_that_is_a_table", "queue_depth = {}", WrongType),
    ("depth_that_is_a_list", "queue_depth = [4]", WrongType),
    ("block_size_that_is_a_table", "block_size = {}", WrongType),
    ("flush_of_pages_that_is_a_number", "page_flush = 16", WrongType),
    ("flush_of_pages_that_is_a_date", "page_flush = 2026-11-25", WrongType),
    ("flush_of_pages_that_is_a_list", "page_flush = []", WrongType),
    ("names_that_are_one", "ends_with = \"s\"", WrongType),
    ("commits_that_are_a_list", "sync = { group_commit = [] }", WrongType),
    ("span_beyond_the_storage", "span = \"2 GiB\"", BadValue),
    ("span_beyond_what_the_offset_leaves", "offset = \"512 MiB\"\nspan = \"768 MiB\"", BadValue),
];

fn with(line: &str) -> String {
    SMALL.replacen("[workload.stream.s]", &format!("[workload.stream.s]\n{line}"), 1)
}

#[test]
fn value_in_a_wrong_form_is_refused_with_the_accepted_forms() {
    for (name, line, kind) in CASES {
        let error = planned(&with(line)).expect_err(name);
        assert_eq!(error.kind, *kind, "{name}: {error}");
        assert!(!error.accepted.is_empty() && !error.found.is_empty() && !error.key.is_empty(), "{name}: {error}");
        check_golden(name, &error.to_string());
    }
}

#[test]
fn wrong_type_error_has_no_rust_names() {
    let lines = include_str!("worked_example.toml").lines().filter_map(|line| line.split_once(" = "));
    let mut told = 0;
    for wrong in ["\"word\"", "-3", "2.5", "true", "[]", "[1]", "{}", "{ a = 1 }"] {
        let mut texts: Vec<String> = lines
            .clone()
            .map(|(key, value)| {
                let (old, new) = (format!("{key} = {value}"), format!("{key} = {wrong}"));
                include_str!("worked_example.toml").replacen(&old, &new, 1)
            })
            .collect();
        for part in ["storage.disk", "storage", "workload.stream.s", "workload", "phase.p", "phase", "run", "search"] {
            texts.push(format!("title = \"t\"\nquestion = \"q?\"\n{part} = {wrong}\n"));
        }
        for text in texts {
            let Err(error) = planned(&text) else { continue };
            let said = format!("{} {}", error.message, error.accepted.join(" "));
            let of_rust = ["struct", "variant", "u32", "u64", "f64", "::", "sequence", "a map", "invalid", "floating"];
            assert!(!of_rust.iter().any(|word| said.contains(word)), "{error}");
            told += 1;
        }
    }
    assert!(told > 150, "{told} errors");
}

#[test]
fn offset_beyond_a_scaled_storage_names_the_unscaled_size() {
    let mut profiles = profiles();
    profiles.devices.push(("flash".into(), "profiles/devices/flash.toml".into(), FLASH.to_string()));
    let study = with("offset = \"2 TB\"").replacen("device = \"null\"", "device = \"flash\"", 1);
    let error = planned_in(&study, World::Simulated, &profiles).expect_err("800 GB");
    assert_eq!((error.line, error.found.as_str()), (7, "\"2 TB\""));
    assert_eq!(error.accepted, ["less than 800 GB, so that the rest holds a block"]);
}

#[test]
fn storage_smaller_than_a_block_is_refused_at_its_size() {
    let study = with("").replacen("device = \"null\"", "device = \"null\"\nsize = \"1 KiB\"", 1);
    let error = planned_in(&study, World::Simulated, &profiles()).expect_err("1 KiB");
    assert_eq!((error.key.as_str(), error.found.as_str()), ("storage.disk.size", "\"1 KiB\""));
    assert_eq!(error.accepted, ["4 KiB or more"]);
}

/// The choices of a study that have values beside their name, by its schema.
fn choices(schema: &Value, found: &mut BTreeSet<String>) {
    let Some(inner) = schema.as_object() else {
        schema.as_array().into_iter().flatten().for_each(|item| choices(item, found));
        return;
    };
    for choice in inner.get("oneOf").and_then(Value::as_array).into_iter().flatten() {
        found.extend(choice["properties"].as_object().into_iter().flat_map(|of| of.keys().cloned()));
    }
    inner.values().for_each(|value| choices(value, found));
}

#[test]
fn each_choice_with_values_has_a_form_that_is_taken() {
    let mut all = BTreeSet::new();
    choices(&schemars::schema_for!(Study).to_value(), &mut all);
    let told: BTreeSet<String> = WITH_VALUES.iter().map(|(name, _)| (*name).to_string()).collect();
    assert_eq!(told, all);
    for (name, form) in WITH_VALUES {
        let taken = ["pattern", "arrivals", "sync"].iter().any(|key| {
            let rest = if *name == "group_commit" { "\npattern = \"sequential\"\nread = \"0 %\"" } else { "" };
            planned(&with(&format!("{key} = {form}{rest}"))).is_ok()
        });
        assert!(taken || form.contains("AXIS"), "{name}: {form}");
    }
}
