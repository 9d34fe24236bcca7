"""Goals of jobs: steady state, targets, limits, paces, processors."""

import json
from pathlib import Path

import pytest
from fio_runs import OK, fio, results, tameshi_fio

from tameshi.core.errors import BadInput
from tameshi.fio import parse_job_text, read_job, translate

SIMULATED = ("--world", "simulated", "--device", "sata-ssd-480gb", "--direct=1")


def study(lines: str, device: str | None = None) -> str:
    text = f"[a]\nfilename=f\nsize=1m\n{lines}\n"
    return translate([read_job(job) for job in parse_job_text(text)], "job", device).study


def beside(folder: Path, *words: str) -> tuple[dict, dict]:
    """Return results of one job from fio and from Tameshi, each in its own folder."""
    for name in ("theirs", "ours"):
        (folder / name).mkdir()
    theirs = fio(folder / "theirs", *words)["jobs"]
    ours = results(folder / "ours", *words)["jobs"]
    return theirs[0], ours[0]


@pytest.mark.slow("a job in real time")
def test_steady_job_reports_only_its_window_in_fios_form(tmp_path):
    job = ("--name=a", "--rw=randread", "--size=4m", "--ioengine=psync", "--thinktime=1000")
    steady = ("--time_based", "--runtime=8", "--ss=iops:90%", "--ss_dur=2", "--ss_ramp=1")
    other, mine = beside(tmp_path, *job, *steady)
    theirs, ours = other["steadystate"], mine["steadystate"]

    def form(value: object) -> object:
        return {k: form(v) for k, v in value.items()} if isinstance(value, dict) else type(value)

    assert form(ours) == form(theirs)
    assert (ours["ss"], ours["duration"]) == (theirs["ss"], theirs["duration"])
    assert ours["attained"] == 1 and len(ours["data"]["iops"]) == 2
    window = sum(ours["data"]["iops"])
    assert mine["read"]["total_ios"] == pytest.approx(window, abs=2), "two rounds of a second each"
    assert mine["read"]["clat_ns"]["N"] == mine["read"]["total_ios"]
    assert ours["data"]["bw_mean"] == pytest.approx(ours["data"]["iops_mean"] * 4096, rel=0.01)


