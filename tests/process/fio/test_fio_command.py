"""`tameshi fio` on files: exact counts, fio's JSON, logs, the guard, the simulated world."""

import json
import re
import subprocess

import pytest
from command import codes
from fio_runs import OK, fio, results, tameshi_fio

ETCD = ("--name=etcd", "--rw=write", "--ioengine=sync", "--fdatasync=1", "--bs=2300")
TABLES = ("latency_ns", "latency_us", "latency_ms")
MIXED = """
[global]
size=1m
bs=4k
ioengine=libaio
iodepth=4
[mixed]
rw=randrw
fdatasync=8
[reads]
stonewall
rw=randread
numjobs=2
group_reporting
percentile_list=50:99.9
[alone]
stonewall
rw=read
io_size=512k
"""


def test_bounded_job_does_exact_amount_and_leaves_record(tmp_path):
    document = results(tmp_path, *ETCD, "--size=200k")
    (job,) = document["jobs"]
    writes = 200 * 1024 // 2300
    assert job["jobname"] == "etcd" and job["error"] == 0
    assert job["write"]["total_ios"] == job["write"]["clat_ns"]["N"] == writes
    assert job["write"]["io_bytes"] == writes * 2300
    assert job["sync"]["total_ios"] == job["sync"]["lat_ns"]["N"] == writes
    assert sum(job["write"]["clat_ns"]["bins"].values()) == writes
    assert job["read"]["total_ios"] == 0
    lat = job["write"]["lat_ns"]
    assert 0 < lat["min"] <= lat["mean"] <= lat["max"]
    assert job["iodepth_level"]["1"] == 100.0
    shares = [share for table in TABLES for share in job[table].values()]
    assert sum(shares) == pytest.approx(100.0, abs=0.001)
    assert job["job options"]["bs"] == "2300"
    assert (tmp_path / "record" / "report.html").exists()
    assert not (tmp_path / "etcd.0.0").exists(), "its file is removed"


def shape(value: object, at: str = "") -> dict[str, type]:
    """Return every key of a document with its type; of keys that are measured values only one."""
    if isinstance(value, dict):
        if at.endswith((".bins", "options")):
            return {at: type(next(iter(value.values()), 0))}
        inner = [shape(inner, f"{at}.{key}") for key, inner in value.items()]
        return {key: kind for part in inner for key, kind in part.items()}
    if isinstance(value, list):
        parts = [shape(inner, f"{at}[{number}]") for number, inner in enumerate(value)]
        return {key: kind for part in parts for key, kind in part.items()}
    return {at: type(value)}


def test_json_has_fios_keys_types_and_counts(tmp_path):
    for folder in ("theirs", "ours"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "job.fio").write_text(MIXED)
    theirs = fio(tmp_path / "theirs", "job.fio")
    ours = results(tmp_path / "ours", "job.fio")
    for document in (theirs, ours):
        document["disk_util"] = document["disk_util"][:1]
    expected, found = shape(theirs), shape(ours)
    if not ours["disk_util"]:  # a file system without a disk in /proc/diskstats, as in a container
        expected = {key: kind for key, kind in expected.items() if "disk_util" not in key}
    assert {key: found.get(key) for key in expected} == expected
    own = {key for key in found if key.startswith(".tameshi.")}
    assert {".tameshi.record", ".tameshi.verdict.level"} <= own
    extra = {key.split("]")[-1] for key in found.keys() - expected.keys() - own}
    newer = {".job_start", ".read_sectors", ".write_sectors"}
    assert extra - {""} <= {".schema_version"} | newer, "later versions of fio have these"
    assert ours["schema_version"] == 1 and ours["fio version"].startswith("fio-3.33")
    assert ours["global options"] == theirs["global options"]
    for mine, other in zip(ours["jobs"], theirs["jobs"], strict=True):
        assert (mine["jobname"], mine["groupid"]) == (other["jobname"], other["groupid"])
        assert mine["job options"] == other["job options"]
        count = [mine[word]["total_ios"] for word in ("read", "write", "trim")]
        their_count = [other[word]["total_ios"] for word in ("read", "write", "trim")]
        assert sum(count) == sum(their_count)
        for word in ("read", "write"):
            stats = mine[word]
            if stats["runtime"] > 20:
                rate = stats["io_bytes"] / stats["runtime"] * 1000
                assert stats["bw_bytes"] == pytest.approx(rate, rel=0.1)
                assert stats["bw"] == stats["bw_bytes"] // 1024
    assert list(ours["jobs"][1]["read"]["clat_ns"]["percentile"]) == ["50.000000", "99.900000"]


