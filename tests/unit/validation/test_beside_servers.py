"""Servers on emulated drives beside simulated ones: bars, ratios, warm-up, cells, their study."""

from __future__ import annotations

import argparse
import json
import math
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from bench.beside_servers import (
    FITTED,
    Kept,
    Measured,
    Step,
    fitted_clock,
    path_share,
    rows_of,
    steps,
    unsound,
)
from validation import beside_servers as evidence
from validation.beside_servers import (
    LEAST_COUNT,
    NINE_TENTHS,
    RATE,
    Row,
    floor_of,
    judged,
    nine_tenths,
    page,
    ratios,
)
from validation.server_cells import (
    HOST_CELL,
    REPEATED,
    STORAGES,
    Cell,
    HostPath,
    all_cells,
    digest_of,
    engine_profile,
    host_profile,
    repeated,
    study_text,
)

from tameshi.study.file import StudyFile, plan


def row(storage: str, known: float, ours: float, figure: str = RATE, **more: object) -> Row:
    made = Row(storage, "key_update", "small", "1", 8, figure, known, None, ours)
    return replace(made, **more)


@pytest.mark.parametrize(("known", "ours"), [(100.0, 125.0), (125.0, 100.0)])
def test_error_of_a_cell_is_a_factor_either_way(known: float, ours: float) -> None:
    assert row("disk", known, ours).error == pytest.approx(0.25)


def test_count_next_to_zero_is_no_evidence() -> None:
    assert not row("disk", 0.001, LEAST_COUNT / 2, "reads").counts
    some = row("disk", 0.0, 3 * LEAST_COUNT, "reads")
    assert some.counts
    assert some.factor == pytest.approx(3)


@pytest.mark.parametrize("why", [{"fitted": FITTED}, {"invalid": "served_moved"}])
def test_fitted_and_invalid_cells_do_not_count(why: dict[str, str]) -> None:
    assert not row("disk", 1.0, 2.0, **why).counts


def test_ratio_counts_from_one_and_a_half_on() -> None:
    rows = [row("disk", 100, 100), row("raid10", 149, 500), row("nvme", 300, 150)]
    found = {(each.above.storage, each.below.storage): each for each in ratios(rows)}
    assert set(found) == {("nvme", "disk"), ("nvme", "raid10")}
    assert found["nvme", "disk"].error == pytest.approx(1.0)
    assert not found["nvme", "disk"].is_wrong_sign
    assert found["nvme", "raid10"].is_wrong_sign


def test_ratio_is_of_cells_of_one_kind() -> None:
    assert ratios([row("disk", 1, 1), row("nvme", 9, 9, pool="large")]) == []


def test_bar_of_levels_lies_beyond_the_floor() -> None:
    rows = [row("disk", 100, 120, again=90.0), row("raid10", 100, 120), row("nvme", 100, 120)]
    (level,) = (each for each in judged(rows) if each.name.startswith("transactions"))
    assert (level.number, level.value) == (3, pytest.approx(0.2))
    assert level.floor == pytest.approx(1 / 9)
    assert level.is_met
    (level, *_) = judged([replace(each, again=None) for each in rows])
    assert (level.floor, level.is_met) == (None, False)


def test_floor_of_ratios_is_that_of_two_rates() -> None:
    rows = [row("disk", 100, 100, again=110.0), row("nvme", 1000, 1000)]
    by_name = {each.name: each for each in judged(rows)}
    floor = by_name["ratios of two storages, median"].floor
    assert floor == pytest.approx(math.sqrt(2) * 0.1)
    assert by_name["ratios of two storages, share within 25 %"].value == 1
    assert by_name["ratios of two storages, wrong sign"].is_met


def test_share_of_near_ratios_misses_below_nine_tenths() -> None:
    rows = [row("disk", 100, 100), row("raid10", 300, 300), row("nvme", 900, 2000)]
    by_name = {each.name: each for each in judged(rows)}
    near = by_name["ratios of two storages, share within 25 %"]
    assert (near.number, near.value, near.is_met) == (3, pytest.approx(1 / 3), False)


def test_ratio_across_slow_motions_is_told_apart() -> None:
    rows = [row("disk", 100, 100, slow=1), row("sata", 300, 300), row("nvme", 900, 900)]
    by_name = {each.name: each.number for each in judged(rows)}
    assert by_name["ratios of two storages, median"] == 3
    assert by_name["ratios within one slow motion, median"] == 1


