"""Answer, tables and caveats."""

from __future__ import annotations

import html
import io
import re
from pathlib import Path
from typing import Any

import first_look
import pytest
from rich.console import Console

from tameshi.report.sections import published, validity
from tameshi.report.sections.answer import answers, overview
from tameshi.report.sections.matrices import matrices
from tameshi.report.study import (
    markdown,
    render,
    terminal,
    terminal_doubts,
    terminal_summary,
)
from tameshi.report.view.figures import figures
from tameshi.report.view.inputs import ReportInputs
from tameshi.report.view.key_figures import ratio_of
from tameshi.report.view.points import read_results
from tameshi.report.words.strings import LANGUAGES
from tameshi.report.words.text import Text

TEXT = Text()
ROOT = Path(__file__).resolve().parents[3]
SHOWN_ROWS = ("| rates |", "| means |", "| medians |")


def test_five_lines_answer_the_study() -> None:
    lines = terminal_summary(first_look.inputs())
    topics = [line.split(" — ")[0] for line in lines]
    assert topics == [
        "Peak rate",
        "Latency at depth 1",
        "Throughput",
        "Commits",
        "Interference",
    ]
    assert "Simulated: Random read reaches 427 IOPS (419–438)" in lines[0]
    assert "each at depth 64." in lines[0]
    assert "and 15.2 ms (14.5–16.1) at p99" in lines[1]
    assert "Read: 187 MB/s (183–191); write: 184 MB/s (180–188)." in lines[2]
    assert "takes 4.10 ms (3.99–4.23) on average and 9.84 ms (9.35–10.43) at p99" in lines[3]
    assert "14.4 ms (13.7–15.3) in “alone” to 34.6 ms (32.8–36.6) in “under writes”" in lines[4]
    assert lines[4].endswith("2.40 × (2.22–2.59).")


def test_missing_intervals_are_told_once_by_the_key_figures() -> None:
    inputs = ReportInputs(first_look.without_intervals(first_look.results(("simulated",))))
    assert not any("interval" in line for line in terminal_summary(inputs))
    table = overview(read_results(inputs.results), TEXT)
    assert table.note == ""
    assert table.caption == "Key figures, without intervals: single runs, or too little data"


def test_figures_that_depend_on_the_drives_size_are_marked() -> None:
    data = first_look.results(("simulated",))
    for cell, scale in zip(data["cells"], (1, 64), strict=False):
        for entry in cell["estimates"]:
            if entry["metric"].endswith(".max"):
                entry |= {"operations": 240_000, "scale": scale}
    shown = [
        str(cell)
        for table in matrices(read_results(data), TEXT)
        for row in table.rows
        for cell in row.cells
        if "of 240 k" in str(cell)
    ]
    assert len(shown) == 2
    assert "†" not in shown[0] and "†" in shown[1]
    notes = " ".join(table.note for table in matrices(read_results(data), TEXT))
    assert "reduced capacity" in notes


def test_value_without_interval_has_no_note_in_a_sentence() -> None:
    data = first_look.results(("simulated",))
    commit = next(c for c in data["cells"] if c["phase"] == "commit")
    commit["estimates"][0]["sampling"] |= {"low": None, "high": None, "runs": 1}
    commits = terminal_summary(ReportInputs(data))[3]
    assert commits.endswith("at p99: 244 commits per second.")