def test_random_job_visits_each_block_once_per_loop(tmp_path):
    document = results(
        tmp_path, "--name=a", "--rw=randwrite", "--size=256k", "--bs=4k", "--loops=3", "--direct=1"
    )
    assert document["jobs"][0]["write"]["total_ios"] == 3 * 64


def test_foreign_file_of_job_is_left_alone(tmp_path):
    precious = tmp_path / "precious.db"
    precious.write_bytes(b"do not touch")
    (tmp_path / "job.fio").write_text(
        "[a]\nfilename=precious.db\nsize=1m\nrw=write\nallow_mounted_write=1\noverwrite=1\n"
    )
    done = tameshi_fio(tmp_path, "job.fio")
    assert done.returncode == 2
    assert "without Tameshi's marker" in done.stderr and not done.stdout
    assert precious.read_bytes() == b"do not touch"
    assert not (tmp_path / "record").exists()


def test_results_overwrite_only_results(tmp_path):
    job = ("--name=a", "--rw=read", "--size=64k", "--output-format=json", "--output=out.json")
    for _ in range(2):
        assert tameshi_fio(tmp_path, *job).returncode in OK
        assert json.loads((tmp_path / "out.json").read_text())["jobs"][0]["jobname"] == "a"
    (tmp_path / "out.json").write_text("my diary")
    done = tameshi_fio(tmp_path, *job)
    assert done.returncode == 2 and "not overwritten" in done.stderr
    assert (tmp_path / "out.json").read_text() == "my diary"


def test_verdict_of_the_record_is_shown(tmp_path):
    job = ("--name=a", "--rw=read", "--size=1m", "--ramp_time=1s", "--output-format=json")
    done = tameshi_fio(tmp_path, *job)
    found = json.loads(done.stdout)["tameshi"]
    assert found["record"] == str(tmp_path / "record")
    assert found["verdict"]["level"] in ("warning", "invalid")
    assert "ramped" in codes(found["verdict"])
    assert f"{found['verdict']['level']}: the ramp used up the amount" in done.stderr
    assert done.returncode == (3 if found["verdict"]["level"] == "invalid" else 0)


def test_text_summary_is_the_default(tmp_path):
    done = tameshi_fio(tmp_path, "--name=a", "--rw=randread", "--size=256k")
    assert done.returncode in OK, done.stderr
    assert "a: (groupid=0, jobs=1): err= 0" in done.stdout
    assert "  read: IOPS=" in done.stdout and "99.00th=[" in done.stdout
    assert "issued rwts: total=64,0,0,0 short=0,0,0,0 dropped=0,0,0,0" in done.stdout


def test_logs_have_names_and_rows_of_fio(tmp_path):
    results(
        tmp_path,
        *("--name=a", "--rw=randrw", "--size=1m", "--time_based", "--runtime=1", "--numjobs=2"),
        *("--write_bw_log=x", "--write_iops_log=x", "--write_lat_log=x", "--write_hist_log=x"),
        *("--log_avg_msec=250", "--log_hist_msec=250", "--thinktime=500"),
    )
    logs = {path.name: path.read_text().splitlines() for path in tmp_path.glob("*.log")}
    kinds = ("bw", "iops", "lat", "clat", "clat_hist")
    assert {f"x_{kind}.{job}.log" for kind in kinds for job in (1, 2)} <= set(logs)
    for name, lines in logs.items():
        rows = [[int(cell) for cell in line.split(", ")] for line in lines]
        assert len(rows) >= 4 or "slat" in name, name
        times = [row[0] for row in rows]
        assert times == sorted(times) and all(time <= 1100 for time in times)
        assert {len(row) for row in rows} <= {1859 if "hist" in name else 5}
        if "hist" in name:
            assert {row[1] for row in rows} == {0, 1} and {row[2] for row in rows} == {4096}
            assert all(sum(row[3:]) > 0 for row in rows)


