"""Page docs/validation/drives.md: simulated drives next to published figures and known answers.

python -m validation.drives_page [--run | --run-long]

`--run` runs the tests of `tameshi-sim` and stores their known answers in
docs/validation/known-answers.csv and calibration-tests.csv; `--run-long` adds the long grids.
Without either, the page is made from these files, from calibration.csv (`make predictions`) and
from `data/published/`. `tests/unit/validation/test_validation_page.py` fails if the page is stale.
"""

from __future__ import annotations

import csv
import io
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path

from tameshi.core.data import PUBLISHED
from validation import LISTS, PAGES, ROOT
from validation.databases_page import lettered
from validation.predictions import MET_PERCENT, exceptions

FOLDER = PAGES
PAGE, ANSWERS, HELD = "drives.md", "known-answers.csv", "calibration-tests.csv"
RANGES = "orders_of_magnitude"
"""Group of exceptions that are ends of ranges, not figures."""
ANSWER, FIGURE = "known answer", "calibration"
"""Prefixes of the tests' output lines, whose fields are separated by tabs."""
ADDED = {ANSWERS: (), HELD: ("deviation_percent", "reason")}
"""Fields added to the lines."""
COLUMNS = {
    ANSWERS: ("test", "what", "expected", "found", "tolerance"),
    HELD: ("id", "published", "ours"),
}
IT = "crates/sim/tests/it"
PROMISES = (
    (
        "Write amplification of FIFO, random and d-choices cleaning within 2 % of the formulas",
        f"`{IT}/write_amplification.rs::first_come_first_reclaimed_meets_the_lambert_formula`, "
        f"`{IT}/write_amplification.rs::any_block_at_random_meets_one_over_the_spare`, "
        f"`{IT}/write_amplification.rs::the_best_of_a_few_meets_the_mean_field_limit`",
    ),
    (
        "Greedy cleaning within 2 % of the table; the whole grid",
        f"`{IT}/write_amplification.rs::greedy_meets_the_reference_table`, "
        f"`{IT}/write_amplification.rs::the_whole_grid_meets_the_reference_table` (long)",
    ),
    (
        "Effective beside nominal over-provisioning in record and report",
        f"`{IT}/flash.rs::the_record_tells_what_the_flash_went_through`, "
        "`tests/unit/report/test_endurance_section.py::"
        "test_storage_shows_amplification_spares_and_life`",
    ),
    (
        "Hard disks: first come first served, elevator, rotation-aware within 3 % of the tables",
        f"`{IT}/disk_answers.rs::"
        "fcfs_gains_only_the_overhead_from_depth`, "
        f"`{IT}/disk_answers.rs::a_sweeping_arm_gains_with_depth_as_the_reference_table_says`, "
        f"`{IT}/disk_answers.rs::"
        "sptf_order_matches_the_reference_tables`",
    ),
    (
        "Queues within 2 %: M/G/1, M/D/1, M/M/c, mean value analysis, Little's law",
        f"`{IT}/queueing.rs::wait_of_random_reads_meets_pollaczek_khinchine`, "
        f"`{IT}/queueing.rs::constant_service_waits_half_as_long_as_exponential`, "
        f"`{IT}/hosts.rs::several_processors_with_random_work_wait_as_m_m_c`, "
        f"`{IT}/hosts.rs::closed_loop_with_think_time_meets_mean_value_analysis`, "
        f"`{IT}/queueing.rs::mean_outstanding_meets_littles_law`",
    ),
    (
        "RAID and seek arithmetic",
        f"`{IT}/stacks.rs::a_small_write_to_parity_takes_two_reads_and_two_writes`, "
        f"`{IT}/stacks.rs::a_mirror_reads_from_both_and_writes_to_both`, "
        f"`{IT}/disk_answers.rs::"
        "lone_random_read_takes_overhead_seek_rotation_and_transfer`",
    ),
    (
        "Every request completes once: each device and stack, under reclaiming at depth 256, with "
        "mixes, when a member dies",
        f"`{IT}/device_suite.rs::hundreds_outstanding_are_conserved`, "
        f"`{IT}/flash.rs::"
        "mix_during_gc_at_depth_256_completes_each_command_once`, "
        f"`{IT}/flash.rs::"
        "member_death_during_gc_at_depth_256_loses_no_command`",
    ),
    (
        "Calibration figures within 5 %, or excepted with the reason",
        f"`{IT}/calibration.rs::published_figures_are_met`, "
        "`tests/unit/devices/test_calibration.py::"
        "test_every_calibration_figure_is_tested_or_excepted`",
    ),
    (
        "Rates and mean latencies change by less than 2 % up to a capacity scale of 128 (far "
        "percentiles, standard deviations and maxima by more)",
        f"`{IT}/calibration.rs::from_a_scale_of_128_on_results_no_longer_change` (long); "
        "[capacity-scale.md](capacity-scale.md) from the whole card on",
    ),
    (
        "The studies of drives give byte-identical results",
        "`tests/system/run/test_drive_studies.py::"
        "test_small_drive_study_repeats_its_results`, "
        "`tests/system/run/test_drive_studies.py::"
        "test_quick_drive_study_repeats_its_results` (long)",
    ),
    (
        "Memory: at most eight bytes for each mapping unit of flash, and a constant",
        "`crates/sim/tests/memory.rs::flash_mapping_unit_takes_at_most_8_bytes`",
    ),
)
MODULES = {
    "write_amplification": "Write amplification of the translation layer",
    "flash": "Flash drives",
    "slc_cache": "SLC caches",
    "disk_answers": "Hard disks",
    "queueing": "Queues",
    "hosts": "Hosts",
    "stacks": "Arrays, links and caches",
    "faults": "Rebuilds",
    "volumes": "Volumes",
    "calibration": "Capacity scale and states",
    "profiles": "Profiles of hosts",
}
"""Test files in the order of the page; others follow under their own names."""

