"""Exclusion from a question: storages without space for it, and failed runs."""

import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest
from questions import GB, cell, failed, question
from rich.console import Console

from tameshi.ask import Asking, Catalog, ask, command, storages_of, with_capacity
from tameshi.ask.capacity import inputs_with_capacity
from tameshi.ask.question import Varied
from tameshi.ask.study_text import (
    asked_study,
    lasts_of,
    scale_of,
    sensitivity_study,
    space_of_question,
)
from tameshi.core import compiled
from tameshi.core.errors import BadInput
from tameshi.core.reasons import quoted
from tameshi.report.words.text import Text

OUT = Path("nowhere")
LARGE = {
    "database_bytes": 400 * GB,
    "storages": storages_of("--storage", "sata-ssd-480gb,nvme-qlc-15.36tb", Catalog()),
}


def test_storage_without_space_is_left_out_others_remain():
    asked, left = with_capacity(question(**LARGE, pools=(64 * GB, 64 * GB)), OUT)
    assert [storage.name for storage in asked.storages] == ["nvme-qlc-15-36tb"]
    (one,) = left
    assert (one["storage"], one["level"]) == ("sata-ssd-480gb", None)
    (lacking,) = one["reasons"]
    said = Text().reason(lacking)
    assert said.startswith("capacity 480 GB; 400 GB of data, ") and "2.15 GB of log" in said


def test_question_without_any_space_is_refused_with_need():
    small = storages_of("--storage", "sata-ssd-480gb", Catalog())
    with pytest.raises(BadInput) as caught:
        with_capacity(question(database_bytes=600 * GB, storages=small), OUT)
    said = str(caught.value)
    assert said.startswith("--storage: no storage has enough space") and "600 GB of data" in said


def test_required_space_is_data_growth_and_one_log():
    space = space_of_question(question(varied=()))
    assert (space.data, space.log) == (24 * GB, 2 << 30)
    assert 0.25 * space.data <= space.growth < 0.26 * space.data
    assert space == space_of_question(question()), "unknown inputs ask for their own"
    asked, left = with_capacity(question(database_bytes=300 * GB, storages=LARGE["storages"]), OUT)
    assert len(asked.storages) == 2 and left == []


def test_larger_uncertain_input_has_its_own_space():
    asked = question(scale=1)
    table = tomllib.loads(sensitivity_study(asked, "card", 8 << 30, OUT).study.text)
    base = compiled.size_bytes(table["storage"]["card"]["size"])
    axis = table["axis"]["input"]
    assert compiled.size_bytes(axis["row_size × 1.25"]["storage"]["card"]["size"]) > 1.15 * base
    assert base < compiled.size_bytes(axis["redo_log 4 GiB"]["storage"]["card"]["size"])
    assert "storage" not in axis["redo_log 1 GiB"] and "storage" not in axis["row_size × 0.8"]
    total = tomllib.loads(asked_study(asked, [8 << 30], OUT).study.text)
    assert total["storage"] == table["storage"]


def test_uncertain_input_without_space_is_left_out():
    asked = question(**{**LARGE, "database_bytes": 350 * GB})
    found, left = inputs_with_capacity(asked, "sata-ssd-480gb", OUT)
    assert [varied.name for varied in found.varied] == ["redo_log"]
    assert [each["level"] for each in left] == ["row_size × 1.25"]


def test_failed_run_stops_neither_search_nor_sensitivity(tmp_path, monkeypatch):
    conducted = []

    def pool(levels):
        return float(levels["buffer_pool"].removesuffix(" GiB"))

    def conduct(asking, written, folder, console, wanted=None):
        if "sensitivity" in folder.parts:
            levels = [{"input": f"redo_log {size} GiB"} for size in (1, 4)]
            cells = [cell(item, 20_500, 5e6) for item in levels]
        else:
            labels = tomllib.loads(written.study.text)["axis"]["buffer_pool"]
            levels = [{"storage": "card", "buffer_pool": label} for label in labels]
            cells = [
                failed(item, "no room") if pool(item) == 32 else cell(item, 2000 * pool(item), 5e6)
                for item in levels
                if item in wanted
            ]
        conducted.append([item["levels"] for item in cells])
        complete = all(not item["runs"]["failed"] for item in cells)
        done = SimpleNamespace(runs=cells, complete=complete, interrupted=False)
        return SimpleNamespace(plan=None, conducted=done)

    monkeypatch.setattr(command, "_conduct", conduct)
    monkeypatch.setattr(command, "results", lambda _, cells: {"cells": cells})
    asked = question(
        storages=question().storages[1:],
        pools=(8 << 30, 32 << 30),
        varied=(Varied("redo_log", 1 << 30, 4 << 30),),
    )
    result = ask(Asking(asked, [], tmp_path / "out", 1, True, []), Console(quiet=True))
    assert result.document["best"]["buffer_pool"] == "11.25 GiB"
    assert [row["input"] for row in result.document["sensitivity"]] == ["redo_log"]
    left = [{"storage": "card", "level": "32 GiB", "reasons": [quoted("no room")]}]
    assert result.document["left_out"] == left
    labels = [each["buffer_pool"] for each in result.document["configurations"]]
    assert labels[0] == "8 GiB" and labels[-1] == "32 GiB"
    assert not result.complete, "something failed"
    tries = [item for cells in conducted for item in cells if item.get("buffer_pool") == "32 GiB"]
    assert len(tries) == 1, "what failed is not tried again"


def test_fast_storage_has_space_for_growth_up_to_capacity():
    small = question(database_bytes=GB // 2, pools=(GB // 2, GB // 2))
    asked, left = with_capacity(small, OUT)
    space, lasts = space_of_question(asked), lasts_of(asked, scale_of(asked)) / 1e9
    # Simulated TPC-C adds 26 to 30 bytes per statement; the bound is a million statements per
    # second.
    assert (
        left == [] and space.upper_bound - space.data - space.log > 1e6 * 30 * lasts > space.growth
    )
    table = tomllib.loads(asked_study(asked, [GB // 2], OUT).study.text)
    for storage in asked.storages:
        size = compiled.size_bytes(table["storage"][storage.name]["size"])
        assert storage.holds is None and space.upper_bound - (1 << 20) < size <= space.upper_bound

    drive = storages_of("--storage", "sata-ssd-480gb", Catalog())
    large, _ = with_capacity(question(storages=drive, scale=64, time_ns=90 * 10**9), OUT)
    assert large.storages[0].holds == 480 * 10**9 < space_of_question(large).upper_bound
    table = tomllib.loads(asked_study(large, [8 << 30], OUT).study.text)
    assert compiled.size_bytes(table["storage"]["sata-ssd-480gb"]["size"]) <= 480 * 10**9