def test_a_slope_is_judged_by_its_rise_over_the_window(tmp_path):
    job = (*SIMULATED, "--name=a", "--rw=randwrite", "--size=64m", "--ioengine=libaio")
    slope = ("--iodepth=4", "--time_based", "--runtime=20", "--ss=bw_slope:5%", "--ss_dur=4s")
    (job_result,) = results(tmp_path, *job, *slope)["jobs"]
    steady = job_result["steadystate"]
    assert (steady["ss"], steady["attained"], steady["max_deviation"]) == (
        "bw_slope:5.000000%",
        1,
        0.0,
    )
    rise = abs(steady["slope"]) / steady["data"]["bw_mean"] * 100
    assert float(steady["criterion"].removesuffix("%")) == pytest.approx(rise, abs=1e-3)
    assert rise <= 5


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("ss=iops:10%\nss_dur=5s\nruntime=30", 'range = "10.0000 %", slope = "100 %"'),
        ("ss=iops:10%\nss_dur=5s\nruntime=30", 'rounds = 5, range = "10.0000 %"'),
        ("ss=bw_slope:0.3%\nss_dur=10s\nss_interval=2s", 'round = "2000000 us", rounds = 5'),
        ("ss=bw_slope:0.3%\nss_dur=10s\nss_interval=2s", 'slope = "1.2000 %"'),
        ("ss=iops:100\nss_dur=5s", "absolute = { range = 100 }"),
        ("ss=bw_slope:1m\nss_dur=5s", "absolute = { slope = 4194304 }"),
        ("ss=lat:5%\nss_dur=10s\nramp_time=2\nss_ramp=3", 'ramp = "5000000 us"'),
        ("rw=randread\nblockalign=4k\nbssplit=512/50:64k/50", 'align = "4096 B"'),
        ("rw=randrw\nbs=4k,8k", 'write_block_size_mix = [{ size = "8192 B", share = "100'),
        (
            "rw=randrw\nbssplit=4k/50:8k/50,64k/100",
            'block_size_mix = [{ size = "4096 B", share = "50 %" }, '
            '{ size = "8192 B", share = "50 %" }]\n'
            'write_block_size_mix = [{ size = "65536 B", share = "100 %" }]',
        ),
        ("rw=randwrite\nbs=4k,8k", 'block_size = "8192 B"'),
        ("rw=rw\nbs=4k,8k\nrate=4m,2m", 'rate = "1280.000 /s"'),
        ("rw=rw\nbs=4k,8k\nrate=4m,2m", 'read = "80 %"'),
        ("rw=read\nblockalign=4k", 'pattern = "sequential"'),
        ("rw=write\nend_fsync=1", "sync_at_end = true"),
        ("rw=write\nfsync_on_close=1", "sync_at_end = true"),
        ("cpus_allowed=0,2-3", "processors = [0, 2, 3]"),
        ("cpumask=5", "processors = [0, 2]"),
        ("cpus_allowed=0-1\ncpus_allowed_policy=split\nnumjobs=2", "processors = [1]"),
        ("numa_cpu_nodes=0", "processors = [0"),
        ("ioengine=io_uring\ndirect=1\nhipri", 'submission = "io_uring_polled"'),
        ("flow=3\nflow_id=7\nnumjobs=2\ngroup_reporting", '{ group = "flow-7", weight = 6 }'),
        ("thinktime=1ms\nthinktime_blocks=8", "think_every = 8"),
        ("thinktime=1s\nthinktime_iotime=5s\nioengine=libaio\niodepth=4", 'on = "5000000 us"'),
        ("rw=read:8k", 'run = "4096 B", skip = "8192 B", backwards = false'),
        ("rw=read:-8k", 'run = "4096 B", skip = "0 B", backwards = true'),
        ("zonemode=strided\nzonesize=64k\nzoneskip=1m", 'run = "65536 B", skip = "1048576 B"'),
        ("zonesize=64k", 'run = "65536 B", skip = "0 B"'),
        ("latency_target=10ms\nlatency_percentile=99.9", 'metric = "read.latency.p999"'),
        ("latency_target=10ms", 'metric = "read.latency.max"'),
        ("latency_target=1s\nlatency_percentile=5", 'metric = "read.latency.p05"'),
        ("latency_target=1s\nlatency_percentile=99.95", 'metric = "read.latency.p9995"'),
        ("latency_target=10ms\nlatency_percentile=99\nlatency_window=5s", 'time = "5000000 us"'),
        (
            "latency_target=5000\nlatency_percentile=50\nlatency_run=1\nruntime=7",
            'below = "5000 us"',
        ),
    ],
)
def test_keys_translate_to_study_keys(lines, expected):
    assert expected in study(lines)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("ss=lat:10\nss_dur=5s", "ss: the spread of latencies is a share of"),
        ("ss=iops:10k\nss_dur=5s", "ss: only a bandwidth may have this suffix."),
        ("ss=cpu:10%\nss_dur=5s", "ss: invalid criterion."),
        (
            "ss=iops:10%\nss_dur=1s",
            "ss_dur: this window holds fewer than two samples.",
        ),
        (
            "latency_target=10ms\nlatency_percentile=101",
            "latency_percentile: no search for this percentile is possible.",
        ),
        (
            "latency_target=10ms\nlatency_percentile=99\nrw=randrw",
            "latency_target: not supported: the load search needs a job that only",
        ),
        (
            "latency_target=10ms\nlatency_percentile=99\nnumjobs=2",
            "latency_target: not supported: the load search needs a single job",
        ),
        ("numa_cpu_nodes=977", "numa_cpu_nodes: this machine has no node 977."),
        ("cpus_allowed=0-x", "cpus_allowed: `0-x` is no number or range of them."),
        ("hipri", "hipri: not supported: engine psync polls for nothing"),
        ("hipri\nioengine=io_uring", "hipri: not supported: polling needs direct I/O"),
        ("zonemode=zbd", "zonemode: zoned devices are not supported."),
        ("zonemode=strided", "zonemode: the zone size is missing."),
        ("rw=randread\nzonesize=64k", "zonesize: not supported: random offsets"),
        ("rw=read:-4k", "rw: a step back this short reads the same bytes again."),
    ],
)
def test_unreachable_goal_is_refused_at_its_line(lines, said):
    with pytest.raises(BadInput) as refused:
        study(lines)
    assert str(refused.value).split(": ", 1)[1].startswith(said)


