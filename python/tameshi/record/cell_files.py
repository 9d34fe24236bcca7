"""Results of a large study as Parquet: a row per cell, and a row per estimate.

Both tables have the same parts. A part never changes; its rows are dropped when the runs behind
them do. `docs/large-studies.md` lists the columns.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import polars as pl

from tameshi import guard

FOLDER = "results"
CELLS, ESTIMATES = "cells", "estimates"
NAME_DIGITS = 32
Row = dict[str, Any]
CELL_BEGIN = {"key": pl.String, "world": pl.String, "phase": pl.String}
CELL_END = {
    **{"verdict": pl.String, "complete": pl.Int64, "partial": pl.Int64, "failed": pl.Int64},
    **{"reasons": pl.String, "facts": pl.String, "sha256": pl.String, "document": pl.String},
}
"""`document`: the cell as JSON, as results.json of a small study holds it; `sha256`: its hash."""
ESTIMATE_END = {
    **{"subject": pl.String, "metric": pl.String, "window": pl.String, "unit": pl.String},
    **{"value": pl.Float64, "low": pl.Float64, "high": pl.Float64, "runs": pl.Int64},
    **{"method": pl.String, "model_low": pl.Float64, "model_high": pl.Float64},
}
FIXED = {*CELL_BEGIN, *CELL_END, *ESTIMATE_END}
INTERNAL = ("key", "reasons", "facts", "sha256", "document")
"""Columns of cells that are of no use to a reader of figures."""


def level_columns(levels: Mapping[str, str], taken: Iterable[str] = FIXED) -> dict[str, str]:
    """Return levels as columns; an axis with the name of another column is `axis.NAME`."""
    others = set(taken)
    return {f"axis.{axis}" if axis in others else axis: level for axis, level in levels.items()}


class CellFiles:
    """Tables of a study folder."""

    def __init__(self, study: Path, axes: Sequence[str]) -> None:
        self._folder = study / FOLDER
        columns = dict.fromkeys(level_columns(dict.fromkeys(axes, "")), pl.String)
        self._cells = {**CELL_BEGIN, **columns, **CELL_END}
        self._estimates = {**CELL_BEGIN, **columns, **ESTIMATE_END}
        self._parts: dict[str, list[str]] = {}
        """Keys of each part by its name."""
        for path in sorted((self._folder / CELLS).glob("*.parquet")):
            self._open(path)

    def _open(self, path: Path) -> None:
        """Read the keys of a part; drop one that is damaged or of a study with other axes."""
        twin = self._folder / ESTIMATES / path.name
        try:
            is_usable = list(pl.read_parquet_schema(path)) == list(self._cells) and list(
                pl.read_parquet_schema(twin)
            ) == list(self._estimates)
            keys = pl.read_parquet(path, columns=["key"])["key"].unique().to_list()
        except (OSError, pl.exceptions.PolarsError):
            is_usable, keys = False, []
        self._parts[path.name] = keys if is_usable else []

    @property
    def keys(self) -> set[str]:
        """Return the keys of all groups of cells."""
        return {key for keys in self._parts.values() for key in keys}

    @property
    def files(self) -> dict[str, str]:
        """Return the pattern of each table's files, relative to the study folder."""
        return {name: f"{FOLDER}/{name}/*.parquet" for name in (CELLS, ESTIMATES)}

    def add(self, cells: Sequence[Row], estimates: Sequence[Row]) -> None:
        """Write a part."""
        self._write(
            pl.DataFrame(cells, schema=self._cells), pl.DataFrame(estimates, schema=self._estimates)
        )

    def _write(self, cells: pl.DataFrame, estimates: pl.DataFrame) -> None:
        keys = cells["key"].unique(maintain_order=True).to_list()
        name = f"{hashlib.sha256(json.dumps(keys).encode()).hexdigest()[:NAME_DIGITS]}.parquet"
        # A part counts once its cells are there.
        for table, frame in ((ESTIMATES, estimates), (CELLS, cells)):
            buffer = BytesIO()
            frame.write_parquet(buffer, compression="zstd")
            guard.write_file(self._folder / table / name, buffer.getvalue())
        self._parts[name] = keys

    def keep(self, keys: Collection[str]) -> None:
        """Drop the rows of all other groups, and parts that are left without rows."""
        wanted = set(keys)
        for name, held in list(self._parts.items()):
            kept = [key for key in held if key in wanted]
            if kept and len(kept) == len(held):
                continue
            if kept:
                cells, estimates = (
                    self._part(table, name).filter(pl.col("key").is_in(kept))
                    for table in (CELLS, ESTIMATES)
                )
                self._write(cells, estimates)
            del self._parts[name]
        for table in (CELLS, ESTIMATES):
            for path in sorted((self._folder / table).glob("*.parquet")):
                if path.name not in self._parts:
                    guard.remove_file(path)

    def _part(self, table: str, name: str) -> pl.DataFrame:
        return pl.read_parquet(self._folder / table / name)

    def cells(self, *columns: str) -> pl.DataFrame:
        """Return columns of the cells; groups and the cells in them keep their order in a part."""
        return self._table(CELLS, self._cells).select(columns).collect()

    def estimates(self) -> pl.LazyFrame:
        """Return all estimates."""
        return self._table(ESTIMATES, self._estimates)

    def _table(self, table: str, schema: Mapping[str, Any]) -> pl.LazyFrame:
        paths = [self._folder / table / name for name, keys in self._parts.items() if keys]
        return pl.scan_parquet(paths) if paths else pl.LazyFrame(schema=schema)

    def documents(self, order: Iterable[str]) -> Iterator[dict[str, Any]]:
        """Yield every cell in full, its groups in this order of keys."""
        by_key: dict[str, list[str]] = {}
        for key, document in self.cells("key", "document").iter_rows():
            by_key.setdefault(key, []).append(document)
        for key in order:
            for document in by_key.get(key, ()):
                yield json.loads(document)


def scan(study: Path, table: str) -> pl.LazyFrame:
    """Return a table of a study folder as it is."""
    return pl.scan_parquet(study / FOLDER / table / "*.parquet")
