"""`tameshi verify`: a run's storage against its journal: intact, damaged, after a power cut."""

import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from command import kill_group, start, tameshi, wait_until
from served import no_drives_served

from tameshi.guard import Volume

STUDY = """
title = "t"
question = "q?"
[storage.disk]
size = "1 MiB"
[workload.stream.s]
pattern = "sequential"
read = "0 %"
verify = "checksum"
sync = { fdatasync = { every = 1 } }
[phase.p]
workload = ["stream.s"]
until.amount = "1 MiB"
"""
LOADED = """
title = "t"
question = "q?"
[storage.disk]
size = "16 MiB"
[workload.stream.s]
read = "20 %"
verify = "checksum"
access = "buffered"
jobs = 2
queue_depth = 4
SYNC
[phase.p]
workload = ["stream.s"]
until.time = "10 min"
"""
SYNCED = "sync = { fdatasync = { every = 4 } }"
VOLUME_BYTES = 320 << 20
DATA_OFFSET = 1 << 20
BLOCK = 4096
MEASURED = ["--world", "measured"]


def made(tmp_path: Path) -> tuple[Path, Path]:
    """Run a study that writes all of its storage once; return its folder and the target."""
    study, target, out = tmp_path / "s.toml", tmp_path / "target", tmp_path / "out"
    study.write_text(STUDY)
    done = tameshi("run", study, *MEASURED, f"--on=disk={target}", "--out", out, "--keep")
    assert done.returncode == 0, done.stderr
    (run,) = out.glob("runs/*")
    return run, target


def damage(target: Path, offset: int, data: bytes) -> None:
    with target.open("r+b") as file:
        file.seek(DATA_OFFSET + offset)
        file.write(data)


def test_damaged_block_is_named(tmp_path):
    run, target = made(tmp_path)
    total = tameshi("verify", run, f"--on=disk={target}")
    assert (total.returncode, total.stderr) == (0, "")
    assert "256 blocks of 4 KiB written, 256 intact" in total.stdout
    damage(target, 5 * BLOCK + 77, b"\xff\x00\xff")
    damage(target, 9 * BLOCK, bytes(BLOCK))
    found = tameshi("verify", run, f"--on=disk={target}")
    assert found.returncode == 1
    said = " ".join(found.stdout.split())
    assert f"offset {5 * BLOCK}: corrupt" in said
    assert f"offset {9 * BLOCK}: lost" in said
    assert "254 intact" in found.stdout and "2 broken" in found.stdout


def test_unverifiable_run_is_refused_with_remedy(tmp_path):
    run, target = made(tmp_path)
    cases = [
        ([run], "--on disk=PATH"),
        ([run, f"--on=other={target}"], "Found: other"),
        ([run, f"--on=disk={tmp_path / 'nothing'}"], "this does not exist"),
        ([run, f"--on=disk={tmp_path / 's.toml'}"], "without Tameshi's marker"),
        ([tmp_path, f"--on=disk={target}"], "this run verified no storage"),
        ([run, f"--on=disk={target}", "--after", "rain"], "power-cut"),
    ]
    for words, expected in cases:
        refused = tameshi("verify", *words)
        said = " ".join(refused.stderr.split())
        assert refused.returncode == 2, said
        assert expected in said, said


def test_swapped_blocks_are_named_with_offsets(tmp_path):
    run, target = made(tmp_path)
    data = target.read_bytes()[DATA_OFFSET:]
    blocks = [data[number * BLOCK : (number + 1) * BLOCK] for number in (3, 4)]
    damage(target, 3 * BLOCK, blocks[1] + blocks[0])
    said = " ".join(tameshi("verify", run, f"--on=disk={target}").stdout.split())
    for here, there in ((3, 4), (4, 3)):
        words = f"offset {here * BLOCK}: misplaced; holds the block of offset {there * BLOCK}"
        assert words in said


def test_a_simulated_drive_has_no_data_to_verify(tmp_path):
    study = tmp_path / "s.toml"
    study.write_text(STUDY.replace("[storage.disk]", '[storage.disk]\ndevice = "sas-15k-146gb"'))
    refused = tameshi("run", study, "--out", tmp_path / "out")
    assert refused.returncode != 0
    assert "a simulated drive holds no data" in " ".join(refused.stderr.split())


def after_a_cut(volume: Volume, tmp_path: Path, sync: str) -> Path:
    """Cut the power under a load; return the journals of earlier acknowledged writes."""
    study, out, kept = tmp_path / "s.toml", tmp_path / "out", tmp_path / "kept"
    study.write_text(LOADED.replace("SYNC", sync))
    process = start("run", study, *MEASURED, f"--on=disk={volume.point}", "--out", out)
    try:
        ramped = '"phase_ramped"'
        events = "runs/*/events.jsonl"
        wait_until(lambda: any(ramped in p.read_text() for p in out.glob(events)), process)
        time.sleep(0.7)
        kept.mkdir()
        # Later acknowledgements do not count: a sync may return while power fails.
        (journal,) = out.glob("runs/*/disk.journal")
        shutil.copy(journal, kept)
        volume.cut()
        assert process.wait(60) == 1
    finally:
        if process.poll() is None:
            kill_group(process)
    volume.unmount()
    volume.mount()
    return kept


@pytest.fixture
def volume(tmp_path: Path) -> Iterator[Volume]:
    with no_drives_served(), Volume(tmp_path / "volume", VOLUME_BYTES) as made:
        yield made


def test_synced_data_survives_power_cut(volume, tmp_path):
    kept = after_a_cut(volume, tmp_path, SYNCED)
    found = tameshi("verify", kept, f"--on=disk={volume.point}")
    assert found.returncode == 0, found.stdout
    assert " 0 blocks" not in found.stdout and "0 broken" in found.stdout


def test_unsynced_data_is_found_lost_after_power_cut(volume, tmp_path):
    kept = after_a_cut(volume, tmp_path, "")
    promised = tameshi("verify", kept, f"--on=disk={volume.point}")
    assert promised.returncode == 0, promised.stdout
    found = tameshi("verify", kept, f"--on=disk={volume.point}", "--after", "crash")
    assert found.returncode == 1
    assert ": unsynced; " in found.stdout
