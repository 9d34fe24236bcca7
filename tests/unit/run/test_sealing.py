"""Files of a run: synced before the seal, and short series read as Polars reads them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from sealing import made_tasks, seal_run

from tameshi import guard
from tameshi.record import store
from tameshi.record.seal import OUTCOME

HEADER = "t_ns,dt_ns,subject,metric,value\n"
INTEGERS = st.integers(0, 2**62)
NAMES = st.text("abcdefghijklmnopqrstuvwxyz0123456789._- é")
VALUES = st.integers(0, 2**63).map(str) | st.floats(allow_nan=False).map(repr)
ROWS = st.lists(st.tuples(INTEGERS, INTEGERS, NAMES, NAMES, VALUES))


def test_every_file_is_synced_before_the_seal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    sync = os.fsync

    def noted(descriptor: int) -> None:
        synced.append(os.readlink(f"/proc/self/fd/{descriptor}"))
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", noted)
    folder = seal_run(made_tasks(tmp_path)[0], tmp_path / "study")
    sealed = [str(folder / name) for name in json.loads((folder / OUTCOME).read_bytes())["files"]]
    assert {"spec.json", "environment.json", "series.parquet"} <= {Path(s).name for s in sealed}
    written = max(map(synced.index, [*sealed, str(folder)]))
    assert synced.index(str(folder / guard.MARKER)) < written
    # The seal has a temporary name when it is synced; its rename is synced last.
    assert len(synced) - 2 > written and synced[-1] == str(folder)


@settings(max_examples=40)
@given(ROWS)
def test_short_series_equal_those_of_polars(rows: list[tuple[object, ...]]) -> None:
    text = HEADER + "".join(",".join(map(str, row)) + "\n" for row in rows)
    whole = pl.read_csv(text.encode(), schema=store.SERIES)
    assert_frame_equal(store._series_in(text), whole)
