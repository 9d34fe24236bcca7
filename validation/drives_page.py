"""Makes docs/validation/drives.md: simulated drives beside published figures and known answers.

    python -m validation.drives_page [--run | --run-long]

`--run` runs the tests of `tameshi-sim` anew and keeps what they held against known answers in
docs/validation/known-answers.csv and calibration-tests.csv; `--run-long` also the long grids.
Without either the page is made from the files as they are, from calibration.csv (`make
predictions`) and from `data/published/`. `tests/unit/devices/test_validation_page.py` fails if the
page is stale.
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
"""The group of exceptions that are ends of ranges, not figures."""
ANSWER, FIGURE = "known answer", "calibration"
"""What the tests print before the fields of a line, which are parted by tabs."""
ADDED = {ANSWERS: (), HELD: ("deviation_percent", "reason")}
"""What is put to them."""
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
        "`tests/unit/report/test_endurance_shown.py::"
        "test_each_storage_shows_amplification_both_spares_and_life`",
    ),
    (
        "Hard disks: first come first served, elevator, rotation-aware within 3 % of the tables",
        f"`{IT}/disk_answers.rs::"
        "first_come_first_served_gains_nothing_with_depth_but_the_overhead`, "
        f"`{IT}/disk_answers.rs::a_sweeping_arm_gains_with_depth_as_the_reference_table_says`, "
        f"`{IT}/disk_answers.rs::"
        "what_comes_first_under_the_head_is_served_first_as_the_reference_tables_say`",
    ),
    (
        "Queues within 2 %: M/G/1, M/D/1, M/M/c, mean value analysis, Little's law",
        f"`{IT}/queueing.rs::the_wait_of_random_reads_is_pollaczek_and_khinchines`, "
        f"`{IT}/queueing.rs::a_constant_service_waits_half_as_long_as_an_exponential_one`, "
        f"`{IT}/hosts.rs::several_processors_with_random_work_wait_as_m_m_c`, "
        f"`{IT}/hosts.rs::a_closed_loop_with_think_time_runs_as_mean_value_analysis_says`, "
        f"`{IT}/queueing.rs::the_mean_number_outstanding_is_throughput_times_response`",
    ),
    (
        "RAID and seek arithmetic",
        f"`{IT}/stacks.rs::a_small_write_to_parity_takes_two_reads_and_two_writes`, "
        f"`{IT}/stacks.rs::a_mirror_reads_from_both_and_writes_to_both`, "
        f"`{IT}/disk_answers.rs::"
        "a_random_read_alone_takes_overhead_seek_half_a_revolution_and_transfer`",
    ),
    (
        "Every request completes once: each device and stack, under reclaiming at depth 256, with "
        "mixes, when a member dies",
        f"`{IT}/device_suite.rs::hundreds_outstanding_are_conserved`, "
        f"`{IT}/flash.rs::"
        "every_command_of_a_mix_completes_once_while_the_drive_reclaims_at_depth_256`, "
        f"`{IT}/flash.rs::"
        "every_command_of_a_mix_completes_once_when_a_member_dies_that_reclaims_at_depth_256`",
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
        "`crates/sim/tests/memory.rs::a_mapping_unit_of_flash_takes_eight_bytes_at_most`",
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
"""Test files, in the order of the page; others stand behind them under their own names."""

Row = dict[str, str]


def main() -> None:
    """Run what is asked for, and make the page."""
    asked = set(sys.argv[1:])
    if asked - {"--run", "--run-long"}:
        sys.exit(__doc__)
    if asked:
        run(long="--run-long" in asked)
    (FOLDER / PAGE).write_text(page(), encoding="utf-8")


def run(*, long: bool) -> None:
    """The tests, and what they print; a test that fails ends it."""
    words = ["cargo", "test", "--locked", "-p", "tameshi-sim", "--test", "it", "--", "--nocapture"]
    words += ["--include-ignored"] if long else []
    lines = subprocess.run(
        words, cwd=ROOT, check=True, capture_output=True, encoding="utf-8"
    ).stdout
    for name, word in ((ANSWERS, f"{ANSWER}\t"), (HELD, f"{FIGURE}\t")):
        found = [
            line[at:].split("\t") for line in lines.splitlines() if (at := line.find(word)) >= 0
        ]
        new = [dict(zip(COLUMNS[name], fields[1:], strict=True)) for fields in found]
        keep(name, new)


def keep(name: str, new: Sequence[Row]) -> None:
    """A file's rows of what was not run, and the new ones in place of the others."""
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
    """How far off a figure is, and the reason where that is too far: as in calibration.csv."""
    off = 100 * (float(row["ours"]) / float(row["published"]) - 1)
    reason = exceptions().get(row["id"], "") if abs(off) > MET_PERCENT else ""
    return {"deviation_percent": f"{off:+.1f}", "reason": reason}