def test_figure_without_a_bar_is_shown_and_not_judged() -> None:
    (writes,) = judged([row("disk", 4, 5, "writes")])
    assert (writes.value, writes.is_met) == (pytest.approx(0.25), None)


def test_invalid_cell_sets_no_floor() -> None:
    assert floor_of([row("disk", 1, 1, again=2.0, invalid="client_busy")], RATE) is None


def test_nine_tenths_is_where_a_moving_mean_reaches_it() -> None:
    # Five intervals hold nine tenths of the final rate for the first time at the end of the 15th.
    rates = [0.0] * 10 + [100.0] * 90
    assert nine_tenths(rates, 0.5) == pytest.approx(15 * 0.5)
    rising = [float(number) for number in range(100)]
    # The last quarter has a mean of 87, nine tenths of which are 78.3: 77 to 81 have a mean of 79.
    assert nine_tenths(rising, 1.0) == pytest.approx(82)


@pytest.mark.parametrize("rates", [[], [1.0] * 8, [5.0] * 50 + [0.0] * 50])
def test_nine_tenths_of_too_little_is_unknown(rates: list[float]) -> None:
    assert nine_tenths(rates, 1.0) is None


def test_table_reads_back_as_written(tmp_path: Path) -> None:
    rows = [row("disk", 100, 120, again=90.5), row("nvme", 1, 2, "syncs", invalid="a, b")]
    evidence.write(rows, tmp_path / "servers.csv")
    assert evidence.read(tmp_path / "servers.csv") == rows
    assert evidence.read(tmp_path / "none.csv") == []


def test_page_names_what_is_measured_and_what_is_left_out() -> None:
    rows = [row("disk", 100, 120, again=90.0), row("nvme", 900, 700, invalid="served_moved")]
    made = page(rows, 112)
    assert "2 of 112 cells are measured, 1 of them twice." in made
    assert "| nvme-key_update-small-1 | served_moved |" in made
    assert "| disk | 20 % (1.20) |" in made
    assert "0 of 112" in page([], 112)


def test_page_equals_its_table() -> None:
    made = page(evidence.read(), len(all_cells()))
    stale = "stale: python -m bench.beside_servers --simulated --write"
    assert evidence.PAGE.read_text(encoding="utf-8") == made, stale


def test_matrix_has_112_cells_and_the_hosts_first() -> None:
    cells = all_cells()
    assert (len(cells), len(set(cells)), cells[0]) == (112, 112, HOST_CELL)
    twice = repeated(cells)
    assert len(set(twice)) == REPEATED
    assert {cell.storage for cell in twice} == set(STORAGES)
    assert len({cell.load for cell in twice}) == 4


def test_selection_keeps_the_hosts_cell() -> None:
    asked = argparse.Namespace(storage=["disk"], load=["tpcc"], pool=None)
    chosen = steps(asked)
    assert chosen[0] == Step(HOST_CELL)
    once = [step.cell for step in chosen if step.repetitions == 1]
    assert [cell.name for cell in once[1:]] == [
        "disk-tpcc-medium-1",
        "disk-tpcc-small-1",
        "disk-tpcc-large-1",
    ]
    again = [step.cell for step in chosen if step.repetitions == 2]
    assert set(again) == set(repeated(all_cells())) & set(once)


@pytest.mark.parametrize("storage", STORAGES)
def test_study_of_a_storage_runs_in_both_worlds(storage: str) -> None:
    cells = [cell for cell in all_cells() if cell.storage == storage]
    slow = cells[0].slow
    extra = {
        "hosts": [("this-machine", "host", host_profile(2.5e9, HostPath(20.0, 10.0, 30.0), slow))],
        "engines": [("mariadb-10.11", "engine", engine_profile(slow))],
    }
    path = Path("nowhere/beside-servers.toml")
    text = study_text(cells, host="this-machine")
    simulated = plan(StudyFile("s", path, text, extra), "simulated", quick=False)
    assert simulated.refusals == []
    assert [run.cell["cell"] for run in simulated.runs] == [cell.name for cell in cells]
    for cell in cells:
        alone = StudyFile("s", path, study_text([cell], repetitions=2))
        planned = plan(alone, "emulated", quick=False)
        assert planned.refusals == []
        assert [list(run.storage) for run in planned.runs] == [[storage]] * 2
        starts = {run.start.value for run in planned.runs}
        assert starts == {"cold" if cell.is_cold else "warm"}