@pytest.mark.parametrize(
    ("lang", "topics", "left"),
    [
        ("en", ["Peak rate in “{}”", "Latency at depth 1 in “{}”"], "See the report's tables"),
        ("ja", ["「{}」の最大IOPS", "「{}」の深度 1でのレイテンシ"], "ほかの1項目は"),
    ],
)
def test_lines_on_several_phases_name_theirs_and_count_the_rest(
    lang: str, topics: list[str], left: str
) -> None:
    def study(*phases: str) -> ReportInputs:
        data = first_look.results(("simulated",))
        sweep = [cell for cell in data["cells"] if cell["phase"] == "sweep"]
        cells = [
            first_look.cell("simulated", phase, cell["levels"], cell["estimates"])
            for phase in phases
            for cell in sweep
        ]
        return ReportInputs(data | {"cells": cells})

    def named(phase: str) -> list[str]:
        return [topic.format(phase) for topic in topics]

    two, three = study("one", "many"), study("one", "many", "big")
    lines = terminal_summary(two, lang)
    assert [line.split(" — ")[0] for line in lines] == [*named("one"), *named("many")]
    *first, fifth, last = terminal_summary(three, lang)
    assert first == lines and fifth.startswith(named("big")[0])
    assert last.split(" — ")[1].startswith(left), "of no world alone"
    assert f"  - {left}" in markdown(three, lang)
    assert f"<dd>{left}" in html.unescape(render(three, lang))


def test_unfinished_study_has_no_answer() -> None:
    data = first_look.results() | {"cells": []}
    assert terminal_summary(ReportInputs(data)) == ["No cell has a result yet."]
    assert markdown(ReportInputs(data))


def test_streams_are_compared_only_on_request() -> None:
    levels = [(s, p) for s in ("disk", "flash") for p in ("small", "large")]
    cells = [
        first_look.cell(
            "simulated",
            "steady",
            {"storage": storage, "pool": pool},
            [
                first_look.estimate("write.iops", "tpcc", 1000.0 * (i + 1)),
                first_look.estimate("write.latency.p99", "tpcc", 1e6 * (i + 1)),
            ],
        )
        for i, (storage, pool) in enumerate(levels)
    ]
    axes = [
        {"name": "storage", "varies": "across", "levels": ["disk", "flash"]},
        {"name": "pool", "varies": "across", "levels": ["small", "large"]},
    ]
    view = read_results(first_look.results() | {"axes": axes, "cells": cells})
    lines = answers(view, TEXT)
    assert [line.topic for line in lines] == ["Throughput", "Tail latency"]
    assert lines[0].clauses[0].sentence.startswith("Disk · small: 1.00 k IOPS")


def test_many_series_show_the_extremes() -> None:
    def loaded(phase: str, levels: dict[str, str], rate: float, size: int) -> dict[str, Any]:
        load = first_look.load("read", "s", rate, 1e9 / rate, size)
        return first_look.cell("simulated", phase, levels, load)

    depths, names = ("1", "2"), tuple("abcdefgh")
    axes = [
        {"name": "depth", "varies": "within", "levels": list(depths)},
        {"name": "pattern", "varies": "within", "levels": list(names)},
    ]
    cells = [
        loaded("cell", {"depth": depth, "pattern": name}, 100.0 * int(depth) + place, 4096)
        for depth in depths
        for place, name in enumerate(names, 1)
    ]
    cells += [loaded(f"p{i}", {}, 1000.0 + i, 4096) for i in range(7)]
    cells.append(loaded("fill", {}, 500.0, 1 << 20))
    view = read_results(first_look.results() | {"axes": axes, "cells": cells})
    shown = {line.topic: line.clauses[0].sentence for line in answers(view, TEXT)}
    assert shown["Peak rate"] == (
        "A reaches 201 IOPS (197–206); h 208 (204–213); the other 6 "
        "lie between them, each at depth 2."
    )
    most, fill = shown["Throughput"].split("; ")
    assert most.startswith("Maximum p6 · read: 1.01 k") and "minimum p0 · read: 1.00 k" in most
    assert fill.startswith("fill · read: 524 MB/s")


def test_overview_shows_worlds_side_by_side() -> None:
    table = overview(read_results(first_look.results()), TEXT)
    assert [c.label for c in table.columns] == [
        "Quantity",
        "Measured",
        "Simulated",
        "Simulated ÷ Measured",
    ]
    row = next(r for r in table.rows if r.head == "commit: mean latency")
    assert [str(cell) for cell in row.cells] == [
        "612 µs (596–632)",
        "4.10 ms (3.99–4.23)",
        "6.70 × (6.43–6.98)",
    ]


