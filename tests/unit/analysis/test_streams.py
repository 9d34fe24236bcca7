"""Streams of a study: what their phases have in common."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tameshi.analysis.streams import merged, streams
from tameshi.core.data import STUDIES
from tameshi.study.file import plan, read_study


def facts(**changed: Any) -> dict[str, Any]:
    common = {"pattern": "random", "read_share": 1.0, "block_bytes": 4096}
    return {**common, "commits": False, "alone": True, **changed}


FIRST_LOOK = {
    "small": facts(pattern=None, read_share=None),
    "large": facts(pattern="sequential", read_share=None, block_bytes=1 << 20),
    "log": facts(pattern="sequential", read_share=0.0, commits=True),
    # The reader runs alone first, then next to the writer.
    "reader": facts(alone=False),
    "writer": facts(read_share=0.0, block_bytes=16384, alone=False),
}


def streams_of(path: Path) -> dict[str, Any]:
    return streams(plan(read_study(path), "simulated", quick=True).runs)


def test_streams_of_a_study_have_what_their_phases_share() -> None:
    assert streams_of(STUDIES / "first-look.toml") == FIRST_LOOK


def test_merged_streams_equal_those_of_all_runs() -> None:
    runs = plan(read_study(STUDIES / "first-look.toml"), "simulated", quick=True).runs
    assert merged([streams([run]) for run in runs]) == FIRST_LOOK
    reader, writer = facts(alone=False), facts(read_share=0.0, alone=True)
    assert merged([{"a": reader}, {"a": writer}, {"b": writer}]) == {
        "a": facts(read_share=None, alone=False),
        "b": writer,
    }


@pytest.mark.parametrize(
    ("line", "changed"),
    [
        ("read = '65 %'", {"read_share": 0.65}),
        ("block_size_mix = [{ size = '4 KiB', share = '100 %' }]", {"block_bytes": None}),
        ("pattern = { zipf = { theta_permille = 900 } }", {}),
        ("pattern = { strided = { run = '64 KiB', skip = '64 KiB' } }", {"pattern": "strided"}),
    ],
)
def test_stream_is_described_by_its_own_keys(line, changed, tmp_path) -> None:
    study = tmp_path / "s.toml"
    study.write_text(
        "title = 's'\nquestion = 'q'\n[storage.disk]\ndevice = 'sas-15k-146gb'\nsize = '8 MiB'\n"
        f"[workload.stream.s]\n{line}\n"
        "[phase.p]\nworkload = ['stream.s']\nuntil = { time = '1 s' }\n"
    )
    assert streams_of(study) == {"s": facts(**changed)}