def test_jobs_run_on_a_modelled_drive(tmp_path):
    job = ("--name=a", "--rw=randread", "--direct=1", "--ioengine=libaio", "--iodepth=4")
    simulated = ("--world", "simulated", "--device", "sas-15k-146gb")
    document = results(tmp_path, *simulated, *job, "--size=1g", "--io_size=4m")
    again = results(tmp_path, *simulated, *job, "--size=1g", "--io_size=4m")
    read = document["jobs"][0]["read"]
    assert read["total_ios"] == 1024
    assert 1e6 < read["lat_ns"]["mean"] < 1e8, "a disk that turns"
    assert document["jobs"] == again["jobs"]
    assert not (tmp_path / "a.0.0").exists()
    refused = tameshi_fio(tmp_path, *simulated, "--name=b", "--rw=read", "--size=1m")
    assert refused.returncode == 2 and "a simulated drive has no page cache" in refused.stderr


def test_stonewall_separates_groups_of_jobs(tmp_path):
    (tmp_path / "job.fio").write_text(
        "[global]\nsize=64k\nfilename=shared\n[a]\nrw=write\n[b]\nrw=read\nstartdelay=100ms\n"
        "[c]\nstonewall\nrw=randread\nio_size=32k\n"
    )
    document = results(tmp_path, "job.fio")
    assert [job["groupid"] for job in document["jobs"]] == [0, 0, 1]
    assert [job["read"]["total_ios"] for job in document["jobs"]] == [0, 16, 8]
    events = [
        json.loads(line)
        for line in next((tmp_path / "record").glob("runs/*/events.jsonl")).read_text().splitlines()
    ]
    ends = [event for event in events if event["kind"] == "phase_end"]
    assert [end["ended_by"] for end in ends] == ["amount", "amount"]
    assert ends[0]["t_ns"] >= 100_000_000


def test_printed_study_of_jobs_is_valid(tmp_path):
    done = tameshi_fio(tmp_path, "--study", "--name=a", "--rw=randwrite", "--size=1m", "--fsync=4")
    assert done.returncode in OK, done.stderr
    assert "sync = { fsync = { every = 4 } }" in done.stdout
    assert 'pattern = "shuffled"' in done.stdout and not (tmp_path / "record").exists()


def test_readonly_writer_and_unknown_format_are_refused(tmp_path):
    job = ("--name=a", "--rw=write", "--size=1m")
    done = tameshi_fio(tmp_path, *job, "--readonly")
    assert done.returncode == 2 and "forbids this job, which writes" in done.stderr
    done = tameshi_fio(tmp_path, *job, "--output-format=normal,html")
    assert done.returncode == 2 and "normal, terse, json or json+" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_partial_sectors_are_refused_before_layout(tmp_path, attach):
    backing = tmp_path / "backing"
    backing.write_bytes(bytes(8 << 20))
    node = attach(backing, "--sector-size", "4096")
    (tmp_path / "job.fio").write_text(
        f"[small]\nfilename={node}\nsize=1m\nrw=randread\nblocksize=512\ndirect=1\n"
    )
    done = tameshi_fio(tmp_path, "job.fio", "--destroy", node)
    assert done.returncode == 2 and not (tmp_path / "record").exists()
    assert done.stderr.startswith("job.fio:5: blocksize: direct requests begin and end at sectors")
    assert backing.read_bytes() == bytes(8 << 20)


ETCD_LINES = ("  fsync/fdatasync/sync_file_range:", "    sync percentiles (")
HEADER = r"etcd: \(groupid=0, jobs=1\): err= 0: pid=\d+: \w{3} \w{3} +\d+ \d\d:\d\d:\d\d \d{4}$"


