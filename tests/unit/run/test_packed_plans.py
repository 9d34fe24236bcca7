"""Plans of packed studies: the same runs, identities and bounds as plans of objects."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tameshi.commands.bounds import lasting, written
from tameshi.core.spec_types import World
from tameshi.run.packed_plans import plan_packed
from tameshi.run.preflight import examine
from tameshi.run.tasks import tasks_of
from tameshi.study.bindings import Bindings
from tameshi.study.file import plan, read_study, ready_names
from tameshi.study.spec_texts import BLOCK_RUNS, SpecTexts, cells_and_tried

MANY = """
title = "Many"
question = "How many?"
[storage.disk]
device = "sas-15k-146gb"
size = "8 MiB"
[axis.jobs]
set = "workload.stream.s.jobs"
levels = [LEVELS]
[workload.stream.s]
[phase.p]
workload = ["stream.s"]
until = { time = "1 s" }
[run]
repetitions = 2
"""
SIMULATED = World.simulated.value


def both(name: str, path: Path | None = None, *, quick: bool = False) -> tuple[Any, Any]:
    study = read_study(path or Path(name))
    whole = plan(study, SIMULATED, quick=quick)
    return whole, plan_packed(study, quick=quick, exact=False)


def some(names: list[str]) -> Iterator[Any]:
    """Yield names; one in six without soak."""
    for place, name in enumerate(names):
        yield pytest.param(name, marks=pytest.mark.soak if place % 6 else ())


@pytest.mark.parametrize("name", list(some(ready_names())))
def test_packed_plan_of_a_ready_study_equals_the_plan(name: str) -> None:
    whole, packed = both(name, quick=True)
    assert list(packed.runs) == whole.runs and packed.study == whole.study
    assert packed.refusals == whole.refusals
    runnable = [each.model_copy(update={"refusals": []}) for each in (whole, packed)]
    examined = [examine(each, World.simulated, Bindings()) for each in runnable]
    assert examined[0] == examined[1]
    tasks = [tasks_of(examined[0], each.runs) for each in (whole, packed)]
    for attribute in ("identity", "label", "length_ns", "cell", "setting", "world"):
        found = [[getattr(task, attribute) for task in each] for each in tasks]
        assert found[0] == found[1]
    assert cells_and_tried(packed) == cells_and_tried(whole)
    for said in (lasting, written):
        assert said(World.simulated, packed) == said(World.simulated, whole)


def test_specs_of_several_blocks_keep_their_order(tmp_path: Path) -> None:
    levels = ", ".join(map(str, range(1, 2 * BLOCK_RUNS + 3)))
    (tmp_path / "many.toml").write_text(MANY.replace("LEVELS", levels))
    whole, packed = both("many", tmp_path / "many.toml")
    specs = packed.runs
    assert isinstance(specs, SpecTexts) and len(specs) == len(whole.runs)
    assert list(specs) == whole.runs
    for place in (0, BLOCK_RUNS - 1, BLOCK_RUNS, len(specs) - 1):
        assert specs[place] == whole.runs[place]
    assert specs[3:5] == whole.runs[3:5]
    with pytest.raises(IndexError):
        specs[len(specs)]
    assert len(specs.one_of_each()) == 1
