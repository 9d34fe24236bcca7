"""Every job file among fio's own examples runs, or is refused; docs/fio-examples*.md list which.

The files come from Debian's fio-examples (requirements/debian-test.txt). They run unchanged at
reduced size: the command line overrides sizes, times and places.
"""

import re
from pathlib import Path

import pytest
from fio_runs import results

from tameshi.core.errors import BadInput
from tameshi.fio import parse_arguments, read_job, read_job_file, translate

EXAMPLES = Path("/usr/share/doc/fio/examples")
SOON = ("--ss_dur=400ms", "--ss_ramp=100ms", "--ss_interval=100ms")
DISK = "--filename=stands-for-a-disk"
THIRDS = ("--offset_increment=1m", "--io_size=1m", "--numjobs=3")
FEW = ("--filesize=4k", "--nrfiles=20")
RUN = {
    "1mbs_clients.fio": ["--startdelay=0", "--rate=1m"],
    "aio-read.fio": [],
    "backwards-read.fio": [],
    "basic-verify.fio": [DISK],
    "butterfly.fio": ["--filename=stands-for-tmp-testfile"],
    "cross-stripe-verify.fio": [DISK, "--filesize=3m", *THIRDS],
    "dedupe-global.fio": [],
    "disk-zone-profile.fio": [DISK, "--zonesize=128k", "--zoneskip=64k"],
    "e4defrag.fio": ["--runtime=300ms"],
    "e4defrag2.fio": ["--runtime=300ms"],
    "enospc-pressure.fio": ["--time_based", "--runtime=300ms"],
    "exitwhat.fio": ["--filename=stands-for-tmp-test", "--number_ios=50"],
    "falloc.fio": ["--runtime=300ms"],
    "filecreate-ioengine.fio": [*FEW],
    "filedelete-ioengine.fio": [*FEW],
    "filestat-ioengine.fio": [*FEW],
    "fio-rand-RW.fio": ["--runtime=200ms"],
    "fio-rand-read.fio": ["--runtime=200ms"],
    "fio-rand-write.fio": ["--runtime=200ms"],
    "fio-seq-RW.fio": ["--runtime=200ms"],
    "fio-seq-read.fio": ["--runtime=200ms"],
    "fio-seq-write.fio": ["--runtime=200ms"],
    "fixed-rate-submission.fio": [],
    "flow.fio": ["--filename=stands-for-tmp-testfile", "--runtime=500ms"],
    "fsx.fio": ["--loops=2"],
    "ftruncate.fio": ["--runtime=300ms"],
    "iometer-file-access-server.fio": [],
    "jesd219.fio": [DISK],
    "latency-profile.fio": [DISK, "--iodepth=2", "--latency_window=100ms"],
    "poisson-rate-submission.fio": ["--runtime=500ms"],
    "rand-zones.fio": [],
    "ssd-steadystate.fio": [DISK],
    "ssd-test.fio": [],
    "steadystate.fio": [DISK, "--runtime=1", *SOON],
    "surface-scan.fio": [],
    "tiobench-example.fio": [],
    "waitfor.fio": ["--filename=stands-for-tmp-data"],
}
"""Examples that run, with overrides besides the size."""
ROW = re.compile(r"\| `([\w.-]+\.fio)` \| (runs|refused): ?(.*?) \|")


def examples() -> list[str]:
    return sorted(path.name for path in EXAMPLES.glob("*.fio"))


@pytest.fixture(scope="module")
def listed(root) -> dict[str, tuple[str, str]]:
    """Outcome of each example by docs/fio-examples*.md."""
    pages = (root / "docs").glob("fio-examples*.md")
    found = [row for page in pages for row in ROW.findall(page.read_text())]
    return {name: (outcome, reason) for name, outcome, reason in found}


def test_the_page_lists_every_example_and_no_other(listed):
    assert len(examples()) > 80, "install fio-examples: scripts/debian-packages"
    assert sorted(listed) == examples()
    assert sorted(name for name, (outcome, _) in listed.items() if outcome == "runs") == sorted(RUN)


@pytest.mark.parametrize("name", sorted(RUN))
def test_example_on_files_runs_unchanged(name, tmp_path):
    small = ["--size=1m", "--filesize=1m", f"--directory={tmp_path}", *RUN[name]]
    document = results(tmp_path, EXAMPLES / name, *small)
    assert document["jobs"]
    for job in document["jobs"]:
        assert sum(job[word]["total_ios"] for word in ("read", "write", "trim")) > 0, job["jobname"]
        assert job["error"] == 0


@pytest.mark.parametrize("name", [name for name in examples() if name not in RUN])
def test_other_example_is_refused_for_reason_on_page(name, listed):
    with pytest.raises(BadInput) as refused:
        translate([read_job(job) for job in read_job_file(EXAMPLES / name)], name, None)
    where, line, said = str(refused.value).removeprefix(f"{EXAMPLES}/").split(":", 2)
    assert where == name and line.isdigit()
    assert " ".join(said.split()) == listed[name][1]


def test_the_overrides_are_those_of_the_command_line():
    first, _, files = parse_arguments(["--size=1m", str(EXAMPLES / "fsx.fio")])
    (job,) = [read_job(text.with_own(first)) for text in read_job_file(files[0])]
    assert job.size == 1 << 20 and job.loops == 500_000
