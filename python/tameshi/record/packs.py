"""Packs of a large study: Parquet files, each with the records of many complete simulated runs.

A pack is named by the hash of its content and never changes. It holds each file of a run as it was
sealed, so that the seal of the run stays valid and its folder can be written again.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar, overload

import polars as pl

from tameshi import guard
from tameshi.core.reasons import reason
from tameshi.record import store
from tameshi.record.seal import OUTCOME, PACKS
from tameshi.record.store import DamagedRun, SealedRun
from tameshi.record.transfer import BadRecord, checked, content_of

MOST_RUNS = 256
"""Runs of a pack: some 15 MB of files in memory."""
ROWS = 32
"""Rows of a row group: a run is read with few others, and files of its neighbours share their
compression."""
FEW = 16
"""Runs of a pack up to which they are read one by one."""
NAME_DIGITS = 32
READ_RUNS = 64
"""Runs that an iteration over all runs reads at a time."""
WORLD = "simulated"
"""World whose runs are packed: others have files that a user needs by their paths."""
FILES: Any = pl.List(pl.Struct({"name": pl.String, "data": pl.Binary}))
INDEX = {"identity": pl.String, "world": pl.String, "cell": pl.String, "unknown": pl.String}
"""Columns that tell where each run is; `cell` and `unknown` are JSON of its levels."""
SCHEMA: dict[str, Any] = {**INDEX, "repetition": pl.Int64, "verdict": pl.String, "files": FILES}


Item = TypeVar("Item")


def batched(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Yield the items in lists of `size`, the last one shorter."""
    left = iter(items)
    while some := list(islice(left, size)):
        yield some


@dataclass(frozen=True, slots=True)
class Place:
    """Pack of a run, and the run's levels as JSON."""

    pack: str
    row: int
    world: str
    cell: str
    unknown: str