def test_text_has_the_lines_that_scripts_look_for(tmp_path):
    for folder in ("theirs", "ours"):
        (tmp_path / folder).mkdir()
    words = (*ETCD, "--size=200k", "--directory=.")
    theirs = subprocess.run(["fio", *words], cwd=tmp_path / "theirs", **TEXT).stdout
    ours = tameshi_fio(tmp_path / "ours", *words).stdout
    for text in (theirs, ours):
        assert re.search(HEADER, text, re.M), text
        assert all(line in text for line in ETCD_LINES), text
    expected = labels(theirs)
    assert [label for label in labels(ours) if label in expected] == expected


TEXT = {"capture_output": True, "text": True, "check": True}


def labels(text: str) -> list[str]:
    """Return the labels of the lines of fio's summary of a job, without units."""
    lines = text[text.index("(groupid=") :].splitlines()
    found = (re.match(r" *([A-Za-z/_ ]*[A-Za-z])(?: *\(.*?\))? *[:=]", line) for line in lines)
    return list(dict.fromkeys(match[1].strip() for match in found if match))


def test_each_clone_has_a_log_from_its_own_start(tmp_path):
    (tmp_path / "job.fio").write_text(
        "[global]\nfilename=media\nsize=1m\nrw=randread\nruntime=500ms\ntime_based\nnumjobs=2\n"
        "group_reporting\nthinktime=500\nwrite_bw_log=show\nlog_avg_msec=100\n"
        "[first]\n[late]\nstartdelay=300ms\n"
    )
    document = results(tmp_path, "job.fio")
    assert len(document["jobs"]) == 1, "one entry of the group"
    for number in (1, 2, 3, 4):
        rows = (tmp_path / f"show_bw.{number}.log").read_text().splitlines()
        times = [int(row.split(",")[0]) for row in rows]
        assert times[0] > 0 and times[-1] < 700, "its own 500 ms, without the delay"


@pytest.mark.parametrize("form", ["--minimal", "-output-format=terse"])
def test_terse_line_has_the_fields_of_fio(tmp_path, form):
    words = ("-name=a", "-rw", "randrw", "-size=256k", "-fsync=4", form)
    (tmp_path / "theirs").mkdir()
    theirs = subprocess.run(["fio", *words], cwd=tmp_path / "theirs", **TEXT).stdout
    ours = tameshi_fio(tmp_path, *words).stdout
    terse = [
        next(line for line in text.splitlines() if line.startswith("3;")).split(";")
        for text in (ours, theirs)
    ]
    kinds = [[re.sub(r"[\d.]+(?=[%=]|$)", "0", field) for field in fields] for fields in terse]
    assert kinds[0][2:FIELDS] == kinds[1][2:FIELDS]
    document = json.loads(tameshi_fio(tmp_path, *words[:-1], "-F", "json").stdout)
    (job,) = document["jobs"]
    assert [int(terse[0][5]), int(terse[0][46])] == [
        job[word]["io_kbytes"] for word in ("read", "write")
    ]


FIELDS = 121
"""Fields of a terse line before those of its disks."""


def test_several_formats_are_printed_together(tmp_path):
    words = ("--name=a", "--rw=read", "--size=256k", "--output-format=normal,json")
    done = tameshi_fio(tmp_path, *words)
    document, end = json.JSONDecoder().raw_decode(done.stdout)
    assert document["jobs"][0]["read"]["total_ios"] == 64
    assert "a: (groupid=0, jobs=1)" in done.stdout[end:]


def test_version_begins_as_that_of_fio(tmp_path):
    done = tameshi_fio(tmp_path, "--version")
    assert re.match(r"fio-3\.\d+-tameshi-", done.stdout) and done.returncode == 0


def test_help_names_job_files_and_keys(tmp_path):
    shown = tameshi_fio(tmp_path, "--help").stdout
    assert "[JOBFILE]... [--KEY=VALUE]..." in " ".join(shown.split())
    assert all(key in shown for key in ("write_hist_log", "refill_buffers", "--section"))
