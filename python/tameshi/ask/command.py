"""`tameshi ask`: question to simulated configurations and the answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from tameshi import guard
from tameshi.analysis.results import results
from tameshi.ask import answer, saved_question
from tameshi.ask.capacity import LeftOut, inputs_with_capacity
from tameshi.ask.catalog import NONE, Catalog
from tameshi.ask.pool_search import refinements
from tameshi.ask.question import Question
from tameshi.ask.study_text import (
    SENSITIVITY,
    Written,
    asked_study,
    refuse_too_small,
    sensitivity_study,
)
from tameshi.core.errors import BadInput, StudyError
from tameshi.core.spec_types import World
from tameshi.core.units import format_exact_bytes
from tameshi.record import store
from tameshi.run.dispatcher import Elsewhere
from tameshi.study.bindings import Bindings
from tameshi.workflow import study_folder
from tameshi.workflow.execute import Conducted, conduct, refuse_other
from tameshi.workflow.prepare import Prepared, prepare

Cells = Sequence[Mapping[str, str]]
"""Cells of a study, by the levels of their axes."""

MAX_ROUNDS = 4
"""Rounds of refinement: each halves the ratio of two pools, on the logarithm."""


@dataclass(frozen=True)
class Asking:
    """Question with its folder and options; `left`: excluded storages."""

    question: Question
    left: Sequence[LeftOut]
    folder: Path
    jobs: int
    refine: bool
    reproduce: Sequence[str]
    elsewhere: Elsewhere | None = None
    """Runner of the simulations, if they are not made here."""


@dataclass(frozen=True)
class Answered:
    """Result of a question; the document is None without findings."""

    document: dict[str, Any] | None
    complete: bool
    interrupted: bool


def prepared(question: Question, folder: Path, catalog: Catalog = NONE) -> Prepared:
    """Return the study of the first configurations, planned and examined; create nothing.

    Raises `BadInput` at the invalid part of the question or its catalog.
    """
    answer.refuse_unknown_power(question)
    refuse_too_small(question)
    pools = question.first_pools
    return _prepared(asked_study(question, pools, folder), catalog)


def _prepared(written: Written, catalog: Catalog = NONE, cells: Cells | None = None) -> Prepared:
    try:
        return prepare(written.study, [World.simulated], Bindings(), quick=False, cells=cells)
    except StudyError as error:
        raise BadInput(
            error.message,
            where=_where(error.key, catalog),
            key=error.key,
            found=error.found,
            accepted=error.accepted,
        ) from None


def _where(key: str, catalog: Catalog) -> str:
    """Return the origin of a study's key: a storage of the catalog has a place in its file."""
    named = any(key.startswith(f"storage.{name}.") for name in catalog.storages)
    return catalog.place(key) if named else "the question, as a study"


def ask(asking: Asking, console: Console) -> Answered:
    """Run the remaining configurations and write asked.json; the same call resumes an interrupted
    one."""
    question, folder = asking.question, asking.folder
    refuse_other(folder, asked_study(question, question.pools, folder).study)
    saved_question.refuse_another(folder, question)
    guard.claim_folder(folder)
    saved_question.save(folder, question)
    explored = _explore(asking, console)
    chosen = answer.best_of(question, explored.found) or answer.nearest_of(explored.found)
    if explored.interrupted or chosen is None or not question.varied:
        return Answered(study_folder.read_asked(folder), explored.complete, explored.interrupted)
    varied = _vary(asking, chosen["storage"], chosen["pool_bytes"], console)
    left = [*asking.left, *answer.failed(explored.found), *varied.left]
    _write(folder, answer.document(question, explored.found, varied.rows, left))
    complete = explored.complete and varied.complete
    return Answered(study_folder.read_asked(folder), complete, varied.interrupted)


@dataclass(frozen=True)
class _Explored:
    found: Sequence[dict[str, Any]]
    complete: bool
    interrupted: bool


def _explore(asking: Asking, console: Console) -> _Explored:
    """Run every configuration, and the pools between them that could be cheaper."""
    question, folder = asking.question, asking.folder
    pools = question.first_pools
    wanted = {storage.name: list(pools) for storage in question.storages}
    failed: list[dict[str, Any]] = []
    refines = asking.refine and not question.listed_pools
    for _ in range(MAX_ROUNDS + 1):
        done = _conduct(
            asking, asked_study(question, sorted(pools), folder), folder, console, _only(wanted)
        )
        cells = results(done.plan, done.conducted.runs)["cells"]
        found = answer.in_order(question, [*failed, *answer.configurations(question, pools, cells)])
        left = [*asking.left, *answer.failed(found)]
        interrupted = done.conducted.interrupted
        _write(folder, answer.document(question, found, [], left, interrupted=interrupted))
        complete = done.conducted.complete and not failed
        if interrupted:
            break
        more = refinements(answer.tried(question, found), _cost(question)) if refines else {}
        if not more:
            break
        # A failed run would fail again.
        failed = [each for each in found if each["reasons"] is not None]
        for each in failed:
            if each["pool_bytes"] in wanted[each["storage"]]:
                wanted[each["storage"]].remove(each["pool_bytes"])
        for storage, pool in more.items():
            wanted[storage].append(pool)
        pools = sorted({*pools, *more.values()})
    return _Explored(found, complete, interrupted)


@dataclass(frozen=True)
class _Varied:
    rows: Sequence[dict[str, Any]]
    left: Sequence[LeftOut]
    complete: bool = True
    interrupted: bool = False


def _vary(asking: Asking, storage: str, pool: int, console: Console) -> _Varied:
    """Run each uncertain input's values on a configuration; return the values that cannot be
    run."""
    below = asking.folder / SENSITIVITY
    question, left = inputs_with_capacity(asking.question, storage, below)
    if not question.varied:
        return _Varied([], left)
    console.print(
        f"What the answer hangs on: {storage} with {format_exact_bytes(pool)}",
        markup=False,
        soft_wrap=True,
    )
    written = sensitivity_study(question, storage, pool, below)
    done = _conduct(asking, written, below, console)
    cells = results(done.plan, done.conducted.runs)["cells"]
    left += answer.failed_inputs(storage, cells)
    rows = answer.sensitivity(question, cells)
    return _Varied(rows, left, done.conducted.complete, done.conducted.interrupted)


@dataclass(frozen=True)
class _Done:
    plan: Any
    conducted: Conducted


def _conduct(
    asking: Asking,
    written: Written,
    folder: Path,
    console: Console,
    cells: Cells | None = None,
) -> _Done:
    """Run the wanted cells of a study; by default all."""
    part = _prepared(written, cells=cells)
    guard.claim_folder(folder)
    for name, text in written.devices:
        guard.write_file(folder / "profiles" / "devices" / f"{name}.toml", text.encode())
    conducted = conduct(
        *(part, folder, console),
        jobs=asking.jobs,
        reproduce=list(asking.reproduce),
        elsewhere=asking.elsewhere,
    )
    return _Done(part.summary, conducted)


def _only(wanted: dict[str, list[int]]) -> Cells:
    return [
        {"storage": storage, "buffer_pool": format_exact_bytes(pool)}
        for storage, pools in wanted.items()
        for pool in pools
    ]


def _cost(question: Question) -> Callable[[str, int], float]:
    return lambda storage, pool: answer.cost(question, storage, pool)


def _write(folder: Path, document: dict[str, Any]) -> None:
    store.write_json(folder / study_folder.ASKED, document)
