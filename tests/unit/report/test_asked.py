"""Answer of `tameshi ask` as sentences, tables and the tornado plot."""

from __future__ import annotations

from typing import Any

import first_look
import pytest

from tameshi.core.reasons import reason
from tameshi.report.render.draw import draw
from tameshi.report.sections.asked import answers, figures, tables, worded
from tameshi.report.study import markdown, render
from tameshi.report.view.points import read_results
from tameshi.report.words.text import Text


def off(value: float, inside: bool = False) -> dict[str, Any]:
    bounds = {"low": value / 2, "high": value * 2}
    return {**bounds, "validated_on": "S2-0025", "inside_range": inside}


def figure(value: float, model: dict[str, Any] | None = None) -> dict[str, Any]:
    sampling = {"low": 0.98 * value, "high": 1.02 * value, "runs": 1}
    return {"value": value, "sampling": sampling, "model": model}


def configuration(storage: str, rate: float, meets: bool, cost: float | None) -> dict[str, Any]:
    return {
        "storage": storage,
        "buffer_pool": "8 GiB",
        "pool_bytes": 8 << 30,
        "watts": 90.0,
        "cost": cost,
        "qps": figure(rate, off(rate)),
        "p99": figure(4e6, off(4e6)),
        "p99_of": "tpcc.new_order",
        "hit_ratio": figure(0.97, {**off(0.97, True), "low": 0.95, "high": 0.98}),
        "limit": "page_reads",
        "limit_share": 0.7,
        "meets": meets,
    }


def document(meets: bool = True, cost: float | None = 2000.0) -> dict[str, Any]:
    good = configuration("card", 25_000, meets, cost)
    ends = {"low": (15_000, False, "1 GiB"), "high": (28_000, True, "4 GiB")}
    row = {
        end: {
            "label": label,
            "qps": figure(rate, off(rate)),
            "p99": figure(5e6, off(5e6)),
            "p99_of": "tpcc.new_order",
            "meets": reaches,
        }
        for end, (rate, reaches, label) in ends.items()
    }
    return {
        "target": {"qps": 20_000.0, "p99_ns": None},
        "database_bytes": 24 * 10**9,
        "workload": "tpcc",
        "clients": 20,
        "engine": "mysql 5.7",
        "host": "a host",
        "redo_log": "2 GiB",
        "start": "warm",
        "scale": 4,
        "ramp_ns": 10**10,
        "lasts_ns": 4 * 10**10,
        "configurations": [configuration("disks", 900, False, cost), good],
        "best": good if meets else None,
        "nearest": good,
        "sensitivity": [{"input": "redo_log", **row}],
    }


def view(**of: Any) -> Any:
    return read_results({**first_look.results(), "asked": document(**of)})


def sentences(found: Any, lang: str = "en") -> list[str]:
    return [line.clauses[0].sentence for line in answers(found, Text(lang))]


def test_first_sentence_has_both_intervals_separately() -> None:
    words = sentences(view())
    assert words[0].startswith(
        "The cheapest configuration that reaches 20.0 k statements per second is card"
    )
    assert (
        "25.0 k (24.5–25.5) statements per second, p99 of New-Order, the slowest type, 4.00 ms"
        in words[0]
    )
    both = "12.5 k–50.0 k statements per second, p99 2.00 ms–8.00 ms (90 %). The interval contains"
    assert both in words[1]
    assert "outside the validated range (S2-0025)" in words[1] and "1/4 of the size" in words[1]
    assert words[2].startswith(
        "Redo log matters most: 15.0 k (14.7–15.3; model 7.5–30.0) statements"
    )
    assert words[2].endswith("With redo log 1 GiB it misses the target.")


def test_fitted_question_says_so_in_both_languages() -> None:
    asked = document()
    asked["best"]["qps"]["model"] = {**off(25_000, True), "fitted_on": "S2-0041"}
    data = read_results({**first_look.results(), "asked": asked})
    words = sentences(data)[1]
    assert "The model was fitted to known figures at this point (S2-0041)" in words
    assert "estimated from other figures (S2-0025)" in words and "validated" not in words
    assert "適合させている（S2-0041）" in sentences(data, "ja")[1]


def test_program_with_one_transaction_type_has_no_slowest() -> None:
    asked = document()
    asked["best"]["p99_of"] = "oltp"
    words = sentences(read_results({**first_look.results(), "asked": asked}))
    assert "statements per second, p99 4.00 ms (3.92–4.08)." in words[0]