def test_studys_own_ratio_goes_before_ours() -> None:
    data = first_look.results()
    data["ratios"] = [
        {
            "metric": "commit.rate",
            "subject": "log",
            "phase": "commit",
            "numerator": {"world": "simulated", "levels": {}},
            "denominator": {"world": "measured", "levels": {}},
            "value": 0.15,
            "sampling": {"low": 0.14, "high": 0.16, "runs": 3, "method": "bootstrap"},
        }
    ]
    view = read_results(data)
    rates = {p.world: p for p in view.in_phase("commit") if p.measure == "rate"}
    given = ratio_of(view, rates["simulated"], rates["measured"])
    inverse = ratio_of(view, rates["measured"], rates["simulated"])
    computed = ratio_of(read_results(first_look.results()), *rates.values())
    assert given is not None and (given.value, given.low, given.high) == (0.15, 0.14, 0.16)
    assert inverse is not None and (inverse.value, inverse.low) == (1 / 0.15, 1 / 0.16)
    assert computed is not None and computed.value == pytest.approx(6.699, abs=0.001)


def test_mover_is_symmetric_and_wider_than_either_side() -> None:
    view = read_results(first_look.results())
    a, b = (p for p in view.in_phase("commit") if p.measure == "rate")
    ratio, inverse = ratio_of(view, a, b), ratio_of(view, b, a)
    assert ratio and inverse and ratio.low and ratio.high and inverse.low and a.low
    assert ratio.high == pytest.approx(1 / inverse.low)
    assert ratio.low / ratio.value < a.low / a.value


def test_sweep_makes_a_matrix() -> None:
    table = next(
        t for t in matrices(read_results(first_look.results()), TEXT) if t.id == "matrix-sweep-rate"
    )
    assert [row.head for row in table.rows] == list(first_look.DEPTHS)
    assert [(c.label, c.group) for c in table.columns[4:6]] == [
        ("sequential write", "Measured"),
        ("random read", "Simulated"),
    ]


def test_two_named_axes_make_a_matrix_of_reads_and_writes() -> None:
    blocks, mixes = ("64 KiB", "4 KiB", "512 B"), {"100/0": (10.0, 0), "50/50": (4.0, 3.0)}

    def cell(mix: str, block: str) -> dict[str, Any]:
        rates = zip(("read", "write"), mixes[mix], strict=True)
        result = [{"metric": f"{op}.iops", "subject": "s", "value": v} for op, v in rates if v]
        levels = {"mix": mix, "block": block}
        return {"world": "simulated", "phase": "cell", "levels": levels, "estimates": result}

    axes = [{"name": "mix", "levels": list(mixes)}, {"name": "block", "levels": list(blocks)}]
    cells = [cell(mix, block) for mix in mixes for block in blocks]
    total, apart = matrices(read_results({"axes": axes, "cells": cells}), TEXT)
    assert [row.head for row in total.rows] == [row.head for row in apart.rows] == list(blocks)
    assert [column.label for column in total.columns] == ["block", "100/0", "50/50"]
    assert [c.value for c in total.rows[0].cells] == ["10.0", "7.00"]
    assert len(apart.columns) == 4, "reads, and of the mix reads and writes"
    assert "reads and writes together" in total.caption


def test_verdicts_list_invalid_cells_first() -> None:
    table = validity.verdicts(read_results(first_look.blemished()), TEXT)
    assert [row.mark for row in table.rows] == ["invalid", "warning", "valid", "valid"]
    assert [c.value for c in table.rows[0].cells] == [
        "Measured",
        "sweep",
        "random read, depth 256",
        "0 / 0 / 3",
        "no run was completed",
    ]
    assert table.rows[2].cells[2].value == "39 of 41"


