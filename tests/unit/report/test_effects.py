"""Effects in a report's first sentence: levels, phases and outages."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from tameshi.analysis.database_error import KEY, ratio_width
from tameshi.report.sections.answer import answers
from tameshi.report.sections.effects import effects
from tameshi.report.view.points import View, read_results
from tameshi.report.words.strings import LANGUAGES
from tameshi.report.words.text import Text

PACE = {"alone": 1.0, "pair": 0.5, "memory": 4.0}
SLOWER = {"normal": 1.0, "failed": 0.5, "rebuilding": 0.25}


def estimate(subject: str, metric: str, value: float) -> dict[str, Any]:
    sampling = {"low": None, "high": None, "runs": 1}
    return {"subject": subject, "metric": metric, "value": value, "sampling": sampling}


def cell(phase: str, levels: dict[str, str], **more: Any) -> dict[str, Any]:
    rate = 100 * PACE[levels.get("place", "alone")] * SLOWER.get(phase, 1.0)
    result = [estimate("tpcc", "transaction.rate", rate * float(levels.get("size", 1)))]
    here = {"world": "simulated", "phase": phase, "levels": levels, "estimates": result}
    return {**here, "database": [], **more}


def view(cells: list[dict[str, Any]], answer: dict[str, Any], **axes: list[str]) -> View:
    named = [{"name": n, "varies": "across", "levels": lv} for n, lv in axes.items()]
    study = {"name": "s", "answer": answer}
    return read_results({"study": study, "axes": named, "cells": cells})


def first(found: View, lang: str = "en") -> str:
    return answers(found, Text(lang))[0].clauses[0].sentence


def places(answer: dict[str, Any], phases: tuple[str, ...] = ("run",)) -> View:
    cells = [cell(phase, {"place": place}) for phase, place in product(phases, PACE)]
    return view(cells, answer, place=list(PACE))


def test_levels_compare_as_the_study_says_else_with_the_first() -> None:
    assert first(places({})) == (
        "Place pair makes 50.0 transactions per second, 0.500 × the "
        "100 of alone; place memory makes "
        "400 transactions per second, 4.00 × the 100 of alone."
    )
    assert first(places({"levels": {"place": {"pair": "memory"}}})) == (
        "Place pair makes 50.0 transactions per second, 0.125 × the 400 of memory."
    )


def test_question_compares_only_pools_of_all_storages() -> None:
    cells = [
        cell("run", {"pool": pool, "size": size})
        for pool, sizes in {"8 GiB": "12", "11 GiB": "2", "16 GiB": "12"}.items()
        for size in sizes
    ]
    axes = {"pool": ["8 GiB", "11 GiB", "16 GiB"], "size": ["1", "2"]}
    written = view(cells, {}, **axes)
    asked = replace(written, asked={"best": None})
    assert not any("11 GiB" in words for words in pools(asked))
    assert any("16 GiB" in words for words in pools(asked))
    few = [each for each in cells if each["levels"]["size"] == "2"]
    alone = replace(view(few, {}, **axes), asked={"best": None})
    assert any("11 GiB" in words for words in pools(alone)), "one storage: all are alike"


def pools(found: View) -> list[str]:
    return [effect.level for effect in effects(found, "simulated", 9) if effect.axis == "pool"]


def test_phases_compare_cell_by_cell_while_they_are_few() -> None:
    beside = {"phases": {"failed": "normal", "rebuilding": "normal"}}
    words = first(places(beside, ("normal", "failed", "rebuilding")))
    assert words.count(" the ") == 6 and "place" not in words.lower()
    assert (
        "; pair · phase failed makes 25.0 transactions per second, 0.500 × the 50.0 of no" in words
    )
    assert "of memory" not in first(places({}, ("normal", "failed"))).split("Failed")[0]
    sizes = [str(size) for size in range(1, 8)]
    cells = [
        cell(phase, {"size": size}) for phase, size in product(("normal", "rebuilding"), sizes)
    ]
    many = view(cells, {"phases": {"rebuilding": "normal"}}, size=sizes)
    assert first(many) == "Phase rebuilding yields 0.250 × the transactions of normal."


def away(recovered: int | None, served: int = 3_000_000_000) -> dict[str, Any]:
    times = {"first_error_ns": 10**9, "first_success_ns": served, "recovered_ns": recovered}
    return {"kind": "outage", "repetition": 0, "outage": times}


@pytest.mark.parametrize(
    ("outages", "words"),
    [
        ([away(5 * 10**9)], "2.00 s and reaches 90 % of its rate after 4.00 s"),
        ([away(5 * 10**9), away(6 * 10**9, 4 * 10**9)], "2.00–3.00 s and reaches 90 % of its rate"),
        ([away(5 * 10**9), away(6 * 10**9)], "for 2.00 s and reaches 90 % of its rate after 4"),
        ([away(None)], "2.00 s and does not reach 90 % of its rate in this phase"),
    ],
)
def test_outage_replaces_the_levels_of_its_phase(outages: list[dict[str, Any]], words: str) -> None:
    cells = [cell("update", {"place": place}) for place in PACE]
    cells += [cell("failover", {"place": "alone"}), cell("failover", {"place": "memory"})]
    cells.append(cell("failover", {"place": "pair"}, database=outages))
    said = first(view(cells, {}, place=list(PACE)))
    assert "pair: service stops for " in said and words in said
    assert "ailover" not in said.replace("failover · pair: ", ""), said
    alone = [each for each in cells if each["phase"] == "failover"]
    assert "place memory makes" in first(view(alone, {}, place=list(PACE))).replace(
        "Place", "place"
    )


def bounds(low: float, high: float) -> dict[str, Any]:
    return {"low": low, "high": high, "validated_on": "nothing", "inside_range": False}


def test_simulated_outage_and_life_have_their_model_error() -> None:
    times = {"first_success_ns": bounds(5e8, 8e9), "recovered_ns": bounds(1e9, 16e9)}
    outage = {**away(5 * 10**9), "model": times}
    lives = {"alone": (3.0, bounds(1.0, 9.0)), "pair": (6.0, bounds(3.0, 12.0))}
    cells = [
        cell("run", {"place": p}, endurance=[{"life_years": y, "model": {"life_years": model}}])
        for p, (y, model) in lives.items()
    ]
    words = first(view(cells, {"tell": ["life"]}, place=["alone", "pair"]))
    assert words.endswith(
        "lasts 6.00 (model 3.00–12.00) years, 2.00 × (model 0.67–6.00) the 3.00 (model 1.00–9.00) "
        "of alone."
    )
    gone = [cell("failover", {"place": "pair"}, database=[outage])]
    words = first(view(gone, {}, place=list(PACE)))
    assert "2.00 s (model 0.50–8.00 s) and reaches 90 % of its rate after 4.00 s (model 1" in words


def test_ratio_of_two_storages_has_the_model_error_of_such_pairs() -> None:
    cells = [cell("run", {"place": place}) for place in ("alone", "memory")]
    for each, node in zip(cells, "ab", strict=True):
        (found,) = each["estimates"]
        own = bounds(found["value"] / 9, found["value"] * 9)
        found["model"] = own | {KEY: f"mysql-8.0 tpcc|{node}|1|2|3|s"}
    (effect,) = effects(view(cells, {}, place=["alone", "memory"]), "simulated", 1)
    width = math.exp(ratio_width("rate", "storage"))
    assert effect.model == pytest.approx((4 / width, 4 * width)) and width < 9


def test_life_of_the_first_worn_drive_is_reported_on_request() -> None:
    worn = {"alone": (9.0, 3.0), "pair": (6.0, None), "memory": (None,)}
    cells = [
        cell("run", {"place": place}, endurance=[{"life_years": years} for years in lives])
        for place, lives in worn.items()
    ]
    words = first(view(cells, {"tell": ["life"]}, place=list(PACE)))
    assert words.endswith("with place pair the drive lasts 6.00 years, 2.00 × the 3.00 of alone.")
    assert "lasts" not in first(view(cells, {}, place=list(PACE)))


def test_latency_weights_reads_and_writes_by_number() -> None:
    cells = [cell("run", {"place": place}) for place in ("alone", "pair")]
    for place, slow in (("alone", 1e6), ("pair", 5e6)):
        served = {("read", "iops"): 3.0, ("read", "latency.mean"): 1e6}
        served |= {("write", "iops"): 1.0, ("write", "latency.mean"): slow}
        result = [estimate("s", ".".join(metric), value) for metric, value in served.items()]
        cells.append({**cell("documents", {"place": place}), "estimates": result})
    words = first(view(cells, {"tell": ["latency"]}, place=["alone", "pair"]))
    shown = "takes 2.00 ms per read or write, 2.00 × the 1.00 ms of alone."
    assert words.endswith(f"documents · place pair {shown}")
    assert "read or write" not in first(view(cells, {}, place=["alone", "pair"]))


@pytest.mark.parametrize("lang", LANGUAGES)
def test_both_languages_show_all_effects(lang: str) -> None:
    cells = [
        cell("run", {"place": p}, endurance=[{"life_years": y}], database=[away(5 * 10**9)])
        for p, y in (("alone", 3.0), ("pair", 6.0))
    ]
    words = first(view(cells, {"tell": ["life"]}, place=["alone", "pair"]), lang)
    assert all(
        shown in words for shown in ("50.0", "0.500 ×", "6.00", "2.00 ×", "2.00 s", "4.00 s")
    )


def test_levels_with_different_programs_are_not_compared() -> None:
    def running(program: str, drive: str, metric: str, value: float) -> dict[str, Any]:
        levels = {"program": program, "drive": drive}
        return cell("run", levels) | {"estimates": [estimate(program, metric, value)]}

    cells = [
        running("oltp", "disk", "transaction.rate", 100.0),
        running("oltp", "flash", "transaction.rate", 400.0),
        running("scan", "disk", "transaction.latency.mean", 8e9),
        running("scan", "flash", "transaction.latency.mean", 4e9),
    ]
    words = first(view(cells, {}, program=["oltp", "scan"], drive=["disk", "flash"]))
    assert words == (
        "Oltp · drive flash makes 400 transactions per second, 4.00 "
        "× the 100 of disk; scan · drive "
        "flash takes 4.00 s, 0.500 × the 8.00 s of disk."
    )


def blow(event: str, at_s: int, **more: Any) -> dict[str, Any]:
    """Return a crash, or with `kind` a restart, of the run."""
    shown = {"kind": "crash", "how": "kill", "repetition": 0, "event": event, "t_ns": at_s * 10**9}
    return {**shown, **more}


def outage_at(at_s: int, for_s: int) -> dict[str, Any]:
    times = {"first_error_ns": at_s, "first_success_ns": at_s + for_s, "recovered_ns": at_s + for_s}
    outage = {key: time * 10**9 for key, time in times.items()}
    return {"kind": "outage", "repetition": 0, "outage": outage}


def lost(count: int) -> dict[str, Any]:
    ledger = {"acknowledged": 100, "lost": count, "ambiguous": 0}
    return {"kind": "check", "repetition": 0, "conditions": [], "ledger": ledger}


def test_many_outages_show_the_longest_by_each_event() -> None:
    cells = [
        cell(
            "run",
            {"place": place, "size": size},
            database=[
                blow("cut", 5),
                outage_at(5, 2 + i),
                blow("again", 60, kind="restart"),
                outage_at(60, 30 - i),
            ],
        )
        for i, (place, size) in enumerate(product(PACE, ("1", "2")))
    ]
    words = first(view(cells, {}, place=list(PACE), size=["1", "2"])).split("; ")
    assert [part.split(" yields")[0] for part in words[:3]] == [
        "Place pair",
        "place memory",
        "size 2",
    ]
    assert words[3].startswith("of 6 outages by cut the longest is memory · size 2: service")
    assert "for 7.00 s" in words[3] and "for 30.00 s" in words[4]
    assert words[4].startswith("of 6 outages by again the longest is alone · size 1: service")


def test_events_of_one_phase_are_named_separately() -> None:
    both = [blow("cut", 5), outage_at(5, 2), blow("kill", 20), outage_at(20, 4)]
    words = first(view([cell("run", {}, database=both)], {}))
    assert "run · cut: service stops for 2.00 s" in words.lower()
    assert "run · kill: service stops for 4.00 s" in words.lower()


def test_outage_without_event_has_no_empty_name() -> None:
    cells = [
        cell("run", {"how": "cut"}, database=[blow("cut", 5), outage_at(5, 2)]),
        cell("run", {"how": "fail"}, database=[outage_at(5, 4)]),
    ]
    words = first(view(cells, {}, how=["cut", "fail"]))
    assert "fail: service stops" in words.lower() and "· :" not in words


def test_lost_commits_come_first() -> None:
    cells = [
        cell("run", {"place": place}, database=[lost(count), blow("cut", 5), outage_at(5, 2)])
        for place, count in zip(PACE, (0, 4, 1084), strict=True)
    ]
    words = first(view(cells, {}, place=list(PACE)))
    assert words.startswith("2 of 3 cells lose acknowledged commits, memory the most: 1,084; ")
    alone = first(view([cell("run", {}, database=[lost(7)])], {}))
    assert alone == "7 acknowledged commits are lost."
    assert "commits" not in first(view([cell("run", {}, database=[lost(0), outage_at(1, 1)])], {}))


def test_lost_commits_count_once_per_run() -> None:
    """The ledger covers a whole run, and every phase's cell shows it."""
    cells = [
        cell(phase, {"place": place}, database=[lost(count)])
        for place, count in (("alone", 15), ("pair", 0))
        for phase in ("normal", "failed", "rebuilding")
    ]
    words = first(view(cells, {}, place=["alone", "pair"]))
    assert words.startswith("1 of 2 cells lose acknowledged commits, alone the most: 15")