@pytest.mark.parametrize(
    ("target", "limit_ms", "unsure"), [(20_000, None, True), (12_000, 9, False), (12_000, 5, True)]
)
def test_target_within_the_model_interval_is_reported(
    target: float, limit_ms: float | None, unsure: bool
) -> None:
    asked = document()
    limit = None if limit_ms is None else limit_ms * 1e6
    asked["target"] = {"qps": float(target), "p99_ns": limit}
    data = read_results({**first_look.results(), "asked": asked})
    assert ("contains the target" in sentences(data)[1]) == unsure


@pytest.mark.parametrize(
    ("lang", "missed"), [("en", "whole interval misses"), ("ja", "区間全体が目標に届かない")]
)
def test_target_certainly_missed_by_one_figure_is_not_uncertain(lang: str, missed: str) -> None:
    asked = document(False)
    asked["target"] = {"qps": 20_000.0, "p99_ns": 1_000_000}
    asked["nearest"]["qps"]["sampling"] = {"low": 15e3, "high": 40e3, "runs": 1}
    chance, model, *_ = sentences(read_results({**first_look.results(), "asked": asked}), lang)
    assert missed in model
    for words in (chance, model):
        assert "contains the target" not in words and "両側" not in words


@pytest.mark.parametrize("meets", [True, False])
@pytest.mark.parametrize("lang", ["en", "ja"])
def test_target_within_the_sampling_interval_is_reported(lang: str, meets: bool) -> None:
    asked = document(meets)
    asked["nearest"]["qps"]["sampling"] = {"low": 15e3, "high": 40e3, "runs": 1}
    asked["target"] = {"qps": 20_000.0, "p99_ns": 4_050_000}
    words = sentences(read_results({**first_look.results(), "asked": asked}), lang)[0]
    rate = Text(lang)("asked.chance_rate", rate="15.0 k–40.0 k")
    tail = Text(lang)("asked.chance_tail", tail="3.92 ms–4.08 ms")
    assert rate in words and tail in words
    if lang == "en":
        assert "40.0 k statements per second, contains the target." in words


@pytest.mark.parametrize("low", [24_500, None])
def test_target_outside_the_sampling_interval_is_not_reported(low: float | None) -> None:
    asked = document()
    asked["nearest"]["qps"]["sampling"] |= {"low": low, "high": low and 25_500}
    words = sentences(read_results({**first_look.results(), "asked": asked}))[0]
    assert "contains the target" not in words


def test_unpriced_answer_is_the_smallest_or_the_fastest() -> None:
    assert sentences(view(cost=None))[0].startswith("The smallest configuration that reaches")
    none = sentences(view(meets=False))
    assert none[0].startswith(
        "No simulated configuration reaches 20.0 k statements per second. The"
    )
    assert none[2].endswith("With redo log 4 GiB it reaches the target.")


@pytest.mark.parametrize(
    ("lang", "words"), [("en", "16 GiB does not."), ("ja", "16 GiBは届かない")]
)
def test_larger_pool_that_misses_the_target_is_reported(lang: str, words: str) -> None:
    fall = {"storage": "card", "meets": "8 GiB", "misses": "16 GiB"}
    data = read_results({**first_look.results(), "asked": {**document(), "falls": [fall]}})
    assert words in sentences(data, lang)[0]
    assert words not in sentences(view(), lang)[0]


def test_interrupted_question_claims_nothing() -> None:
    asked = {**document(), "interrupted": True}
    data = read_results({**first_look.results(), "asked": asked})
    assert sentences(data)[0].endswith("Interrupted: some configurations were not simulated.")
    asked |= {"best": None, "nearest": None, "sensitivity": [], "configurations": []}
    data = read_results({**first_look.results(), "asked": asked})
    assert sentences(data)[0] == "Interrupted before the first configuration was simulated."


def test_tornado_runs_from_the_answer_to_either_end() -> None:
    (tornado,) = figures(view())
    drawn = draw(tornado, Text())
    bars = [bar for bar in drawn["data"] if bar["type"] == "bar"]
    ends = [(bar["base"][0], bar["base"][0] + bar["x"][0]) for bar in bars]
    assert ends == [(15_000, 25_000), (25_000, 28_000)]
    models = [list(line["x"]) for line in drawn["data"] if line["type"] == "scatter"]
    assert models == [[7_500, 30_000, None], [14_000, 56_000, None]]
    marked = [shape["x0"] for shape in drawn["layout"]["shapes"]]
    assert marked == [25_000, 20_000]
    low, high = drawn["layout"]["xaxis"]["range"]
    assert low < 7_500 and high > 56_000