def test_caveats_list_failed_and_partial_cells_and_the_model() -> None:
    inputs = first_look.inputs(first_look.blemished())
    data = validity.caveats(read_results(inputs.results), inputs.environments, TEXT)
    assert "Failed: Measured · sweep · random read, depth 256 (3 of 3 runs)." in data
    assert any("Partial: Measured · sweep · sequential write, depth 128" in c for c in data)
    assert any("15k rpm hard disk, 146 GB" in c for c in data)


def test_missing_model_name_still_says_model() -> None:
    assert validity.model_label("simulated", {}, TEXT) == "a model, not a measurement"
    assert validity.model_label("measured", {"model": "x"}, TEXT) == ""


def test_slow_motion_is_in_the_label_and_a_caveat() -> None:
    data = first_look.results(("simulated",))
    for cell in data["cells"]:
        cell["world"] = "emulated"
    slow, none = {"model": "x", "slow": 4}, {"model": "x"}
    label = validity.model_label("emulated", slow, TEXT)
    assert label == validity.model_label("emulated", none, TEXT) + ", in slow motion × 4"
    told = [
        " ".join(validity.caveats(read_results(data), {"emulated": each}, TEXT))
        for each in (slow, none)
    ]
    assert "took 4 s of wall time" in told[0] and "slow motion" not in told[1]


@pytest.mark.parametrize("change", [{"scale": 128}, {"model": {"inside_range": False}}])
def test_scale_and_range_are_caveats(change: dict[str, Any]) -> None:
    data = first_look.results(("simulated",))
    data["cells"][0]["estimates"][0] |= change
    shown = " ".join(validity.caveats(read_results(data), {}, TEXT))
    assert ("part of their capacity: 1/128" in shown) or ("not validated for sweep" in shown)


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_scale_is_judged_by_its_validation(lang: str) -> None:
    page = (ROOT / "docs" / "validation" / "capacity-scale.md").read_text(encoding="utf-8")
    most = validity.SHOWN_SCALE
    assert f"at any n up to {most}:" in page
    largest = [line.split("|")[2] for line in page.splitlines() if line.startswith(SHOWN_ROWS)]
    assert len(largest) == 3
    assert max(float(shown.split("%")[0]) for shown in largest) == validity.SHOWN_CHANGE
    for scale, is_shown in ((most, True), (2 * most, False)):
        data = first_look.results(("simulated",))
        data["cells"][0]["estimates"][0]["scale"] = scale
        shown = " ".join(validity.caveats(read_results(data), {}, Text(lang)))
        assert f"1/{scale}" in shown and (f"{validity.SHOWN_CHANGE} %" in shown) == is_shown


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_extrapolation_of_fast_mode_is_a_caveat_with_its_error(lang: str) -> None:
    pages = (ROOT / "docs" / "validation").glob("database-modes*.md")
    rows = [line.split("|") for page in pages for line in page.read_text("utf-8").splitlines()]
    # Third column of the first table: `+1.2 %`; that of the second is a request's.
    rates = [float(row[3].split("%")[0]) for row in rows if len(row) == 10 and "%" in row[3]]
    assert len(rates) >= 20 and max(map(abs, rates)) <= validity.FAST_CHANGE
    for simulated, is_told in ((3e9, True), (9e9, False)):
        data = first_look.results(("simulated",))
        event = {"kind": "simulated", "mode": "fast", "simulated_ns": simulated, "whole_ns": 9e9}
        data["cells"][0]["database"] = [event]
        shown = " ".join(validity.caveats(read_results(data), {}, Text(lang)))
        assert ("database-modes.md" in shown and f"{validity.FAST_CHANGE} %" in shown) == is_told


def test_published_figures() -> None:
    table = published.table(read_results(first_look.blemished()), TEXT)
    assert table is not None
    assert [str(c) for c in table.rows[0].cells[2:]] == ["181", "178 (175–182)", "0.986 ×"]
    assert [str(c) for c in table.rows[1].cells[2:]] == ["not known", "187 MB/s", "not known"]
    assert "90 %" in table.note


