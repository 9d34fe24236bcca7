"""File operations of jobs, early end of jobs, and tolerated errors."""

import errno
import json
import subprocess

import pytest
from fio_runs import fio, results, tameshi_fio

from tameshi.core.errors import BadInput
from tameshi.fio import parse_job_text, read_job, translate

GLOBAL = "[global]\nsize=1m\nfilename=f\n"


def study(text: str) -> str:
    return translate([read_job(job) for job in parse_job_text(text)], "job", None).study


def stream(text: str, name: str) -> str:
    """Return the table of a stream."""
    return study(text).split(f"[workload.stream.{name}]\n")[1].split("\n\n")[0]


@pytest.mark.parametrize("engine", ["filestat", "filecreate", "filedelete"])
def test_directory_files_are_counted_as_in_fio(tmp_path, engine):
    jobs = ("--filesize=4k", "--nrfiles=30", f"--ioengine={engine}", "--fallocate=none")
    jobs = ("--name=a", *jobs, "--create_on_open=1", "--name=b", *jobs, "--create_on_open=1")
    jobs = tuple(word for word in jobs if engine == "filecreate" or "create_on" not in word)
    for name in ("theirs", "ours"):
        (tmp_path / name).mkdir()
    theirs = fio(tmp_path / "theirs", *jobs)["jobs"]
    ours = results(tmp_path / "ours", *jobs)["jobs"]
    for mine, other in zip(ours, theirs, strict=True):
        assert mine["read"]["total_ios"] == other["read"]["total_ios"] == 30
        assert mine["read"]["clat_ns"]["N"] == 30
    assert [path.name for path in (tmp_path / "ours").iterdir()] == ["record"], "nothing is left"


def test_foreign_directory_is_left_alone(tmp_path):
    theirs = tmp_path / "tameshi-files"
    theirs.mkdir()
    (theirs / "0").write_text("precious")
    done = tameshi_fio(tmp_path, "--name=a", "--filesize=4k", "--ioengine=filedelete")
    assert done.returncode == 2 and "without Tameshi's marker" in done.stderr
    assert (theirs / "0").read_text() == "precious"


def test_clones_and_jobs_have_files_of_their_own():
    text = "[global]\nioengine=filestat\nfilesize=4k\nnrfiles=10\n[a]\nnumjobs=2\n[b]\n"
    offsets = [
        stream(text, name).split("offset = ")[1].split("\n")[0] for name in ("a-0", "a-1", "b")
    ]
    assert offsets == ['"0 B"', '"40960 B"', '"81920 B"']
    assert 'call = "stat"' in stream(text, "b") and 'size = "122880 B"' in study(text)


def test_allocations_and_truncations_count_as_in_fio(tmp_path):
    for name in ("theirs", "ours"):
        (tmp_path / name).mkdir()
    for engine, way in [("falloc", "write"), ("falloc", "randtrim"), ("ftruncate", "randwrite")]:
        job = ("--name=a", f"--rw={way}", "--size=1m", "--bs=16k", f"--ioengine={engine}")
        theirs = fio(tmp_path / "theirs", *job)["jobs"][0]
        ours = results(tmp_path / "ours", *job)["jobs"][0]
        word = "trim" if way == "randtrim" else "write"
        assert ours[word]["total_ios"] == theirs[word]["total_ios"] == 64, engine


def test_file_is_used_direct_and_buffered_at_once(tmp_path):
    (tmp_path / "job.fio").write_text(f"{GLOBAL}rw=read\n[past]\ndirect=1\n[through]\nbs=1000\n")
    past, through = results(tmp_path, "job.fio")["jobs"]
    assert (past["read"]["total_ios"], through["read"]["total_ios"]) == (256, 1048)


@pytest.mark.parametrize(
    ("jobs", "expected"),
    [
        ("[a]\nexitall\n[b]\n", {"a": ["b"], "b": ["a"]}),
        ("[a]\nexitall\n[b]\nnew_group\n", {"a": [], "b": []}),
        ("[a]\nexitall\nexit_what=stonewall\n[b]\nnew_group\n", {"a": [], "b": ["a"]}),
        ("[a]\nexitall\nexit_what=all\n[b]\nnew_group\n", {"a": [], "b": ["a"]}),
        ("[a]\nexitall\nnumjobs=2\ngroup_reporting\n", {"a": ["a"]}),
        ("[a]\nexit_what=all\n[b]\n", {"a": [], "b": []}),
    ],
)
def test_ending_job_ends_named_jobs(jobs, expected):
    for name, others in expected.items():
        listed = ", ".join(f'"{other}"' for other in others)
        line = f"ends_with = [{listed}]"
        assert (line in stream(f"{GLOBAL}{jobs}", name)) == bool(others)


