"""Selection of storages that can hold the question's data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from tameshi.ask.question import Question, Storage, Varied
from tameshi.ask.room import Room
from tameshi.ask.written import asked_study, room_at, room_of_question, scale_of
from tameshi.core import compiled
from tameshi.core.errors import BadInput, StudyError
from tameshi.core.reasons import Reason, reason
from tameshi.core.spec_types import World
from tameshi.report.words.text import Text
from tameshi.study.bindings import Bindings
from tameshi.workflow.prepare import prepare

Left = Mapping[str, Any]
"""Left-out configuration: `storage`, `level` (pool or input value, or null), `reasons`."""


def fitting(question: Question, folder: Path) -> tuple[Question, list[Left]]:
    """Return the question with storages of sufficient capacity, and the others.

    Raises `BadInput` if none is left.
    """
    room = room_of_question(question)
    known = [(each, holds(question, each, room, folder)) for each in question.storages]
    left: list[Left] = [
        {"storage": each.name, "level": None, "reasons": [lacking]}
        for each, held in known
        if (lacking := no_room(held, room))
    ]
    storages = tuple(replace(each, holds=held) for each, held in known if not no_room(held, room))
    if not storages:
        text = Text()
        said = "; ".join(f"{each['storage']}: {text.reason(each['reasons'][0])}" for each in left)
        raise BadInput("no storage has enough space", where="--storage", found=said)
    # The scale depends on the storages, and the capacity on the scale.
    return replace(question, storages=storages, scale=scale_of(question)), left


def fitting_inputs(question: Question, storage: str, folder: Path) -> tuple[Question, list[Left]]:
    """Return the question with uncertain inputs that the storage can hold, and the others."""
    (stands,) = (each for each in question.storages if each.name == storage)
    varied: list[Varied] = []
    left: list[Left] = []
    for each in question.varied:
        label, room = room_at(question, each)
        lacking = no_room(holds(question, stands, room, folder), room)
        if lacking:
            left.append({"storage": storage, "level": label, "reasons": [lacking]})
        else:
            varied.append(each)
    return replace(question, varied=tuple(varied)), left


def holds(question: Question, storage: Storage, room: Room, folder: Path) -> int | None:
    """Return the capacity of a storage at full size, if it limits a run."""
    whole = replace(question, storages=(replace(storage, holds=None),), scale=1)
    written = asked_study(whole, [question.pools[0]], folder, room)
    try:
        prepare(written.study, [World.simulated], Bindings(), quick=False)
    except StudyError as error:
        if error.key != f"storage.{storage.name}.size" or not error.accepted:
            return None
        return int(compiled.size_bytes(error.accepted[0].partition('"')[2].rstrip('"')))
    return None


def no_room(held: int | None, room: Room) -> Reason | None:
    """Return why a storage of this capacity is too small; None if it is not."""
    if held is None or held >= room.whole:
        return None
    parts = {"held": held, "data": room.data, "growth": room.growth, "log": room.log}
    parts["whole"] = room.whole
    return reason("no_room", "", **{f"{key}_capacity": value for key, value in parts.items()})
