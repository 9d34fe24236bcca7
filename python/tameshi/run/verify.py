"""Check of a storage against a run's journal of acknowledged writes. Nothing is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tameshi import guard
from tameshi.core import compiled
from tameshi.core.errors import BadInput

AFTER = ("power-cut", "crash")
"""Possible failures: a power cut may lose data that was never synced, a program's crash may not."""


@dataclass(frozen=True)
class Verified:
    """Result for one storage: written blocks, intact blocks, and findings."""

    storage: str
    written: int
    right: int
    findings: tuple[Mapping[str, Any], ...]

    def broken(self, after: str) -> list[Mapping[str, Any]]:
        """Return the findings that violate a promise of durability."""
        forgiven = {"unsynced"} if after == "power-cut" else set()
        return [finding for finding in self.findings if finding["verdict"] not in forgiven]


def verify(run: Path, places: Mapping[str, Path]) -> list[Verified]:
    """Compare each verified storage of a run with the run's journal of it.

    `places` gives the current path of each: the target, or its folder. Raises `BadInput` without a
    journal or a place, `GuardRefusal` for a path that is not a target.
    """
    journals = {path.stem: path for path in sorted(run.glob("*.journal"))}
    if not journals:
        message = "this run verified no storage"
        accepted = ['the folder of a run with a stream that says `verify = "checksum"`']
        raise BadInput(message, where=str(run), accepted=accepted)
    wrong = [name for name in places if name not in journals]
    if wrong or len(places) < len(journals):
        raise BadInput(
            "each storage that was verified needs its place, and no other has one",
            where="--on",
            found=wrong[0] if wrong else "",
            accepted=[f"--on {name}=PATH" for name in journals],
        )
    return [_verify(name, path, places[name]) for name, path in journals.items()]


def _verify(name: str, journal: Path, place: Path) -> Verified:
    with guard.open_to_read(place, name) as target:
        opened = compiled.Target(
            name, target.fd, target.data_offset, target.data_bytes, target.direct
        )
        result = compiled.verify(journal, opened)
    return Verified(name, result["written"], result["right"], tuple(result["findings"]))


def described(finding: Mapping[str, Any]) -> str:
    """Return one finding in words."""
    if finding["belongs_bytes"] is not None:
        held = f"holds the block of offset {finding['belongs_bytes']}"
    elif finding["found"] is not None:
        held = f"holds write {finding['found']}"
    else:
        held = "holds no whole write of the run"
    return (
        f"offset {finding['offset_bytes']}: {finding['verdict']}; {held}, acknowledged is "
        f"{finding['acknowledged']}, durable {finding['durable']}"
    )