Row = dict[str, str]


def main() -> None:
    """Run the requested tests, and write the page."""
    asked = set(sys.argv[1:])
    if asked - {"--run", "--run-long"}:
        sys.exit(__doc__)
    if asked:
        run(long="--run-long" in asked)
    (FOLDER / PAGE).write_text(page(), encoding="utf-8")


def run(*, long: bool) -> None:
    """Run tests and return their output; exit if one fails."""
    words = ["cargo", "test", "--locked", "-p", "tameshi-sim", "--test", "it", "--", "--nocapture"]
    words += ["--include-ignored"] if long else []
    lines = subprocess.run(
        words, cwd=ROOT, check=True, capture_output=True, encoding="utf-8"
    ).stdout
    for name, word in ((ANSWERS, f"{ANSWER}\t"), (HELD, f"{FIGURE}\t")):
        split_lines = [
            line[at:].split("\t") for line in lines.splitlines() if (at := line.find(word)) >= 0
        ]
        new = [dict(zip(COLUMNS[name], fields[1:], strict=True)) for fields in split_lines]
        keep(name, new)


def keep(name: str, new: Sequence[Row]) -> None:
    """Return a file's rows with those of the new run replaced."""
    first = COLUMNS[name][0]
    known = {row[first] for row in new}
    rows = [row for row in read(FOLDER / name) if row[first] not in known] if known else []
    rows = sorted([*rows, *new], key=lambda row: (row[first], row[COLUMNS[name][1]]))
    rows = [{**row, **deviation(row)} for row in rows] if name == HELD else rows
    text = io.StringIO()
    writer = csv.DictWriter(text, (*COLUMNS[name], *ADDED[name]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    (FOLDER / name).write_text(text.getvalue(), encoding="utf-8")


def deviation(row: Row) -> Row:
    """Return a figure's error, with the reason if it is too large, as in calibration.csv."""
    off = 100 * (float(row["ours"]) / float(row["published"]) - 1)
    reason = exceptions().get(row["id"], "") if abs(off) > MET_PERCENT else ""
    return {"deviation_percent": f"{off:+.1f}", "reason": reason}


def read(path: Path) -> list[Row]:
    """Return the rows of a table; empty without the file."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def page() -> str:
    """Return the page's text."""
    parts = [HEAD, *promises(), *published(), *answers()]
    return "\n".join(parts) + "\n"


def promises() -> Iterable[str]:
    """Return the guarantees with their tests."""
    yield "## What is held by which test"
    yield ""
    yield from table(("what", "test"), PROMISES)


def published() -> Iterable[str]:
    """Return calibration figures: ours next to them, those not met, and those of other things."""
    listed = {row["id"]: row for row in read(PUBLISHED / "calibration.csv")}
    ours = figures()
    groups = tomllib.loads((LISTS / "exceptions.toml").read_text("utf-8"))["group"]
    reasons = exceptions()
    met = [row for row in ours if abs(float(row["off"])) <= MET_PERCENT]
    missed = [row for row in ours if row not in met]
    yield PUBLISHED_HEAD
    ends = groups[RANGES]["figures"]
    counted = [row for row in ours if row["id"] not in ends]
    hit = sum(row in counted for row in met)
    yield f"Of {len(counted)} places where a study or a test gives one, {hit} are within 5 %."
    yield f"{len(ours) - len(counted)} ends of ranges of a power of ten are not counted."
    yield ""
    yield from table(
        ("figure", "of", "what", "published", "ours", "off", "by"),
        (
            (
                *(row["id"], listed[row["id"]]["system"], describe(listed[row["id"]])),
                *(f"{float(row[key]):.6g}" for key in ("published", "ours")),
                *(f"{float(row['off']):+.1f} %", row["by"]),
            )
            for row in ours
        ),
    )
    yield "### Not within 5 %"
    yield ""
    ids = sorted({row["id"] for row in missed})
    why, notes = lettered(
        [reasons.get(figure_id, "**no reason is written down**") for figure_id in ids]
    )
    rows = zip(ids, (offs(missed, figure_id) for figure_id in ids), why, strict=True)
    yield from table(("figure", "off", "why"), rows)
    yield from [*notes[1:], ""] if notes else []
    yield "### Figures that no drive gives"
    yield ""
    shown = {row["id"] for row in ours}
    rest = [
        (g["because"], [figure_id for figure_id in g["figures"] if figure_id not in shown])
        for g in groups.values()
    ]
    yield from table(
        ("why", "figures"),
        ((because, ", ".join(figure_id)) for because, figure_id in rest if figure_id),
    )


def offs(rows: Iterable[Row], figure: str) -> str:
    """Return the errors of a figure wherever it appears."""
    return ", ".join(f"{float(row['off']):+.1f} %" for row in rows if row["id"] == figure)


def describe(row: Row) -> str:
    """Return a figure of the list in words."""
    return ", ".join(part for part in (row["config"], row["metric"], row["unit"]) if part)


def figures() -> list[Row]:
    """Return every calibration figure of a study or a test."""
    rows = [
        {"id": r["id"], "published": r["published"], "ours": r["ours"], "by": f"`{r['study']}`"}
        for r in read(FOLDER / "calibration.csv")
    ]
    rows += [{**row, "by": "test"} for row in read(FOLDER / HELD)]
    for row in rows:
        row["off"] = str(100 * (float(row["ours"]) / float(row["published"]) - 1))
    return sorted(rows, key=lambda row: (row["id"], row["by"]))


def answers() -> Iterable[str]:
    """Return known answers by test file and test."""
    rows = read(FOLDER / ANSWERS)
    modules = dict.fromkeys([*MODULES, *(row["test"].partition("::")[0] for row in rows)])
    yield ANSWERS_HEAD
    for module in modules:
        mine = [row for row in rows if row["test"].partition("::")[0] == module]
        if mine:
            yield f"### {MODULES.get(module, module)}"
            yield ""
            yield from table(
                ("test", "what", "expected", "found", "off", "allowed"),
                (answer(row) for row in mine),
            )


def answer(row: Row) -> tuple[str, ...]:
    """Return a known answer as cells."""
    expected, measured = float(row["expected"]), float(row["found"])
    off = f"{100 * (measured / expected - 1):+.2f} %" if expected else ""
    test = row["test"].partition("::")[2].replace("_", " ")
    allowed = f"{100 * float(row['tolerance']):g} %"
    return (test, row["what"], f"{expected:.5g}", f"{measured:.5g}", off, allowed)


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterable[str]:
    """Return a table in Markdown, without repetitions in its first column."""
    yield "| " + " | ".join(heads) + " |"
    yield "|" + "---|" * len(heads)
    above = ""
    for row in rows:
        first = "" if row[0] == above else row[0]
        above = row[0]
        yield "| " + " | ".join([first, *row[1:]]) + " |"
    yield ""


HEAD = """# Simulated drives, and databases on them, beside what is known

<!-- written by `python -m validation.drives_page` -->
"""
PUBLISHED_HEAD = """## Published figures

Figures of `data/published/calibration.csv`, which may set parameters: what a study gives (`make
predictions`), and what the tests of `crates/sim/tests/it/calibration.rs` give of a drive alone.
What was fitted says so in its profile. Figures that are not known here are in
[predictions.csv](predictions.csv) ([how](../predictions.md)).
"""
ANSWERS_HEAD = """## Known answers

Comparisons of the tests of `crates/sim/tests/it` with formulas and reference tables, from their
last run for this page (`python -m validation.drives_page --run`; `--run-long` adds long grids),
with the tolerances. A test fails if one of its rows exceeds its tolerance. Write amplification is
at *effective* spare; each row's test holds that to the spare that the row names.
"""

if __name__ == "__main__":
    main()
