"""What a storage still holds of what a run wrote there and had acknowledged. Nothing is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tameshi import guard
from tameshi.core import compiled
from tameshi.core.errors import BadInput

AFTER = ("power-cut", "crash")
"""What happened: a power cut may lose what was never synced, a crash of a program may not."""


@dataclass(frozen=True)
class Verified:
    """One storage: blocks that the run wrote, those that are right, and what is wrong."""

    storage: str
    written: int
    right: int
    findings: tuple[Mapping[str, Any], ...]

    def broken(self, after: str) -> list[Mapping[str, Any]]:
        """The findings that break what was promised."""
        forgiven = {"unsynced"} if after == "power-cut" else set()
        return [found for found in self.findings if found["verdict"] not in forgiven]


def verify(run: Path, places: Mapping[str, Path]) -> list[Verified]:
    """Compares each storage that the run's streams verified with the run's journal of it.

    `places` says where each is now: the target, or the folder it stands in. Raises `BadInput` where
    the run kept no journal or a place is missing, `GuardRefusal` for what is no target.
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
        found = compiled.verify(journal, opened)
    return Verified(name, found["written"], found["right"], tuple(found["findings"]))


def described(finding: Mapping[str, Any]) -> str:
    """One finding in words."""
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