def test_published_figures_of_a_quick_study_are_compared_by_ratios() -> None:
    data = first_look.blemished()
    data["study"]["quick"] = True
    again = {"id": "D-0009", "published": 362.0, "predicted": 267.75, "low": None, "high": None}
    data["published"].append({**data["published"][0], **again})
    for lang, sign in (("en", "not comparable"), ("ja", "比較不可")):
        table = published.table(read_results(data), Text(lang))
        assert table is not None and sign in table.caption and table.note
        assert [[str(c) for c in row.cells[2:]] for row in table.rows] == [
            ["181", "178 (175–182)", "–", "–"],
            [Text(lang)("cell.unknown"), "187 MB/s", "–", "–"],
            ["362", "268", "2.00 ×", "1.50 ×"],
        ]
        assert len(table.columns) == len(table.rows[0].cells) + 1


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_published_figures_name_their_world_if_there_are_two(lang: str) -> None:
    data, text = first_look.blemished(), Text(lang)
    rows = data["published"]
    data["published"] = [
        {**row, "world": world} for world in ("simulated", "emulated") for row in rows
    ]
    both = published.table(read_results(data), text)
    assert both is not None and text("note.published.emulated") in both.note
    assert [str(row.cells[2]) for row in both.rows[1:3]] == [
        text.world("simulated"),
        text.world("emulated"),
    ]
    assert len(both.columns) == len(both.rows[0].cells) + 1
    data["published"] = data["published"][:2]
    one = published.table(read_results(data), text)
    assert one is not None and len(one.columns) == len(both.columns) - 1


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_unmatched_figures_are_caveats_and_on_the_terminal(
    lang: str,
) -> None:
    data = first_look.results(("simulated",))
    entry = {"metric": "read.iops", "cell": {}}
    missing = {"S1-1": [], "S1-2": ["list"], "S1-3": ["list", "value"]}
    data["published"] = [{**entry, "id": name, "missing": why} for name, why in missing.items()]
    shown = published.unmatched(read_results(data), Text(lang))
    assert [[name in line for name in missing] for line in shown] == [
        [False, True, True],
        [False, False, True],
    ]
    assert set(shown) <= set(validity.caveats(read_results(data), {}, Text(lang)))
    assert terminal_doubts(ReportInputs(data), lang) == shown


def test_published_figure_names_its_phase_and_operation() -> None:
    of = {"metric": "read.iops", "window": "burst", "cell": {"drive": "a", "queue": "4"}}
    entry = {**of, "id": "S1-1", "unit": "IOPS", "published": 10.0, "predicted": 11.0}
    table = published.table(read_results({"published": [entry]}), TEXT)
    assert table is not None and table.note == ""
    assert [str(c) for c in table.rows[0].cells[:2]] == ["burst, a, queue 4", "read IOPS"]


def test_published_figures_of_several_phases_name_phase_and_subject() -> None:
    of = {"metric": "transaction.latency.mean", "cell": {"drive": "a"}, "unit": "ms"}
    entries = [
        {**of, "id": phase, "phase": phase, "subject": "tpcc.new_order"}
        for phase in ("normal", "failed")
    ]
    table = published.table(read_results({"published": entries}), TEXT)
    assert table is not None
    assert [[str(c) for c in row.cells[:2]] for row in table.rows] == [
        ["normal, a", "New-Order · mean latency"],
        ["failed, a", "New-Order · mean latency"],
    ]


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_derived_figure_is_no_metric_of_one_cell(lang: str) -> None:
    kinds = ["most", "ramp_included", "more_than", "ratio_to", "gain_over"]
    kinds += ["same_up_to", "apart_from"]
    entry = {"id": "S1-1", "metric": "read.iops", "unit": "IOPS", "predicted": 11.0}
    result = {"published": [{**entry, "derived": kind} for kind in [None, *kinds]]}
    table = published.table(read_results(result), Text(lang))
    assert table is not None
    shown = [str(row.cells[1]) for row in table.rows]
    assert len(set(shown)) == len(shown) and all("IOPS" in each for each in shown)