def test_repetition_of_a_cell_keeps_its_first_run() -> None:
    path = Path("nowhere/beside-servers.toml")
    (once,) = plan(StudyFile("s", path, study_text([HOST_CELL])), "emulated", quick=False).runs
    twice = StudyFile("s", path, study_text([HOST_CELL], repetitions=2))
    first, again = plan(twice, "emulated", quick=False).runs
    assert (first, again.repetition) == (once, 1)
    assert once.database and again.database
    assert once.database.seed == again.database.seed, "one data set"


def test_engine_in_slow_motion_computes_faster() -> None:
    assert 'clock      = { value = "300000000 /s"' in engine_profile(8)


def test_fit_of_the_host_ends_at_the_measured_rate() -> None:
    # Three fifths of the time do not depend on the processors.
    def rate(clock: float) -> float:
        return 1 / (0.6e-3 + 0.4e-3 * 2.4e9 / clock)

    clock = fitted_clock(1100.0, rate)
    assert rate(clock) == pytest.approx(1100, rel=0.005)


def test_kept_cells_survive_interruption(tmp_path: Path) -> None:
    kept, cell = Kept(tmp_path), all_cells()[5]
    assert kept.all() == {}
    kept.keep(cell, Measured({RATE: [5.0]}, digest=digest_of(cell)))
    (tmp_path / "cells" / f"{HOST_CELL.name}.json").write_text('{"figures": {"ra')
    again = Kept(tmp_path)
    assert again.is_done(Step(cell))
    assert not again.is_done(Step(cell, 2))
    assert not again.is_done(Step(HOST_CELL))
    kept.keep(cell, Measured({RATE: [5.0]}, digest="of another study"))
    assert not again.is_done(Step(cell))


def test_rows_hold_both_worlds_and_the_fitted_cell() -> None:
    cell = Cell("disk", "read_only", "medium", "1")
    known = {
        HOST_CELL: Measured({RATE: [9.0]}),
        cell: Measured({RATE: [5.0, 6.0], NINE_TENTHS: [2.0]}),
    }
    ours = {
        HOST_CELL.name: Measured({RATE: [9.0]}),
        cell.name: Measured({RATE: [4.0], NINE_TENTHS: []}),
    }
    fitted, level = rows_of(known, ours)
    assert (fitted.fitted, level.fitted) == (FITTED, "")
    assert (level.reference, level.again, level.ours) == (5.0, 6.0, 4.0)


@pytest.mark.parametrize(
    ("level", "code", "path", "found"),
    [
        ("invalid", "not_warm", 0.0, ["not_warm"]),
        ("warning", "served_path", 0.2, []),
        ("warning", "served_path", 0.7, ["served_path 70%"]),
        ("warning", "served_short", 0.1, ["served_short"]),
        ("warning", "served_late", 0.1, []),
    ],
)
def test_cell_with_a_longer_path_is_unsound(
    level: str, code: str, path: float, found: list[str]
) -> None:
    why = {"code": code, "subject": "disk", "values": {}}
    assert unsound({"level": level, "reasons": [why]}, path) == found


@pytest.mark.parametrize(("reads", "share"), [(100, 0.1), (1, 0.75)])
def test_path_is_that_of_reads_if_there_are_some(tmp_path: Path, reads: int, share: float) -> None:
    counts = {"read": reads, "write": 100, "flush": 0, "trim": 0}
    operations = {
        kind: {"operations": count, "met_ns": {"mean": 90.0 if kind == "read" else 25.0}}
        for kind, count in counts.items()
    }
    kernel_ns = {"read": 100 * reads, "write": 100 * 100}
    figures = {"kind": "drive_figures", "operations": operations, "kernel_ns": kernel_ns}
    (tmp_path / "events.jsonl").write_text(json.dumps(figures) + "\n", encoding="utf-8")
    found = path_share(SimpleNamespace(folder=tmp_path))  # type: ignore[arg-type]
    assert found == pytest.approx(share, abs=0.01)
