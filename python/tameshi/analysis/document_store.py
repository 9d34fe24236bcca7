"""A document store, simulated as its storage sees it: a journal, a merge tree, and its readers.

It is a model of an application, as that of a database server is, and its figures may be off by more
than chance: `model_error` says how far.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tameshi.analysis.model_error import DOCUMENTS, Facts, drive_of
from tameshi.analysis.stats.estimates import MOVING, WindowData
from tameshi.analysis.stats.offered_load import Offered, offered
from tameshi.core import compiled
from tameshi.core.spec_types import PhaseSpec, PhaseStream, RunSpec, Sync3

PROFILE = "merge tree"
STEADY_ARRIVALS = ("poisson", "constant")
"""Arrivals that have one rate throughout."""


def facts_of_store(spec: RunSpec, phase: PhaseSpec, storage: str) -> Facts | None:
    """What a phase's document store on a storage is; None where there is none.

    Its caches are left out: all of its data is as far away, so that no share of them is held.
    """
    trees = [tree for of in phase.streams if of.storage == storage and (tree := _tree(of))]
    if not trees:
        return None
    model = spec.storage[storage].model
    node = model.model_dump(mode="json", by_alias=True) if model else None
    memory = sum(size for _, size in trees)
    clients = sum(count for count, _ in trees)
    return Facts(PROFILE, DOCUMENTS, drive_of(node), clients, memory, memory)


def _tree(stream: PhaseStream) -> tuple[int, int] | None:
    """Committers of a stream's merge trees, and bytes of their memory; None where it has none."""
    of = stream.stream
    if of.lsm is None:
        return None
    jobs = of.jobs or 1
    group = of.sync.group_commit.committers if isinstance(of.sync, Sync3) else 1
    return jobs * group, jobs * compiled.size_bytes(of.lsm.memtable)


def arrives(stream: PhaseStream, runs: Sequence[WindowData]) -> Offered | None:
    """What arrives of a stream in open loop at one rate; None where its rates are not bound by it.

    Documents are what commits, and what their tree writes for them is not; of another stream its
    reads, or its writes, where it has no others.
    """
    told: Any = stream.stream.model_dump(mode="json", by_alias=True)
    given = told["arrivals"] if isinstance(told["arrivals"], dict) else {}
    rates = [given[kind]["rate"] for kind in STEADY_ARRIVALS if kind in given]
    served = ["commit"] if told["lsm"] else list(_moving(runs))
    if not rates or told["duty"] or len(served) != 1:
        return None
    (kind,) = served
    metrics = (f"{kind}.rate",) if kind == "commit" else (f"{kind}.iops", f"{kind}.bandwidth")
    return offered(stream.name, rates[0], runs, counter=f"{kind}.count", whole=metrics)


def _moving(runs: Sequence[WindowData]) -> Iterator[str]:
    for kind in MOVING:
        if any(sum(run.counters.get(f"{kind}.count", ())) > 0 for run in runs):
            yield kind