def test_phase_after_job_that_ends_all_never_starts():
    text = f"{GLOBAL}exitall\n[a]\nexit_what=all\n[b]\nstonewall\n"
    assert "workload.stream.b" not in study(text)
    with pytest.raises(BadInput, match="whether later jobs run would be seen only then"):
        study(f"{GLOBAL}exitall\n[a]\nexit_what=all\n[c]\n[b]\nstonewall\n")


def test_a_job_ends_with_another_in_either_world(tmp_path):
    jobs = f"{GLOBAL}direct=1\nexitall\n[short]\nthinktime=1000\nnumber_ios=20\n"
    (tmp_path / "job.fio").write_text(f"{jobs}[long]\ntime_based\nruntime=1h\n")
    for world in ((), ("--world", "simulated", "--device", "sata-ssd-480gb")):
        short, long = results(tmp_path, *world, "job.fio")["jobs"]
        assert short["read"]["total_ios"] == 20 and long["read"]["total_ios"] > 20
        assert long["job_runtime"] < 60_000


@pytest.mark.parametrize(
    ("lines", "rate", "read"),
    [
        ("rw=randrw\nrate_iops=100", "200.000 /s", "50 %"),
        ("rw=randrw\nrate_iops=100,300", "400.000 /s", "25 %"),
        ("rw=randrw\nrate=400k,1m\nbs=4k", "356.000 /s", "28.0899 %"),
        ("rw=randtrim\nrate_iops=1,2,30", "30.000 /s", "0 %"),
    ],
)
def test_mixed_job_has_both_rates(lines, rate, read):
    found = stream(f"{GLOBAL}[a]\n{lines}\n", "a")
    assert f'constant = {{ rate = "{rate}" }}' in found and f'read = "{read}"' in found


@pytest.fixture
def small(tmp_path):
    """Mount a file system of 4 MiB in memory."""
    place = tmp_path / "small"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(place)], check=True)
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


def test_job_continues_on_full_disk_if_set(tmp_path, small):
    job = ("--name=a", "--rw=write", "--bs=64k", "--size=16m", f"--directory={small}")
    fails = tameshi_fio(tmp_path, *job, "--fallocate=none")
    assert fails.returncode == 1 and "no space left" in fails.stderr, fails.stderr
    for ignored, errors in [((), 1), (("--ignore_error=,ENOSPC",), 0)]:
        goes_on = ("--fallocate=none", "--continue_on_error=write", *ignored)
        (job_result,) = results(tmp_path, *job, *goes_on)["jobs"]
        done = job_result["write"]["total_ios"]
        assert 0 < done < 64 and job_result["error"] == 0
        assert job_result["total_err"] == (256 - done) * errors
        assert job_result["first_error"] == errno.ENOSPC * errors
    done = tameshi_fio(tmp_path, "--output-format=json", *job, *goes_on[:1], "--ignore_error=,EIO")
    assert done.returncode == 1 and json.loads(done.stdout)["jobs"][0]["error"] == errno.ENOSPC
    assert "requests failed (write: No space left on device)" in done.stderr


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("continue_on_error=some", "continue_on_error: unknown kind of error"),
        ("ignore_error=,EWHAT", "ignore_error: `EWHAT` is not an error of this system"),
        ("exitall\nexit_what=none", "exit_what: unknown scope"),
        ("ioengine=e4defrag\nrw=write", "donorname: the donor file of the extents is missing"),
        ("ioengine=filestat", "filename: not supported: this engine names its files by number"),
    ],
)
def test_invalid_file_setting_is_refused_at_its_line(lines, said):
    with pytest.raises(BadInput) as refused:
        study(f"{GLOBAL}[a]\n{lines}\n")
    assert str(refused.value).split(": ", 1)[1].startswith(said)
