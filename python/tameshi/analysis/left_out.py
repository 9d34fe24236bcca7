"""Effects that the model leaves out where they would change a study's figures, as reasons."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tameshi.analysis.findings import writes
from tameshi.analysis.series import program_words
from tameshi.core.reasons import reason
from tameshi.core.spec_types import RunSpec

MD_BITMAP, NO_HOST = "md_bitmap", "no_host"
REDUNDANT = ("raid1", "raid10", "raid5")
"""Arrays for which md keeps a write-intent bitmap."""
FREE = "free"
"""Profile of a host without cost."""
SCAN = "scan"
"""Program that writes nothing."""


def left_out(specs: Iterable[RunSpec]) -> list[Mapping[str, Any]]:
    """Return what the model leaves out of a study's runs: at most one reason of a kind."""
    arrays: dict[str, None] = {}
    is_free = False
    for spec in specs:
        arrays |= dict.fromkeys(
            name
            for name in _written(spec)
            if (model := spec.storage[name].model)
            and _has_bitmap(model.model_dump(mode="json", by_alias=True))
        )
        is_free |= _is_free(spec)
    bitmap = [reason(MD_BITMAP, names=list(arrays))] if arrays else []
    return [*bitmap, *([reason(NO_HOST)] if is_free else [])]


def merged(groups: Iterable[Iterable[Mapping[str, Any]]]) -> list[Mapping[str, Any]]:
    """Return what is left out of several groups of runs, each as `left_out` returns it."""
    arrays: dict[str, None] = {}
    others: dict[str, Mapping[str, Any]] = {}
    for each in (each for group in groups for each in group):
        if each["code"] == MD_BITMAP:
            arrays |= dict.fromkeys(each["values"]["names"])
        else:
            others[each["code"]] = each
    return [*([reason(MD_BITMAP, names=list(arrays))] if arrays else []), *others.values()]


def _is_free(spec: RunSpec) -> bool:
    """Return whether system calls cost no time: simulated without a host."""
    return spec.world.value == "simulated" and (spec.host is None or spec.host.profile == FREE)


def _has_bitmap(node: Mapping[str, Any]) -> bool:
    """Return whether a stack has a redundant array that md would build.

    An array behind a write-back cache is a hardware controller's, which has no bitmap.
    """
    ((kind, inner),) = node.items()
    if kind in REDUNDANT:
        return True
    return kind not in ("cache", "device") and _has_bitmap(inner["of"])


def _written(spec: RunSpec) -> Iterator[str]:
    """Yield the storages that a run's streams or database write to."""
    for phase in spec.phases:
        yield from (each.storage for each in phase.streams if writes(each.stream))
        if spec.database and set(program_words([phase])) - {SCAN}:
            yield spec.database.storage
            yield from (
                name
                for role in ("log", "binlog", "temp")
                if (name := getattr(spec.database, role, None))
            )