@pytest.mark.parametrize("mode", ["read:8k", "read:-8k", "read:-16k", "write:4k", "strided"])
def test_gaps_are_as_frequent_as_in_fio(tmp_path, mode):
    zones = ("--zonemode=strided", "--zonesize=64k", "--zoneskip=64k")
    how = ("--rw=read", *zones) if mode == "strided" else (f"--rw={mode}",)
    job = ("--name=a", "--size=1m", "--ioengine=psync", *how)
    theirs, ours = beside(tmp_path, *job)
    for word in ("read", "write"):
        assert ours[word]["total_ios"] == theirs[word]["total_ios"]


@pytest.mark.parametrize("percentile", ["99", "97.5"])
def test_load_within_latency_target_is_found(tmp_path, percentile):
    job = (*SIMULATED, "--name=a", "--rw=randread", "--size=64m", "--ioengine=libaio")
    target = ("--iodepth=32", "--latency_target=400", f"--latency_percentile={percentile}")
    listed = ("--percentile_list=97.5:99", "--latency_window=200ms")
    done = tameshi_fio(tmp_path, "--output-format=json", *job, *target, *listed)
    assert done.returncode in OK, done.stderr
    (output,) = json.loads(done.stdout)["jobs"]
    wanted = {"latency_target": 400_000, "latency_window": 200_000}
    wanted |= {"latency_percentile": float(percentile)}
    assert {key: output[key] for key in wanted} == wanted
    assert output["read"]["clat_ns"]["percentile"][f"{float(percentile):.6f}"] <= 400_000
    assert f"highest tested load that keeps {percentile} % within 400 us" in done.stderr
    rates = {
        json.loads(path.read_text())["cell"].get("rate")
        for path in tmp_path.glob("record/runs/*/spec.json")
    }
    assert len(rates) > 3, "it was looked for"
    assert output["read"]["iops"] == pytest.approx(
        float(done.stderr.split("latency_target: ")[1].split(" ")[0]), rel=0.1
    )


def test_a_job_ends_with_a_sync_in_either_world(tmp_path):
    job = ("--name=a", "--rw=write", "--size=256k", "--end_fsync=1", "--time_based", "--runtime=1")
    for world in ((), SIMULATED):
        (job_result,) = results(tmp_path, *world, *job, "--thinktime=1000")["jobs"]
        assert job_result["sync"]["total_ios"] == 1 and job_result["sync"]["lat_ns"]["N"] == 1
        assert job_result["write"]["total_ios"] > 10


def test_jobs_keep_pace_by_weight(tmp_path):
    (tmp_path / "job.fio").write_text(
        "[global]\nfilename=f\nsize=1m\ntime_based\nruntime=1\nrw=randread\n"
        "[one]\nflow=1\nthinktime=100\n[four]\nflow=4\n"
    )
    one, four = (job["read"]["total_ios"] for job in results(tmp_path, "job.fio")["jobs"])
    # By started requests, `four` is at most 1 ahead and `one` at most 1, which is 4 of the other;
    # the last request of each may be in flight at the end of the second.
    assert one > 20 and four == pytest.approx(4 * one, abs=5)