def test_number_of_threads_is_shown_as_a_level() -> None:
    entry = {"id": "S4-1", "metric": "read.iops", "derived": "same_up_to", "unit": "threads"}
    bounds = {"predicted": 16.0, "low": 7.6, "high": 33.6}
    table = published.table(read_results({"published": [{**entry, **bounds}]}), TEXT)
    assert table is not None and str(table.rows[0].cells[3]) == "16.0 (7.6–33.6)"


@pytest.mark.parametrize(
    ("metric", "unit", "predicted", "told"),
    [
        ("server.write_bandwidth", "%", 91.87, "91.9 %"),
        ("transaction.rate", "ratio", 0.524, "0.524 ×"),
        ("server.hit_ratio", "%", 97.2, "97.2 %"),
        ("server.write_bandwidth", "MB/s", 91.87, "91.9 MB/s"),
    ],
)
def test_published_comparison_is_formatted_as_one(
    metric: str, unit: str, predicted: float, told: str
) -> None:
    entry = {"id": "S1-1", "metric": metric, "unit": unit, "predicted": predicted}
    table = published.table(read_results({"published": [entry]}), TEXT)
    assert table is not None and str(table.rows[0].cells[3]) == told


def test_many_series_of_few_levels_are_rows() -> None:
    names = [f"drive {letter}" for letter in "abcdefghi"]
    cells = [
        first_look.cell(
            "simulated",
            "sweep",
            {"drive": name, "threads": threads},
            [first_look.estimate("read.iops", "s", 1000.0 * int(threads) + place)],
        )
        for place, name in enumerate(names)
        for threads in ("2", "4")
    ]
    axes = [
        {"name": "drive", "varies": "across", "levels": names},
        {"name": "threads", "varies": "within", "levels": ["2", "4"]},
    ]
    view = read_results({"axes": axes, "cells": cells})
    (table,) = matrices(view, TEXT)
    assert [column.label for column in table.columns[1:]] == ["threads 2", "threads 4"]
    assert [row.head for row in table.rows] == names
    assert [cell.value for cell in table.rows[2].cells] == ["2.00 k", "4.00 k"]
    (rates,) = figures(view)
    assert [panel.name for panel in rates.panels] == [("simulated", name) for name in names]


def test_markdown_escapes_and_holds_every_table() -> None:
    data = first_look.blemished()
    data["study"]["title"] = "a | b <script> *c*"
    page = markdown(first_look.inputs(data))
    assert "a \\| b \\<script\\> \\*c\\*" in page
    assert "| random read: peak IOPS |" in page
    widths = {line.replace("\\|", "").count("|") for line in page.splitlines() if "peak" in line}
    assert len(widths) == 1


def test_terminal_and_markdown_hold_every_table_of_the_page() -> None:
    inputs = first_look.inputs(first_look.blemished())
    page = render(inputs)
    captions = [html.unescape(c) for c in re.findall(r"<caption[^>]*>(.*?)</caption>", page)]
    assert len(captions) > 10
    shown = markdown(inputs)
    console = Console(width=250, record=True, file=io.StringIO())
    console.print(terminal(inputs))
    drawn = console.export_text()
    for caption in captions:
        assert f"**{caption}**" in shown
        assert caption in drawn
    for heading in re.findall(r"<h2[^>]*>(.*?)</h2>", page):
        assert heading == "Plots" or (f"## {heading}" in shown and heading in drawn)


def test_missing_interval_among_others_has_an_explained_mark() -> None:
    data = first_look.results(("simulated",))
    commit = next(c for c in data["cells"] if c["phase"] == "commit")
    commit["estimates"][0]["sampling"] |= {"low": None, "high": None, "runs": 1}
    table = overview(read_results(data), TEXT)
    row = next(r for r in table.rows if r.head == "commit: operations / s")
    assert str(row.cells[0]) == "244†"
    assert table.note == "† one run, no interval"
    assert not table.bare


