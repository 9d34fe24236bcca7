//! Lists where tables belong: serde would take them for the tables' values in their order.

use crate::golden::check_golden;
use crate::support::{SMALL, planned, profiles};
use serde::de::DeserializeOwned;
use std::path::Path;
use tameshi_base::InputErrorKind::WrongType;
use tameshi_spec::axes::{combinations, take_axes, take_quick};
use tameshi_spec::document::{Source, Table};
use tameshi_spec::plan::{Request, plan};
use tameshi_spec::profile::{ArrayProfile, DeviceProfile, EngineProfile, HostProfile, LinkProfile};
use tameshi_spec::run::World;
use tameshi_spec::study::Study;
use toml::de::{DeArray, DeValue};

/// Name of the golden text, and what is appended to (or replaced in) the small study.
const CASES: &[(&str, &str, &str)] = &[
    ("run_that_is_a_list", "[storage.disk]", "run = []\n[storage.disk]"),
    ("run_that_is_a_list_of_words", "[storage.disk]", "run = [\"x\"]\n[storage.disk]"),
    ("run_that_is_a_list_of_tables", "[storage.disk]", "[[run]]\nrepetitions = 3\n[storage.disk]"),
    ("storage_that_is_a_list", "[storage.disk]\ndevice = \"null\"", "storage.disk = []"),
    ("stack_that_is_a_list", "device = \"null\"", "raid0 = []"),
    ("end_that_is_a_list", "{ time = \"1 s\" }", "[]"),
    ("published_list_of_lists", "[storage.disk]", "published = [[]]\n[storage.disk]"),
    ("axes_that_are_a_list", "[storage.disk]", "axis = []\n[storage.disk]"),
    ("axis_that_is_a_list", "[storage.disk]", "axis.a = []\n[storage.disk]"),
    ("level_that_is_a_list", "[storage.disk]", "axis.a.one = []\n[storage.disk]"),
    ("list_within_a_level", "[storage.disk]", "axis.a.one.run = []\n[storage.disk]"),
    ("list_among_the_levels", "[storage.disk]", "[axis.a]\nset = \"storage.disk\"\nlevels = [[]]\n[storage.disk]"),
    (
        "list_within_a_level_over_phases",
        "[storage.disk]",
        "axis.a = { varies = \"within\", one.run = [] }\n[storage.disk]",
    ),
];

#[test]
fn list_in_place_of_a_table_is_refused() {
    for (name, from, to) in CASES {
        assert!(SMALL.contains(from), "{name}: the small study holds no `{from}`");
        let error = planned(&SMALL.replacen(from, to, 1)).expect_err(name);
        assert_eq!((error.kind, error.accepted.join(" ").as_str()), (WrongType, "a table"), "{name}: {error}");
        check_golden(name, &error.to_string());
    }
}

#[test]
fn choice_without_values_is_a_word() {
    for (name, pattern) in [
        ("pattern_that_is_a_list", "pattern = { sequential = [] }"),
        ("pattern_that_is_a_table", "pattern.sequential = {}"),
    ] {
        let text = SMALL.replacen("[workload.stream.s]", &format!("[workload.stream.s]\n{pattern}"), 1);
        check_golden(name, &planned(&text).expect_err(name).to_string());
    }
}

#[test]
fn list_in_the_quick_part_is_refused_at_its_place() {
    let text = SMALL.replacen("[storage.disk]", "quick.run = []\n[storage.disk]", 1);
    let request = Request { quick: true, ..Request::new(World::Simulated) };
    let error =
        plan("t", Source { file: "t.toml", text: &text }, &request, &profiles(), &|_| Vec::new()).expect_err("a list");
    check_golden("list_within_the_quick_part", &error.to_string());
}