def test_tornado_shows_latency_if_it_decides() -> None:
    asked = document()
    asked["target"]["p99_ns"], asked["decides"] = 4_500_000, "p99"
    data = read_results({**first_look.results(), "asked": asked})
    (tornado,) = figures(data)
    assert (tornado.y.kind, tornado.y.label.key) == ("latency", "axis.slowest")
    (panel,) = tornado.panels
    assert [place for place, _ in panel.marks] == [4e6, 4_500_000]
    assert [series.y for series in panel.series] == [(5e6,), (5e6,)]
    drawn = draw(tornado, Text())
    low, high = drawn["layout"]["xaxis"]["range"]
    assert low < 2.5e6 and high > 10e6, "with what the model leaves open"
    assert "4 ms" in drawn["layout"]["xaxis"]["ticktext"]
    words = sentences(data)[2]
    assert words.startswith("Redo log matters most: p99 5.00 ms (4.90–5.10; model 2.50–10.00)")


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_section_appears_in_every_form_of_the_report(lang: str) -> None:
    inputs = first_look.inputs({**first_look.results(), "asked": document()})
    page, plain = render(inputs, lang), markdown(inputs, lang)
    heading = Text(lang)("section.asked")
    assert heading in page and 'id="sensitivity-plot"' in page
    assert f"## {heading}" in plain
    beside = (r"25.0 k (24.5–25.5) \[12.5–50.0\]!", r"4.00 ms (3.92–4.08) \[2.00–8.00\]!")
    share = Text(lang)("spent.share", name=Text(lang)("spent.page_reads"), share="70 %")
    assert share in plain and share in page
    assert all(words in plain for words in (*beside, r"97.0 % \[95.0–98.0\]"))
    assert Text(lang)("note.beyond", sign="!") in page and Text(lang)("hint.model") in page
    ids = [table.id for table in tables(read_results(inputs.results), Text(lang))]
    assert ids == ["asked", "sensitivity", "assumed"]


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_excluded_configurations_have_reasons(lang: str) -> None:
    asked = document()
    sizes = {"held": 1, "data": 2, "growth": 3, "log": 4, "whole": 9}
    lacking = reason("no_room", "", **{f"{key}_capacity": n * 1e9 for key, n in sizes.items()})
    asked["left_out"] = [
        {"storage": "small", "level": None, "reasons": [lacking]},
        {"storage": "card", "level": "64 GiB", "reasons": [reason("nothing_measured")]},
    ]
    data = read_results({**first_look.results(), "asked": asked})
    (words,) = [s for s in sentences(data, lang) if "64 GiB" in s]
    assert Text(lang).reason(lacking) in words
    (table,) = [each for each in tables(data, Text(lang)) if each.id == "left-out"]
    assert len(table.rows) == 2
    if lang == "en":
        assert words == f"small: {Text().reason(lacking)}; card, 64 GiB: nothing was measured."


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_rounded_data_set_of_whole_warehouses_is_reported(lang: str) -> None:
    sizes = {"database_bytes": 150 << 20, "simulated_bytes": 96 << 20, "rounded": True}
    data = read_results({**first_look.results(), "asked": document() | sizes})
    (shown,) = [s for s in sentences(data, lang) if "96.0 MiB" in s]
    assert Text(lang)("asked.rounded", size="150 MiB", simulated="96.0 MiB") in shown
    (assumed,) = [each for each in tables(data, Text(lang)) if each.id == "assumed"]
    both = Text(lang)("asked.size_rounded", size="150 MiB", simulated="96.0 MiB")
    assert assumed.rows[0].cells[0].value == both
    if lang == "ja":
        assert both in worded(data, Text(lang)).question


def test_question_is_in_the_language_of_the_report() -> None:
    result = view()
    assert worded(result, Text("en")) == result
    asked = worded(result, Text("ja"))
    assert asked.question.startswith("22.4 GiBのTPC-Cで毎秒20.0 k文に達する")
    own = read_results(first_look.results())
    assert worded(own, Text("ja")) == own


def test_section_is_empty_without_a_question() -> None:
    data = read_results(first_look.results())
    assert tables(data, Text()) == [] and figures(data) == []