def test_missed_rate_and_exceeded_latency_are_errors(tmp_path):
    job = (*SIMULATED, "--name=a", "--rw=randread", "--size=64m", "--ioengine=libaio")
    slow = ("--rate_iops=100", "--time_based", "--runtime=6", "--output-format=json")
    kept = tameshi_fio(tmp_path, *job, *slow, "--rate_iops_min=90", "--max_latency=1s")
    assert kept.returncode in OK and json.loads(kept.stdout)["jobs"][0]["error"] == 0
    for limit, number, said in [
        ("--rate_iops_min=110", 5, "rate_iops_min: 100.0 /s, fewer than 110"),
        ("--ratemin=1m", 5, "rate_min: 409600 B/s, less than 1048576"),
        ("--max_latency=1us", 110, "max_latency: a read took"),
    ]:
        done = tameshi_fio(tmp_path, *job, *slow, limit)
        assert done.returncode == 1 and said in done.stderr, done.stderr
        assert json.loads(done.stdout)["jobs"][0]["error"] == number


def test_missing_processor_is_refused_before_anything_is_made(tmp_path):
    job = ("--name=a", "--rw=read", "--size=64k")
    (job_result,) = results(tmp_path, *job, "--numa_cpu_nodes=0", "--numjobs=1")["jobs"]
    assert job_result["read"]["total_ios"] == 16
    bare = tmp_path / "bare"
    bare.mkdir()
    done = tameshi_fio(bare, *job, "--cpus_allowed=1023")
    assert done.returncode == 2 and "names 1023" in done.stderr
    assert list(bare.iterdir()) == []


def test_synchronous_job_has_no_submission_latency(tmp_path):
    job = ("--name=a", "--rw=randread", "--size=256k", "--ioengine=psync")
    theirs, ours = (job_result["read"]["slat_ns"] for job_result in beside(tmp_path, *job))
    assert theirs == ours and ours["N"] == 0


@pytest.mark.parametrize("depth", [1, 8])
def test_asynchronous_request_has_submission_latency(tmp_path, depth):
    job = ("--name=a", "--rw=randread", "--size=256k", "--ioengine=io_uring", f"--iodepth={depth}")
    for job_result in beside(tmp_path, *job):
        slat, total = job_result["read"]["slat_ns"], job_result["read"]["total_ios"]
        assert slat["N"] == total == 64
        assert 0 <= slat["min"] <= slat["mean"] <= slat["max"] < job_result["read"]["lat_ns"]["max"]


def test_mixed_job_has_submission_latency_per_direction(tmp_path):
    job = ("--name=a", "--rw=randrw", "--size=1m", "--ioengine=io_uring", "--iodepth=8")
    for job_result in beside(tmp_path, *job):
        for word in ("read", "write"):
            slat = job_result[word]["slat_ns"]
            assert slat["N"] == job_result[word]["total_ios"] > 50
            assert 0 < slat["mean"] <= slat["max"]


@pytest.mark.parametrize("files", ["--filename=a:b", "--nrfiles=2"])
def test_job_cycles_through_files_as_one_job(tmp_path, files):
    job = ("--name=j", files, "--rw=randwrite", "--size=1m", "--ioengine=libaio", "--iodepth=4")
    theirs, ours = beside(tmp_path, *job, "--write_bw_log=x")
    assert ours["write"]["total_ios"] == theirs["write"]["total_ios"] == 256
    assert ours["write"]["clat_ns"]["N"] == 256
    (run,) = (tmp_path / "ours" / "record").glob("runs/*/spec.json")
    streams = json.loads(run.read_text())["phases"][0]["streams"]
    assert [stream["stream"]["queue_depth"] for stream in streams] == [2, 2]
    assert len({stream["storage"] for stream in streams}) == 2
    assert [path.name for path in (tmp_path / "ours").glob("*.log")] == ["x_bw.1.log"]