/// The value as often as there are tables in it, each time with a list in place of another one.
fn with_a_list<'t>(value: &DeValue<'t>) -> Vec<DeValue<'t>> {
    match value {
        DeValue::Table(table) => {
            let within = table.iter().flat_map(|(key, inner)| {
                with_a_list(inner.get_ref()).into_iter().map(move |changed| {
                    let mut table = table.clone();
                    *table[key.get_ref().as_ref()].get_mut() = changed;
                    DeValue::Table(table)
                })
            });
            [DeValue::Array(DeArray::new())].into_iter().chain(within).collect()
        }
        DeValue::Array(items) => (0..items.len())
            .flat_map(|index| {
                with_a_list(items[index].get_ref()).into_iter().map(move |changed| {
                    let mut items = items.clone();
                    *items.as_mut()[index].get_mut() = changed;
                    DeValue::Array(items)
                })
            })
            .collect(),
        _ => vec![],
    }
}

/// Number of tables in a document that types; the document must not type if a list replaces any of
/// them.
fn tables_that_must_be<T: DeserializeOwned>(source: Source<'_>, table: &Table<'_>) -> usize {
    source.typed::<T>(table).map(|_| ()).unwrap_or_else(|error| panic!("{error}"));
    let mut count = 0;
    for changed in with_a_list(&DeValue::Table(table.clone())) {
        let DeValue::Table(changed) = changed else { continue };
        let Err(error) = source.typed::<T>(&changed) else { panic!("{}: taken: {changed:?}", source.file) };
        assert_eq!(error.kind, WrongType, "{error}");
        count += 1;
    }
    count
}

fn each_text(folder: &str, with: impl for<'t> Fn(Source<'t>, Table<'t>) -> usize) -> usize {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let paths = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .map(|path| {
            let text = std::fs::read_to_string(&path).expect("a text");
            let source = Source { file: &path.display().to_string(), text: &text };
            with(source, source.parse().unwrap_or_else(|error| panic!("{error}")))
        })
        .sum()
}

#[test]
fn no_table_of_a_profile_can_be_a_list() {
    let counts = [
        each_text("python/tameshi/data/profiles/devices", |source, table| {
            tables_that_must_be::<DeviceProfile>(source, &table)
        }),
        each_text("python/tameshi/data/profiles/arrays", |source, table| {
            tables_that_must_be::<ArrayProfile>(source, &table)
        }),
        each_text("python/tameshi/data/profiles/links", |source, table| {
            tables_that_must_be::<LinkProfile>(source, &table)
        }),
        each_text("python/tameshi/data/profiles/hosts", |source, table| {
            tables_that_must_be::<HostProfile>(source, &table)
        }),
        each_text("python/tameshi/data/profiles/engines", |source, table| {
            tables_that_must_be::<EngineProfile>(source, &table)
        }),
    ];
    assert!(counts.iter().all(|count| *count > 5), "{counts:?}");
}

/// The same of a study's first cell; the others type.
fn tables_of_a_study<'t>(source: Source<'t>, mut document: Table<'t>) -> usize {
    let axes = take_axes(source, &mut document).unwrap_or_else(|error| panic!("{error}"));
    let cells = combinations(&document, &axes.iter().collect::<Vec<_>>());
    for cell in &cells {
        source.typed::<Study>(&cell.table).map(|_| ()).unwrap_or_else(|error| panic!("{error}"));
    }
    tables_that_must_be::<Study>(source, &cells[0].table)
}

#[test]
fn no_table_of_a_study_can_be_a_list() {
    let count = each_text("python/tameshi/data/studies", |source, mut document| {
        take_quick(source, &mut document).unwrap_or_else(|error| panic!("{error}"));
        tables_of_a_study(source, document)
    });
    assert!(count > 500, "{count}");
}

#[test]
fn duplicate_key_error_names_the_first_line() {
    let stream = "[workload.stream.s]";
    for (name, from, more) in [
        ("key_that_stands_twice", stream, "queue_depth = 4\nspan = \"1 MiB\"\nqueue_depth = 8"),
        ("key_that_stands_twice_in_two_forms", stream, "arrivals.poisson.rate = \"5 /s\"\narrivals = \"closed\""),
        ("key_that_stands_twice_in_a_line", stream, "arrivals.bursts = { requests = 64, requests = 65 }"),
        ("table_that_stands_twice", "device = \"null\"", "[workload.stream.t]\n[storage.disk]"),
    ] {
        let text = SMALL.replacen(from, &format!("{from}\n{more}"), 1);
        check_golden(name, &planned(&text).expect_err(name).to_string());
    }
}
