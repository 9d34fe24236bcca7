"""fio's verify keys and trims: on files and, named by `--destroy`, on a block device."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from command import tameshi
from fio_runs import fio, results, tameshi_fio

from tameshi.core.errors import BadInput
from tameshi.fio import parse_job_text, read_job, translate

SIZE = 8 << 20
BLOCK = 4096


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[tuple[Path, Path]]:
    """Make a block device and its backing file, which is its name for `--destroy`."""
    backing = tmp_path / "disk.img"
    backing.write_bytes(b"\xa5" * SIZE)
    command = ["losetup", "--find", "--show", str(backing)]
    node = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    yield Path(node), backing
    subprocess.run(["losetup", "--detach", node], check=True)


def events(folder: Path, kind: str) -> list[dict]:
    (path,) = folder.glob("record/runs/*/events.jsonl")
    found = [json.loads(line) for line in path.read_text().splitlines()]
    return [event for event in found if event["kind"] == kind]


def test_verifying_job_is_read_back_outside_its_figures(tmp_path):
    job = ("--name=a", "--rw=randwrite", "--verify=crc32c", "--size=1m", "--ioengine=libaio")
    document = results(tmp_path, *job, "--iodepth=8")
    (job_result,) = document["jobs"]
    assert (job_result["write"]["total_ios"], job_result["read"]["total_ios"]) == (256, 0)
    last = events(tmp_path, "verified")[-1]
    assert (last["right"], last["unwritten"], last["unsettled"]) == (256, 0, 0)


def test_reading_job_checks_blocks_of_another(tmp_path):
    (tmp_path / "job.fio").write_text(
        "[global]\nfilename=f\nsize=1m\nbs=16k\nverify=md5\ndo_verify=0\n"
        "[w]\nrw=write\n[r]\nstonewall\nrw=read\n"
    )
    document = results(tmp_path, "job.fio")
    assert document["jobs"][1]["read"]["total_ios"] == 64
    assert [event["right"] for event in events(tmp_path, "verified")] == [0, 256]


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("rw=write\nverify=pattern", "only checksums verify blocks, patterns don't"),
        ("rw=write\nverify=md5\nbs=2300", "verification needs requests aligned to 4 KiB"),
        ("rw=randtrim\nverify=md5", "the content of a trimmed block is undefined"),
        ("rw=trimwrite\nverify=md5", "the content of a trimmed block is undefined"),
        ("rw=read\nverify=md5", "no job here writes what this one should check"),
        (
            "rw=write\nverify=md5\nverify_only",
            "`tameshi verify` checks the writes of an earlier run",
        ),
    ],
)
def test_unverifiable_job_is_refused_at_its_line(lines, said):
    with pytest.raises(BadInput) as refused:
        translate([read_job(job) for job in parse_job_text(f"[a]\nsize=1m\n{lines}\n")], "j", None)
    assert str(refused.value).startswith("job.fio:") and said in str(refused.value)
    with pytest.raises(BadInput, match="a simulated drive holds no data to check"):
        text = "[a]\nsize=1m\nrw=write\ndirect=1\nverify=md5\n"
        translate([read_job(job) for job in parse_job_text(text)], "j", "sas-15k-146gb")


def test_named_block_device_behaves_as_in_fio(tmp_path, disk):
    node, backing = disk
    job = ("--name=a", f"--filename={node}", "--rw=randwrite", "--bs=16k", "--direct=1")
    named = ("--ioengine=libaio", "--iodepth=4", "--size=4m", "--verify=sha256")
    refused = tameshi_fio(tmp_path, *job, *named)
    assert refused.returncode == 2 and f"--destroy {backing}" in refused.stderr
    assert backing.read_bytes() == b"\xa5" * SIZE
    document = results(tmp_path, "--destroy", backing, *job, *named)
    (job_result,) = document["jobs"]
    assert job_result["write"]["total_ios"] == 256 and job_result["write"]["io_bytes"] == 4 << 20
    assert events(tmp_path, "verified")[-1]["right"] == 1024
    (run,) = tmp_path.glob("record/runs/*")
    found = tameshi("verify", run, f"--on={node.name}={node}")
    assert found.returncode == 0 and "1024 intact" in found.stdout, found.stderr
    assert backing.read_bytes()[SIZE // 2 :] != bytes(SIZE // 2), "what no job touched is laid out"


@pytest.mark.parametrize("kind", ["trim", "randtrim", "trimwrite", "randtrimwrite"])
def test_trims_on_a_block_device_are_counted_as_fio_counts_them(tmp_path, disk, kind):
    node, backing = disk
    job = ("--name=a", f"--filename={node}", f"--rw={kind}", "--bs=64k", "--size=2m")
    theirs = fio(tmp_path, *job, "--ioengine=psync", "--direct=1")["jobs"][0]
    ours = results(tmp_path, "--destroy", backing, *job, "--ioengine=psync", "--direct=1")
    (mine,) = ours["jobs"]
    for word in ("read", "write", "trim"):
        counted = [job[word]["total_ios"] for job in (mine, theirs)]
        assert counted[0] == counted[1], (word, counted)
    assert mine["trim"]["clat_ns"]["N"] == mine["trim"]["total_ios"] > 0
    holds_zeros = backing.read_bytes()[: 2 << 20] == bytes(2 << 20)
    assert holds_zeros == ("write" not in kind)


def test_submission_is_timed_if_it_is_a_call(tmp_path):
    job = ("--name=a", "--rw=randread", "--size=4m", "--ioengine=io_uring")
    deep = results(tmp_path, *job, "--iodepth=16")["jobs"][0]["read"]
    slat = deep["slat_ns"]
    assert 0 < slat["N"] <= deep["total_ios"]
    assert 0 < slat["min"] <= slat["mean"] <= slat["max"] <= deep["lat_ns"]["max"]
    single = results(tmp_path, *job, "--iodepth=1")["jobs"][0]["read"]
    assert single["slat_ns"]["N"] == single["total_ios"], "as fio counts it"