def test_outages_beyond_the_limit_are_counted() -> None:
    names = ("restart", "kill", "cut", "failover", "again")
    events = [
        shown
        for at, name in enumerate(names)
        for shown in (blow(name, 20 * at), outage_at(20 * at, 2 + at))
    ]
    words = first(view([cell("run", {}, database=events)], {}))
    assert "failover: service stops for 5.00 s" in words and "again" in words
    assert "kill" not in words and "restart" not in words
    assert "(2 more outages by other events, none longer)" in words


def test_levels_compare_cells_without_outages_if_possible() -> None:
    cells = [cell("run", {"place": place, "event": "none"}) for place in ("alone", "memory")]
    slow = {"estimates": [estimate("tpcc", "transaction.rate", 1.0)]}
    cells += [
        cell("run", {"place": place, "event": "kill"}, database=[outage_at(1, 1)]) | slow
        for place in ("alone", "memory")
    ]
    words = first(view(cells, {}, place=["alone", "memory"], event=["none", "kill"]))
    assert words.startswith(
        "Place memory makes 400 transactions per second, 4.00 × the 100 of alone;"
    )
    assert "event kill" not in words


def test_many_levels_show_the_greatest_effect_of_every_axis() -> None:
    sizes = ("a", "b", "c", "d", "e", "f", "g", "h")
    cells = []
    for place, (size, name) in product(PACE, enumerate(sizes, 1)):
        rate = estimate("tpcc", "transaction.rate", PACE[place] * size)
        cells.append(cell("run", {"name": name, "place": place}) | {"estimates": [rate]})
    words = first(view(cells, {}, name=list(sizes), place=list(PACE))).lower().split("; ")
    assert len(words) == 6
    assert sum(part.startswith("place") for part in words) == 2
    assert words[0].startswith("name e") and words[3].startswith("name h")
