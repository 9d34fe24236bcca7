"""`tameshi ask`: from a question to configurations that were simulated, and the answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.console import Console

from tameshi import guard, outputs, store
from tameshi.ask import answer
from tameshi.ask.ladder import Tried, refinements, rungs
from tameshi.ask.question import Question
from tameshi.ask.written import (
    SENSITIVITY,
    Written,
    asked_study,
    pool_label,
    refuse_too_small,
    sensitivity_study,
)
from tameshi.bindings import Bindings
from tameshi.conduct import Conducted, Prepared, conduct, prepare
from tameshi.errors import BadInput, StudyError
from tameshi.results import results
from tameshi.spec_types import Plan, World

MOST_ROUNDS = 4
"""Rounds of refinement: each halves, as a factor, what is left between two pools."""


@dataclass(frozen=True)
class Asking:
    """A question, and how it is gone about."""

    question: Question
    folder: Path
    jobs: int
    refine: bool
    reproduce: Sequence[str]


@dataclass(frozen=True)
class Answered:
    """What became of it: the document is none where nothing was found out."""

    document: dict[str, Any] | None
    complete: bool
    interrupted: bool


def prepared(question: Question, folder: Path) -> Prepared:
    """The study of the first configurations, planned and examined; creates nothing.

    Raises `BadInput` that names what of the question can't be.
    """
    answer.refuse_unknown_power(question)
    refuse_too_small(question)
    pools = rungs(*question.pools)
    return _prepared(asked_study(question, pools, folder))


def _prepared(written: Written) -> Prepared:
    try:
        return prepare(written.study, [World.simulated], Bindings(), quick=False)
    except StudyError as error:
        raise BadInput(
            error.message,
            where="the question, as a study",
            key=error.key,
            found=error.found,
            accepted=error.accepted,
        ) from None


def ask(asking: Asking, console: Console) -> Answered:
    """Run what remains to be run, and write asked.json; the same call goes on where it stopped."""
    question, folder = asking.question, asking.folder
    pools = rungs(*question.pools)
    wanted = {storage.name: list(pools) for storage in question.storages}
    guard.claim_folder(folder)
    found: list[dict[str, Any]] = []
    for _ in range(MOST_ROUNDS + 1):
        written = asked_study(question, sorted(pools), folder)
        done = _conduct(asking, written, folder, console, _only(wanted))
        cells = results(done.plan, done.conducted.runs)["cells"]
        found = answer.configurations(question, pools, cells)
        _write(folder, answer.document(question, found, []))
        if done.conducted.interrupted or not done.conducted.complete:
            return _ended(folder, done.conducted)
        more = refinements(_tried(question, found), _cost(question)) if asking.refine else {}
        if not more:
            break
        for storage, pool in more.items():
            wanted[storage].append(pool)
            pools.append(pool)
        pools = sorted(set(pools))
    if not question.varied:
        return _ended(folder, done.conducted)
    chosen = answer.best_of(question, found) or answer.nearest_of(found)
    if chosen is None:
        return _ended(folder, done.conducted)
    return _vary(asking, found, chosen["storage"], chosen["pool_bytes"], console)


def _vary(
    asking: Asking, found: list[dict[str, Any]], storage: str, pool: int, console: Console
) -> Answered:
    question, folder = asking.question, asking.folder
    console.print(
        f"What the answer hangs on: {storage} with {pool_label(pool)}", markup=False, soft_wrap=True
    )
    below = folder / SENSITIVITY
    written = sensitivity_study(question, storage, pool, below)
    done = _conduct(asking, written, below, console, lambda _: True)
    rows = answer.sensitivity(question, results(done.plan, done.conducted.runs)["cells"])
    _write(folder, answer.document(question, found, rows))
    return _ended(folder, done.conducted)


@dataclass(frozen=True)
class _Done:
    plan: Any
    conducted: Conducted


def _conduct(
    asking: Asking,
    written: Written,
    folder: Path,
    console: Console,
    wanted: Callable[[dict[str, str]], bool],
) -> _Done:
    """Run of a study the cells that are wanted."""
    whole = _prepared(written)
    plans = {world: _part(planned, wanted) for world, planned in whole.plans.items()}
    guard.claim_folder(folder)
    for name, text in written.devices:
        guard.write_file(folder / "profiles" / "devices" / f"{name}.toml", text.encode())
    part = replace(whole, plans=plans)
    conducted = conduct(part, folder, console, jobs=asking.jobs, reproduce=list(asking.reproduce))
    return _Done(part.summary, conducted)


def _part(planned: Plan, wanted: Callable[[dict[str, str]], bool]) -> Plan:
    runs = [run for run in planned.runs if wanted(run.cell)]
    return planned.model_copy(update={"runs": runs})


def _only(wanted: dict[str, list[int]]) -> Callable[[dict[str, str]], bool]:
    labels = {storage: {pool_label(pool) for pool in pools} for storage, pools in wanted.items()}
    return lambda cell: cell["buffer_pool"] in labels[cell["storage"]]


def _tried(question: Question, found: Sequence[dict[str, Any]]) -> list[Tried]:
    return [
        Tried(
            each["storage"],
            each["pool_bytes"],
            bool(each["meets"]),
            answer.cost(question, each["storage"], each["pool_bytes"]),
        )
        for each in found
    ]


def _cost(question: Question) -> Callable[[str, int], float]:
    return lambda storage, pool: answer.cost(question, storage, pool)


def _write(folder: Path, document: dict[str, Any]) -> None:
    store.write_json(folder / outputs.ASKED, document)


def _ended(folder: Path, done: Conducted) -> Answered:
    return Answered(outputs.read_asked(folder), done.complete, done.interrupted)
