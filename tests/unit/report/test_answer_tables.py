"""Tables of `[answer]`, their ratios and their sentences."""

from __future__ import annotations

from typing import Any

import pytest

from tameshi.core.reasons import reason
from tameshi.report.sections.answer_plot import figures
from tameshi.report.sections.answer_tables import answers, tables
from tameshi.report.study import markdown, render, terminal_doubts, terminal_summary
from tameshi.report.view.grids import compared, crossing, grids
from tameshi.report.view.inputs import ReportInputs
from tameshi.report.view.points import read_results
from tameshi.report.words.strings import LANGUAGES
from tameshi.report.words.text import Text

RATES = {
    ("disk", "small"): (100, 80, 50),
    ("disk", "large"): (300, 200, 100),
    ("flash", "small"): (250, 202, 150),
    ("flash", "large"): (1000, 900, 800),
}
SIZES = ("80", "160", "240")
BASE = {"storage": "disk", "pool": "small"}
AXES = {"storage": ["disk", "flash"], "pool": ["small", "large"], "size": list(SIZES)}


def estimate(subject: str, metric: str, value: float) -> dict[str, Any]:
    sampling = {"low": None, "high": None, "runs": 1}
    return {"subject": subject, "metric": metric, "value": value, "sampling": sampling}


def cell(
    levels: dict[str, str], *estimates: dict[str, Any], level: str = "valid"
) -> dict[str, Any]:
    return {
        "world": "simulated",
        "phase": "run",
        "levels": levels,
        "estimates": list(estimates),
        "verdict": {"level": level, "reasons": []},
    }