class Packs:
    """Packs of a study folder, with the place of each run in memory."""

    def __init__(self, study: Path) -> None:
        """Read the index of every pack; those that differ from their names are `damaged`."""
        self.study = study
        self.places: dict[str, Place] = {}
        self.damaged: list[Path] = []
        self._kept: set[tuple[str, int]] = set()
        """Run folders that stay: name, and time of their outcome in ns."""
        self._collecting = threading.Lock()
        for path in sorted((study / PACKS).glob("*.parquet")):
            self._open(path)

    def _open(self, path: Path) -> None:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        if digest[:NAME_DIGITS] != path.stem:
            self.damaged.append(path)
            return
        self._index(path.name, pl.read_parquet(path, columns=list(INDEX)))

    def _index(self, pack: str, rows: pl.DataFrame) -> None:
        for row, (identity, *levels) in enumerate(rows.select(list(INDEX)).iter_rows()):
            self.places.setdefault(identity, Place(pack, row, *levels))

    def damage(self) -> list[DamagedRun]:
        """Return the damaged packs in the form of damaged runs."""
        return [DamagedRun(path, reason("file_content", path.name), None) for path in self.damaged]

    def set_aside(self) -> list[Path]:
        """Move damaged packs to `damaged/` of the study; return their new paths."""
        moved = []
        for path in self.damaged:
            place = self.study / "damaged" / path.name
            guard.write_file(place, path.read_bytes())
            guard.remove_file(path)
            moved.append(place)
        self.damaged.clear()
        return moved

    # Writing

    def collect(self, least: int = 1) -> int:
        """Move complete simulated runs from their folders to packs; return their number.

        Does nothing with fewer than `least` folders. A folder is removed after its pack is on the
        disk: a kill in between leaves a run twice, and the next call removes the folder.
        """
        with self._collecting:
            return self._collect(least)

    def _collect(self, least: int) -> int:
        found = list(self._sealed())
        if len(found) < least:
            return 0
        moved = 0
        for folders in batched(found, MOST_RUNS):
            rows = {folder: row for folder in folders if (row := self._row(folder))}
            fresh = [row for row in rows.values() if row["identity"] not in self.places]
            if fresh:
                self._write(fresh)
            for folder in rows:
                guard.remove_folder(folder)
            moved += len(fresh)
        return moved

    def _sealed(self) -> Iterator[Path]:
        """Yield the run folders with an outcome, except those known to stay."""
        try:
            names = sorted(os.listdir(self.study / "runs"))
        except FileNotFoundError:
            return
        for name in names:
            folder = self.study / "runs" / name
            if (sealed_ns := _sealed_ns(folder)) and (name, sealed_ns) not in self._kept:
                yield folder

    def _row(self, folder: Path) -> dict[str, Any] | None:
        """Return the row of a run; None for a run that keeps its folder."""
        try:
            content = content_of(folder)
            identity = str(json.loads(content[OUTCOME])["identity"])
            outcome = checked(content, identity)
            spec = json.loads(content["spec.json"])
        except (BadRecord, OSError, ValueError, KeyError, TypeError):
            spec, outcome, identity = {}, {"status": ""}, ""
        is_packed = outcome["status"] == "complete" and spec["world"] == WORLD
        if not is_packed or store.run_folder(self.study, identity) != folder:
            self._kept.add((folder.name, _sealed_ns(folder)))
            return None
        return {
            "identity": identity,
            "world": spec["world"],
            "cell": json.dumps(spec["cell"], ensure_ascii=False),
            "unknown": json.dumps(spec.get("unknown") or {}, ensure_ascii=False),
            "repetition": spec["repetition"],
            "verdict": outcome["verdict"]["level"],
            "files": [{"name": name, "data": data} for name, data in content.items()],
        }

    def _write(self, rows: Sequence[Mapping[str, Any]]) -> None:
        frame, buffer = pl.DataFrame(rows, schema=SCHEMA), BytesIO()
        frame.write_parquet(buffer, compression="zstd", row_group_size=ROWS, statistics=False)
        data = buffer.getvalue()
        name = f"{hashlib.sha256(data).hexdigest()[:NAME_DIGITS]}.parquet"
        guard.write_file(self.study / PACKS / name, data)
        self._index(name, frame)

    # Reading

    def read(self, identities: Iterable[str]) -> dict[str, SealedRun]:
        """Return the packed ones of these runs by identity, in any order."""
        by_pack: dict[str, list[int]] = {}
        for identity in identities:
            if place := self.places.get(identity):
                by_pack.setdefault(place.pack, []).append(place.row)
        return {
            identity: self._run(identity, files)
            for pack, rows in by_pack.items()
            for identity, files in self._rows(pack, rows)
        }

    def _rows(self, pack: str, rows: Sequence[int]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
        """Yield identity and files of some rows of a pack."""
        table = pl.scan_parquet(self.study / PACKS / pack).select("identity", "files")
        if len(rows) > FEW:
            yield from table.collect()[sorted(rows)].iter_rows()
            return
        for row in sorted(rows):
            yield from table.slice(row, 1).collect().iter_rows()

    def _run(self, identity: str, files: Sequence[Mapping[str, Any]]) -> SealedRun:
        content = {file["name"]: file["data"] for file in files}
        folder = store.run_folder(self.study, identity)
        try:
            return store.run_of(folder, content, checked(content, identity))
        except (BadRecord, ValueError, KeyError) as error:
            damage = reason("file_unreadable", OUTCOME, error=" ".join(str(error).split()))
            raise DamagedRun(folder, damage, None) from None


def _sealed_ns(folder: Path) -> int:
    """Return the time of a folder's outcome; 0 without one."""
    try:
        return (folder / OUTCOME).stat().st_mtime_ns
    except OSError:
        return 0


class StoredRuns(Sequence[SealedRun]):
    """Runs of a packed study in the order of the plan; packed ones are read when they are used."""

    def __init__(
        self, packs: Packs, loose: Mapping[str, SealedRun], identities: Iterable[str]
    ) -> None:
        """Keep the runs that exist: in a pack, or `loose` ones by identity."""
        self.packs = packs
        self.loose = loose
        self.identities = [each for each in identities if each in packs.places or each in loose]

    def __len__(self) -> int:
        return len(self.identities)

    @overload
    def __getitem__(self, place: int) -> SealedRun: ...
    @overload
    def __getitem__(self, place: slice) -> StoredRuns: ...
    def __getitem__(self, place: int | slice) -> SealedRun | StoredRuns:
        if isinstance(place, slice):
            return StoredRuns(self.packs, self.loose, self.identities[place])
        return self.read([self.identities[place]])[0]

    def __iter__(self) -> Iterator[SealedRun]:
        for some in batched(self.identities, READ_RUNS):
            yield from self.read(some)

    def read(self, identities: Sequence[str]) -> list[SealedRun]:
        """Return some of the runs in this order."""
        packed = self.packs.read(identities)
        return [self.loose[each] if each in self.loose else packed[each] for each in identities]

    def levels_of(self, identity: str) -> tuple[str, str, str]:
        """Return world, cell and unknown settings of a run; the latter two are JSON."""
        if run := self.loose.get(identity):
            cell, unknown = run.spec.cell, run.spec.unknown or {}
            parts = (json.dumps(dict(each), ensure_ascii=False) for each in (cell, unknown))
            return (run.spec.world.value, *parts)  # type: ignore[return-value]
        place = self.packs.places[identity]
        return place.world, place.cell, place.unknown

    def status_of(self, identity: str) -> str:
        """Return the status of a run; packed ones are complete."""
        run = self.loose.get(identity)
        return str(run.outcome["status"]) if run else "complete"
