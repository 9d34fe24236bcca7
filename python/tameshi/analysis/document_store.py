"""Document store, simulated as its storage sees it: a journal, a merge tree, and its readers.

Like the model of a database server it models an application, so `model_error` states its error
apart from sampling.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tameshi.analysis.database_error import DOCUMENTS
from tameshi.analysis.database_facts import Facts, drive_of
from tameshi.analysis.stats.estimates import MOVING, WindowData
from tameshi.analysis.stats.offered_load import Offered, offered
from tameshi.core import compiled
from tameshi.core.spec_types import PhaseSpec, PhaseStream, RunSpec, SyncGroupCommit

PROFILE = "merge tree"
STEADY_ARRIVALS = ("poisson", "constant")
"""Arrivals at a constant rate."""


def facts_of_store(spec: RunSpec, phase: PhaseSpec, storage: str) -> Facts | None:
    """Return facts about the document store of a phase on a storage; None without one.

    Caches are excluded: no share of the data counts as cached.
    """
    trees = [
        tree for stream in phase.streams if stream.storage == storage and (tree := _tree(stream))
    ]
    if not trees:
        return None
    model = spec.storage[storage].model
    node = model.model_dump(mode="json", by_alias=True) if model else None
    memory = sum(size for _, size in trees)
    clients = sum(count for count, _ in trees)
    return Facts(PROFILE, DOCUMENTS, drive_of(node), clients, memory, memory)


def _tree(stream: PhaseStream) -> tuple[int, int] | None:
    """Return the committers of a stream's merge trees and their memory in bytes; None without a
    tree."""
    spec = stream.stream
    if spec.lsm is None:
        return None
    jobs = spec.jobs or 1
    group = spec.sync.group_commit.committers if isinstance(spec.sync, SyncGroupCommit) else 1
    return jobs * group, jobs * compiled.size_bytes(spec.lsm.memtable)


def arrives(stream: PhaseStream, runs: Sequence[WindowData]) -> Offered | None:
    """Return the open-loop arrival rate of a stream; None if it bounds none of its rates.

    Commits count documents, not the writes of their tree. Another stream counts reads, or writes if
    it has no reads.
    """
    spec: Any = stream.stream.model_dump(mode="json", by_alias=True)
    given = spec["arrivals"] if isinstance(spec["arrivals"], dict) else {}
    rates = [given[kind]["rate"] for kind in STEADY_ARRIVALS if kind in given]
    served = ["commit"] if spec["lsm"] else list(_moving(runs))
    if not rates or spec["duty"] or len(served) != 1:
        return None
    (kind,) = served
    metrics = (f"{kind}.rate",) if kind == "commit" else (f"{kind}.iops", f"{kind}.bandwidth")
    return offered(stream.name, rates[0], runs, counter=f"{kind}.count", whole=metrics)


def _moving(runs: Sequence[WindowData]) -> Iterator[str]:
    for kind in MOVING:
        if any(sum(run.counters.get(f"{kind}.count", ())) > 0 for run in runs):
            yield kind