def house(answer: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return results of two storages, two pools and three sizes."""
    cells = [
        cell(
            {"storage": storage, "pool": pool, "size": size},
            estimate("tpcc.payment", "statement.rate", 1.0),
            estimate("tpcc", "statement.rate", rate),
            estimate("tpcc", "transaction.latency.mean", 1e9 / rate),
        )
        for (storage, pool), rates in RATES.items()
        for size, rate in zip(SIZES, rates, strict=True)
    ]
    named = [{"name": n, "varies": "across", "levels": lv} for n, lv in AXES.items()]
    study = {"name": "s", "answer": {"metric": "statement.rate", **answer}, **more}
    return {"study": study, "axes": named, "cells": cells}


def crossed(**table: Any) -> dict[str, Any]:
    columns = {"rows": "size", "columns": ["storage", "pool"]}
    return {"table": [{**columns, "base": BASE, "percent": True, **table}]}


def sentence(results: dict[str, Any], lang: str = "en") -> str:
    return answers(read_results(results), Text(lang))[0].clauses[0].sentence


def test_first_line_compares_with_the_base_and_tells_the_crossing() -> None:
    first = terminal_summary(ReportInputs(house(crossed())))[0]
    assert first == (
        "Statements per second (QPS) — Simulated: Against disk · small, "
        "disk · large: 2.00 × (size 240) to 3.00 × (size 80); "
        "flash · small: 2.50 × (size 80) to 3.00 × (size 240); "
        "flash · large: 10.0 × (size 80) to 16.0 × (size 240). "
        "Flash · small compared with disk · large: less at size 80; "
        "the same within 5 % at size 160; more at size 240."
    )


def test_cells_show_value_and_per_cent_of_the_base() -> None:
    (table,) = tables(read_results(house(crossed())), Text())
    assert table.caption == "Statements per second (QPS); disk · small = 100 %"
    assert [column.group for column in table.columns[1:]] == ["disk", "disk", "flash", "flash"]
    values = [[(cell.value, cell.at) for cell in row.cells] for row in table.rows]
    assert values[1] == [("80.0", "100 %"), ("200", "250 %"), ("202", "252 %"), ("900", "1125 %")]


def test_base_among_the_rows_compares_rows() -> None:
    assert sentence(house(crossed(base={"size": 80}))) == (
        "Against size 80, "
        "size 160: 0.667 × (disk · large) to 0.900 × (flash · large); "
        "size 240: 0.333 × (disk · large) to 0.800 × (flash · large)."
    )


def test_open_axis_shows_the_best_of_its_cells() -> None:
    rates = house({"table": [{"rows": "storage", "at": {"size": 80}}]})
    (rate,) = grids(read_results(rates))
    assert {row: p.value for (row, _), p in rate.points.items()} == {"disk": 300, "flash": 1000}
    times = house({"table": [{"rows": "storage", "metric": "transaction.latency.mean"}]})
    (time,) = grids(read_results(times))
    assert [point.value for point in time.points.values()] == [1e9 / 300, 1e6]


def test_invalid_cell_counts_only_without_a_valid_one() -> None:
    results = house({"table": [{"rows": "storage"}]})
    best = next(c for c in results["cells"] if c["estimates"][1]["value"] == 1000)
    best["verdict"] = {"level": "invalid", "reasons": []}
    (grid,) = grids(read_results(results))
    assert grid.points["flash", ()].value == 900
    for each in results["cells"]:
        each["verdict"] = {"level": "invalid", "reasons": []}
    (table,) = tables(read_results(results), Text())
    assert [str(row.cells[0]) for row in table.rows] == ["✕ 300", "✕ 1.00 k"]


def test_reads_and_writes_add_up() -> None:
    cells = [
        cell({"mix": mix}, estimate("s", "read.iops", reads), estimate("s", "write.iops", 10.0))
        for mix, reads in (("few", 10.0), ("many", 50.0))
    ]
    axes = [{"name": "mix", "varies": "across", "levels": ["few", "many"]}]
    answer = {"metric": "all.iops", "table": [{"rows": "mix", "base": {"mix": "few"}}]}
    results = {"study": {"name": "s", "answer": answer}, "axes": axes, "cells": cells}
    assert sentence(results) == "Against few, many: 3.00 ×, 60.0 for 20.0."


def test_published_figure_stands_in_its_cell() -> None:
    results = house(crossed())
    levels = {"storage": "disk", "pool": "small", "size": "80"}
    figure = {"metric": "statement.rate", "unit": "query/s", "derived": None, "phase": None}
    results["published"] = [{**figure, "id": "S", "cell": levels, "published": 125.0}]
    (table,) = tables(read_results(results), Text())
    assert table.rows[0].cells[0].at == "100 % · published 125, ours 0.800 ×"


def test_quick_study_compares_ratios_with_published_ones() -> None:
    results = house(crossed(), quick=True)
    figure = {"metric": "statement.rate", "unit": "query/s", "derived": None, "phase": None}
    results["published"] = [
        {
            **figure,
            "id": pool,
            "cell": {"storage": "disk", "pool": pool, "size": "80"},
            "published": value,
        }
        for pool, value in (("small", 1250.0), ("large", 5000.0))
    ]
    (table,) = tables(read_results(results), Text())
    assert [cell.at for cell in table.rows[0].cells[:2]] == ["100 %", "300 % · published 400 %"]


def test_figures_within_five_per_cent_are_the_same() -> None:
    axes = [{"name": "phase_of_life", "varies": "across", "levels": ["normal", "failed"]}]
    cells = [
        cell({"phase_of_life": level}, estimate("tpcc", "statement.rate", rate))
        for level, rate in (("normal", 100.0), ("failed", 97.0))
    ]
    table = {"rows": "phase_of_life", "base": {"phase_of_life": "normal"}}
    answer = {"metric": "statement.rate", "table": [table]}
    results = {"study": {"name": "s", "answer": answer}, "axes": axes, "cells": cells}
    assert sentence(results) == "Against normal, failed: the same within 5 %, 97.0 for 100."


def test_table_without_base_tells_its_ends() -> None:
    assert sentence(house({"table": [{"rows": "storage", "columns": ["size"]}]})) == (
        "Size 80: 1.00 k at flash, 300 at disk; size 160: 900 at flash, 200 at disk; "
        "size 240: 800 at flash, 100 at disk."
    )


def test_crossing_needs_two_pairs_along_numbers() -> None:
    (grid,) = grids(read_results(house(crossed())))
    order = crossing(grid)
    assert order is not None
    assert order.order == ((-1, ("80",)), (0, ("160",)), (1, ("240",)))
    (without,) = grids(read_results(house(crossed(rows="storage", columns=["pool"], base={}))))
    assert crossing(without) is None


def test_absent_cells_leave_the_others() -> None:
    results = house(crossed())
    results["cells"] = [c for c in results["cells"] if c["levels"]["pool"] == "small"]
    view = read_results(results)
    (grid,) = grids(view)
    assert [part.name for part in compared(view, grid)] == [
        (("storage", "flash"), ("pool", "small"))
    ]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_words_of_the_study_replace_names_in_japanese(lang: str) -> None:
    names = {"disk": "ディスク", "flash": "フラッシュ", "small": "小", "large": "大"}
    japanese = {"title": "題", "question": "質問？", "names": names}
    page = markdown(ReportInputs(house(crossed(), japanese=japanese)), lang)
    assert ("# 質問？" in page) == (lang == "ja")
    assert ("ディスク · 大は2.00 ×" in page) == (lang == "ja")


def test_lone_column_lists_its_few_rows() -> None:
    results = house({"table": [{"rows": "size", "at": {"storage": "disk", "pool": "small"}}]})
    assert sentence(results) == "100 at size 80; 80.0 at size 160; 50.0 at size 240."


def test_many_columns_have_their_common_extremes() -> None:
    results = house({"table": [{"rows": "size", "columns": ["storage", "pool"]}]})
    assert sentence(results) == (
        "From 1.00 k at size 80, flash · large down to 50.0 at size 240, disk · small."
    )


def test_plot_of_the_answer_has_a_line_per_column() -> None:
    (figure,) = figures(read_results(house(crossed())), Text())
    (panel,) = figure.panels
    assert (figure.kind, figure.id) == ("line", "answer-plot")
    assert {line.name: line.y for line in panel.series} == RATES
    assert all(line.x == (80.0, 160.0, 240.0) for line in panel.series)


def test_plot_of_the_answer_has_named_rows_as_categories() -> None:
    (figure,) = figures(
        read_results(house({"table": [{"rows": "storage", "columns": ["pool"]}]})), Text()
    )
    assert figure.kind == "bar"
    assert figure.x.categories == (("disk",), ("flash",))
    small, large = figure.panels[0].series
    assert (small.y, large.y) == ((100, 250), (300, 1000))


@pytest.mark.parametrize(
    "table",
    [
        {"rows": "size", "at": {"storage": "disk", "pool": "small", "size": "80"}},
        {"rows": "storage", "columns": ["wide"]},
    ],
)
def test_one_cell_or_no_axis_has_no_plot_of_the_answer(table) -> None:
    results = house({"table": [table]})
    results["cells"] = results["cells"][:1]
    assert figures(read_results(results), Text()) == []


@pytest.mark.parametrize("lang", LANGUAGES)
def test_deviation_from_a_method_is_on_the_first_screen(lang: str) -> None:
    deviations = [reason("shortened"), reason("modelled")]
    method = {"name": "PTS 2.0.2", "compliant": False, "deviations": deviations}
    results = house(crossed()) | {"method": method}
    said = {
        "en": "Not compliant with PTS 2.0.2; deviations: 2",
        "ja": "PTS 2.0.2に非準拠（逸脱2件）",
    }[lang]
    assert said in render(ReportInputs(results), lang).partition("</header>")[0]
    assert terminal_doubts(ReportInputs(results), lang) == [said]
    results["method"] = method | {"compliant": True, "deviations": []}
    assert terminal_doubts(ReportInputs(results), lang) == []