def test_interval_from_one_measured_run_is_a_caveat() -> None:
    data = first_look.results()
    for cell in data["cells"]:
        for estimate in cell["estimates"]:
            estimate["sampling"]["runs"] = 1
    shown = " ".join(validity.caveats(read_results(data), {}, TEXT))
    assert "come from a single run of a real machine" in shown


def test_environment_has_a_group_for_each_target() -> None:
    environment = {
        "kernel": "6.1",
        "machine": {"cpu_model": "A CPU", "memory_bytes": 2**34, "governor": None},
        "targets": {"/mnt/x": {"file_system": "ext4", "device": {"name": "sda", "members": []}}},
    }
    (table,) = validity.environments({"measured": environment}, TEXT)
    assert [(row.group, row.head, row.cells[0].value) for row in table.rows] == [
        ("", "kernel", "6.1"),
        ("", "CPU", "A CPU"),
        ("", "memory", "16.0 GiB"),
        ("/mnt/x", "file system", "ext4"),
        ("/mnt/x", "device name", "sda"),
    ]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_unserved_arrivals_are_counted_over_the_runs(
    lang: str,
) -> None:
    data = first_look.results(("simulated",))
    figures = {"arrived": 400_000, "count": 100_000, "share": 0.25}
    unserved = {"code": "unserved", "subject": "oltp", "figures": figures}
    data["cells"][0]["findings"] = [unserved, {**unserved, "figures": figures | {"count": 0}}]
    assert "| 800,000 | 100,000 | 12.5 % |" in markdown(ReportInputs(data), lang)
    assert "100,000" in render(ReportInputs(data), lang)
    del data["cells"][0]["findings"]
    assert "100,000" not in render(ReportInputs(data), lang)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_phase_without_figures_stands_in_the_answer(
    lang: str,
) -> None:
    def phase(name: str, **more: Any) -> dict[str, Any]:
        load = first_look.load("read", "w", 100.0, 1e6, 4096) if name == "a" else []
        return {**first_look.cell("simulated", name, {}, load), **more}

    failed = {"code": "failed", "subject": "w", "figures": {"count": 1600.0}}
    dies = {"kind": "fail", "storage": "d", "member": None}
    happened = {"repetition": 0, "from_ns": 2e9, "to_ns": 3e9, "happened": [dies]}
    cells = [phase("a"), phase("b", findings=[failed]), phase("idle", timeline=[happened])]
    cells.append(phase("pause"))
    view = read_results(first_look.results() | {"axes": [], "cells": cells})
    shown = [line.clauses[0].sentence for line in answers(view, Text(lang))]
    assert all(words in shown[0] for words in ("1,600", "2.00 s", "d"))
    assert shown[1].startswith("A · ")
    if lang == "en":
        assert shown[0] == (
            "In b all 1,600 commands failed; in idle nothing completed; at 2.00 s all of d fails."
        )


def test_pause_is_no_phase_without_figures() -> None:
    replaced = {"kind": "replace", "storage": "d", "member": 1}
    stretch = {"repetition": 0, "from_ns": 0, "to_ns": 1e9, "happened": [replaced]}
    missed = {"code": "missed", "subject": "late", "figures": {}}
    load = first_look.load("read", "w", 100.0, 1e6, 4096)
    idle = first_look.cell("simulated", "idle", {}, [])
    idle |= {"pause": True, "timeline": [stretch], "findings": [missed]}

    def said(*cells: dict[str, Any]) -> str:
        view = read_results(first_look.results() | {"axes": [], "cells": [*cells]})
        return " ".join(line.clauses[0].sentence for line in answers(view, Text("en")))

    works = first_look.cell("simulated", "a", {}, load)
    assert said(works) == said(works, idle)
    assert "in idle nothing completed" in said(works, idle | {"pause": False}).lower()
    assert "In idle nothing completed" in said(idle), "nothing else has figures"