def read(path: Path) -> list[Row]:
    """The rows of a table; none where there is no file."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def page() -> str:
    """The page's text."""
    parts = [HEAD, *promises(), *published(), *answers()]
    return "\n".join(parts) + "\n"


def promises() -> Iterable[str]:
    """What is held by which test."""
    yield "## What is held by which test"
    yield ""
    yield from table(("what", "test"), PROMISES)


def published() -> Iterable[str]:
    """Calibration figures: ours beside them, those that are not met, and those of other things."""
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
                *(row["id"], listed[row["id"]]["system"], said(listed[row["id"]])),
                *(f"{float(row[key]):.6g}" for key in ("published", "ours")),
                *(f"{float(row['off']):+.1f} %", row["by"]),
            )
            for row in ours
        ),
    )
    yield "### Not within 5 %"
    yield ""
    told = sorted({row["id"] for row in missed})
    why, notes = lettered([reasons.get(of, "**no reason is written down**") for of in told])
    rows = zip(told, (offs(missed, of) for of in told), why, strict=True)
    yield from table(("figure", "off", "why"), rows)
    yield from [*notes[1:], ""] if notes else []
    yield "### Figures that no drive gives"
    yield ""
    shown = {row["id"] for row in ours}
    rest = [(g["because"], [of for of in g["figures"] if of not in shown]) for g in groups.values()]
    yield from table(("why", "figures"), ((because, ", ".join(of)) for because, of in rest if of))


def offs(rows: Iterable[Row], figure: str) -> str:
    """How far off a figure is wherever it is given."""
    return ", ".join(f"{float(row['off']):+.1f} %" for row in rows if row["id"] == figure)


def said(row: Row) -> str:
    """What a figure of the list is, in its own words."""
    return ", ".join(part for part in (row["config"], row["metric"], row["unit"]) if part)


def figures() -> list[Row]:
    """Every calibration figure that a study or a test gives."""
    rows = [
        {"id": r["id"], "published": r["published"], "ours": r["ours"], "by": f"`{r['study']}`"}
        for r in read(FOLDER / "calibration.csv")
    ]
    rows += [{**row, "by": "test"} for row in read(FOLDER / HELD)]
    for row in rows:
        row["off"] = str(100 * (float(row["ours"]) / float(row["published"]) - 1))
    return sorted(rows, key=lambda row: (row["id"], row["by"]))


def answers() -> Iterable[str]:
    """Known answers by test file and test."""
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
    """A known answer as cells."""
    expected, found = float(row["expected"]), float(row["found"])
    off = f"{100 * (found / expected - 1):+.2f} %" if expected else ""
    test = row["test"].partition("::")[2].replace("_", " ")
    allowed = f"{100 * float(row['tolerance']):g} %"
    return (test, row["what"], f"{expected:.5g}", f"{found:.5g}", off, allowed)


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterable[str]:
    """A table in Markdown; what stands as in the row above is left out in the first column."""
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

What the tests of `crates/sim/tests/it` held against formulas and reference tables when they were
last run for this page (`python -m validation.drives_page --run`; `--run-long` adds long grids), and
how far off was allowed. A test fails when one of its rows is further off. Write amplification is
at *effective* spare; each row's test holds that to the spare that the row names.
"""

if __name__ == "__main__":
    main()
