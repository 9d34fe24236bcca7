"""Read-only phase after writes: the drive finishes outstanding work."""

from pathlib import Path

import pytest
from command import results, tameshi

STUDY = """
title = "Writes, then reads"
question = "How long does a drive last that is only read?"
[storage.d]
device = "nvme-qlc-15.36tb"
scale = 64
written = "once"
[storage.other]
raid1 = { members = 2, device = "nvme-qlc-15.36tb" }
scale = 64
written = "once"
[workload.stream.w]
storage = "d"
queue_depth = 64
read = "0 %"
[workload.stream.r]
storage = "d"
queue_depth = 64
[workload.stream.o]
storage = "other"
read = "50 %"
[phase.w]
workload = ["stream.w"]
until = { time = "20 ms" }
[phase.r]
workload = ["stream.r", "stream.o"]
until = { time = "20 ms" }
[run]
interval = "5 ms"
"""


def test_only_written_storages_have_life_and_amplification(study, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = tameshi("run", study(STUDY), "--out", out)
    assert done.returncode == 0, done.stderr
    result = {
        (cell["phase"], flash["subject"]): flash
        for cell in results(out)["cells"]
        for flash in cell["endurance"]
    }
    assert result["r", "storage.d"]["written_bytes"], "what was outstanding"
    assert result["r", "storage.d"]["stream_written_bytes"] == 0
    mirrored = result["r", "storage.other"]
    copies = mirrored["written_bytes"] / mirrored["stream_written_bytes"]
    assert copies == pytest.approx(2, rel=0.05)
    lasting = {
        place
        for place, flash in result.items()
        if flash["life_years"] is not None and flash["write_amplification"] is not None
    }
    assert lasting == {("w", "storage.d"), ("r", "storage.other")}
