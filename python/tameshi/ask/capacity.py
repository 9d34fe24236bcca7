"""Selection of storages that can hold the question's data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from tameshi.ask.question import Question, Storage, Varied
from tameshi.ask.space import Space
from tameshi.ask.study_text import asked_study, scale_of, space_at, space_of_question
from tameshi.core import compiled
from tameshi.core.errors import BadInput, StudyError
from tameshi.core.reasons import Reason, reason
from tameshi.core.spec_types import World
from tameshi.report.words.text import Text
from tameshi.study.bindings import Bindings
from tameshi.workflow.prepare import prepare

LeftOut = Mapping[str, Any]
"""Left-out configuration: `storage`, `level` (pool or input value, or null), `reasons`."""


def with_capacity(question: Question, folder: Path) -> tuple[Question, list[LeftOut]]:
    """Return the question with storages of sufficient capacity, and the others.

    Raises `BadInput` if none is left.
    """
    space = space_of_question(question)
    known = [(each, capacity_of(question, each, space, folder)) for each in question.storages]
    left: list[LeftOut] = [
        {"storage": each.name, "level": None, "reasons": [lacking]}
        for each, held in known
        if (lacking := shortage(held, space))
    ]
    storages = tuple(replace(each, holds=held) for each, held in known if not shortage(held, space))
    if not storages:
        text = Text()
        said = "; ".join(f"{each['storage']}: {text.reason(each['reasons'][0])}" for each in left)
        raise BadInput("no storage has enough space", where="--storage", found=said)
    # The scale depends on the storages, and the capacity on the scale.
    return replace(question, storages=storages, scale=scale_of(question)), left


def inputs_with_capacity(
    question: Question, storage: str, folder: Path
) -> tuple[Question, list[LeftOut]]:
    """Return the question with uncertain inputs that the storage can hold, and the others."""
    (chosen,) = (each for each in question.storages if each.name == storage)
    varied: list[Varied] = []
    left: list[LeftOut] = []
    for each in question.varied:
        label, space = space_at(question, each)
        lacking = shortage(capacity_of(question, chosen, space, folder), space)
        if lacking:
            left.append({"storage": storage, "level": label, "reasons": [lacking]})
        else:
            varied.append(each)
    return replace(question, varied=tuple(varied)), left


def capacity_of(question: Question, storage: Storage, space: Space, folder: Path) -> int | None:
    """Return the capacity of a storage at full size, if it limits a run."""
    full_size = replace(question, storages=(replace(storage, holds=None),), scale=1)
    written = asked_study(full_size, [question.pools[0]], folder, space)
    try:
        prepare(written.study, [World.simulated], Bindings(), quick=False)
    except StudyError as error:
        if error.key != f"storage.{storage.name}.size" or not error.accepted:
            return None
        return int(compiled.size_bytes(error.accepted[0].partition('"')[2].rstrip('"')))
    return None


def shortage(held: int | None, space: Space) -> Reason | None:
    """Return why a storage of this capacity is too small; None if it is not."""
    if held is None or held >= space.required:
        return None
    parts = {"held": held, "data": space.data, "growth": space.growth, "log": space.log}
    parts["whole"] = space.required
    return reason("no_room", "", **{f"{key}_capacity": value for key, value in parts.items()})
