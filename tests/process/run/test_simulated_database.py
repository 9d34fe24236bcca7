"""Database in the simulated world, through the command line."""

import html
import re

import pytest
from command import codes, results, tameshi
from layouts import SYSBENCH, TPCC_MYSQL, mismatch

from tameshi.core.reasons import reason
from tameshi.report.words.text import Text

STUDY = """
title = "Flash or a large buffer pool"
question = "Does a large pool do what flash does?"
[axis.storage]
disk = { use.storage = "disk" }
flash = { use.storage = "flash" }
[axis.pool]
small = { engine.mysql.buffer_pool = "5 MiB" }
large = { engine.mysql.buffer_pool = "1 GiB" }
[storage.disk]
device = "sas-15k-146gb"
size = "8 GB"
[storage.flash]
device = "es3000-1.2t"
size = "8 GB"
[host]
profile = "2x-xeon-e5620-rhel5"
[engine.mysql]
version = "5.7.18"
redo_log = "256 MiB"
flush_method = "O_DIRECT"
[workload.tpcc]
warehouses = 2
clients = 8
manner = "tpcc-mysql"
[phase.run]
workload = ["tpcc"]
until = { time = "4 s" }
[run]
start = "cold"
interval = "1 s"
repetitions = 1
"""


def test_pool_and_storage_matter_and_report_names_limit(study, tmp_path):
    out = tmp_path / "out"
    done = tameshi("run", study(STUDY), "--world", "simulated", "--out", out)
    assert done.returncode == 0, done.stderr
    found = {}
    for cell in results(out)["cells"]:
        levels = cell["levels"]["storage"], cell["levels"]["pool"]
        found[levels] = {(e["subject"], e["metric"]): e["value"] for e in cell["estimates"]}
    assert len(found) == 4
    rates = {levels: values["tpcc", "statement.rate"] for levels, values in found.items()}
    assert rates["disk", "small"] < rates["flash", "small"] < rates["flash", "large"]
    for values in found.values():
        assert 0 < values["server", "server.hit_ratio"] <= 1
        assert values["tpcc.new_order", "transaction.tpmc"] > 0
        shares = [v for (_, metric), v in values.items() if metric.startswith("server.time_")]
        assert abs(sum(shares) - 1) < 1e-9
    assert found["disk", "small"]["server", "server.time_page_reads"] > 0.3
    assert "hit ratio" in (out / "report.html").read_text()
    output = tameshi("report", out, "--format", "md").stdout
    for (storage, pool), values in found.items():
        shares = {
            metric.removeprefix("server.time_"): value
            for (_, metric), value in values.items()
            if metric.startswith("server.time_")
        }
        most = max(shares, key=lambda name: shares[name])
        words = f"{LIMITS[most]}, {round(100 * shares[most])} %"
        for text in (output, plain_text((out / "report.html").read_text())):
            (line,) = re.findall(rf"^.*run · {storage}, {pool} *\|.*{words} *\|.*$", text, re.M)
            assert len(re.findall(r"\d %", line)) > len(shares), "all shares, and how busy"
            assert most == "processor" or f" of {storage}, " in line, line


def test_sizes_below_minimum_are_raised_and_reported(study, tmp_path):
    out = tmp_path / "out"
    small = STUDY.replace('"5 MiB"', '"0 B"').replace('"256 MiB"', '"512 KiB"')
    small = small.replace("disk = { use", "# disk = { use").replace('"4 s"', '"500 ms"')
    done = tameshi(
        "run", study(small.replace('interval = "1 s"', 'interval = "100 ms"')), "--out", out
    )
    assert done.returncode == 0, done.stderr
    item = {cell["levels"]["pool"]: cell for cell in results(out)["cells"]}
    log, pool = reason("log_raised", asked="512 KiB"), reason("pool_raised", asked="0 B")
    large, small = (item[size]["verdict"] for size in ("large", "small"))
    assert log in large["reasons"] and "pool_raised" not in codes(large)
    assert log in small["reasons"] and pool in small["reasons"]
    assert all(each["model"] for each in item["small"]["estimates"] if 0 < each["value"] < 1)
    assert Text().reason(pool) in html.unescape((out / "report.html").read_text())


LIMITS = {"processor": "processors", "page_reads": "page reads", "free_pages": "free pages"}


def plain_text(page: str) -> str:
    """Return a page's tables, a line per row with bars between cells."""
    rows = re.findall(r"<tr.*?</tr>", page, re.S)
    cells = ("|".join(re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.S)) for row in rows)
    return "\n".join(
        re.sub(r"<[^>]*>|\s+(?=\s)", "", f"{row}|").replace("\n", " ") for row in cells
    )


def test_simulated_runs_print_in_other_tools_layouts(study, tmp_path):
    axes = STUDY[STUDY.index("[axis.storage]") : STUDY.index("[storage.disk]")]
    text = STUDY.replace(axes, 'use.storage = "flash"\n').replace(
        "warehouses = 2", "warehouses = 1"
    )
    out = tmp_path / "out"
    done = tameshi("run", study(text), "--world", "simulated", "--out", out)
    assert done.returncode == 0, done.stderr
    (cell,) = results(out)["cells"]
    found = {(e["subject"], e["metric"]): e["value"] for e in cell["estimates"]}
    output = tameshi("report", out, "--format", "tpcc-mysql")
    assert output.returncode == 0, output.stderr
    layout = [p.replace(r"STOPPING THREADS\.\.", r"STOPPING THREADS\.{8}") for p in TPCC_MYSQL]
    assert mismatch(layout, output.stdout) == ""
    tpmc = float(output.stdout.split("<TpmC>")[1].split()[0])
    assert tpmc == pytest.approx(found["tpcc.new_order", "transaction.tpmc"], rel=1e-3)
    output = tameshi("report", out, "--format", "sysbench")
    assert mismatch(SYSBENCH, output.stdout) == ""
    events = int(re.search(r"number of events: +(\d+)", output.stdout)[1])
    mean = float(re.search(r"events \(avg/stddev\): +([\d.]+)/", output.stdout)[1])
    assert 8 * mean == pytest.approx(events, abs=8)


@pytest.mark.slow("an exact run of 120 s")
def test_record_names_mode_and_exact_simulates_all(study, tmp_path):
    axes = STUDY[STUDY.index("[axis.storage]") : STUDY.index("[storage.disk]")]
    text = STUDY.replace(axes, 'use.storage = "flash"\n').replace("2\nclients", "1\nclients")
    text = text.replace('start = "cold"', 'start = "warm"\nmode = "fast"').replace("4 s", "120 s")
    result = {}
    for mode, options in {"fast": [], "exact": ["--exact"]}.items():
        out = tmp_path / mode
        done = tameshi("run", study(text), "--world", "simulated", *options, "--out", out)
        assert done.returncode == 0, done.stderr
        (cell,) = results(out)["cells"]
        (result[mode],) = (event for event in cell["database"] if event["kind"] == "simulated")
        assert result[mode]["mode"] == mode
        report = (out / "report.html").read_text()
        assert ("exact mode: all 120 s were simulated" in report) == (mode == "exact")
        assert ("of 120 s were simulated" in report) == (mode == "fast")
    assert result["exact"]["simulated_ns"] == 120e9 == result["exact"]["whole_ns"]
    assert result["fast"]["simulated_ns"] < 80e9
    assert result["exact"]["pace"] == 1
    assert 0.95 <= result["fast"]["pace"] <= 1.05


def test_unsupported_setting_of_model_is_refused_by_name(study, tmp_path):
    text = STUDY.replace('flush_method = "O_DIRECT"', "")
    done = tameshi("run", study(text), "--world", "simulated", "--out", tmp_path / "out")
    assert done.returncode != 0
    assert "engine.mysql.flush_method" in done.stderr
    unknown = STUDY.replace('version = "5.7.18"', 'version = "3.23"')
    done = tameshi("run", study(unknown), "--world", "simulated", "--out", tmp_path / "out")
    assert done.returncode != 0
    assert "5.5" in done.stderr and "engine.mysql.version" in done.stderr
    assert not (tmp_path / "out").exists()


CRASH = STUDY.replace(
    "[run]",
    '[event.killed]\nat = "1 s"\nphase = "run"\nkill = {}\n'
    '[event.dark]\nat = "5 s"\nphase = "run"\npower_cut = {}\n[run]',
)


def test_simulated_crash_reports_outage_recovery_and_ledger(study, tmp_path):
    text = CRASH.replace('disk = { use.storage = "disk" }\n', "").replace("[axis.pool]\n", "")
    text = text.replace('large = { engine.mysql.buffer_pool = "1 GiB" }\n', "")
    text = text.replace('time = "4 s"', 'time = "9 s"')
    text = text.replace('small = { engine.mysql.buffer_pool = "5 MiB" }\n', "")
    out = tmp_path / "out"
    done = tameshi("run", study(text), "--world", "simulated", "--out", out)
    assert done.returncode == 0, done.stderr
    (cell,) = results(out)["cells"]
    result = {
        kind: [e for e in cell["database"] if e["kind"] == kind] for kind in ("crash", "outage")
    }
    assert [(e["event"], e["how"]) for e in result["crash"]] == [
        ("killed", "kill"),
        ("dark", "power_cut"),
    ]
    assert len(result["outage"]) >= 1
    for event in [*result["crash"], *result["outage"]]:
        assert event["model"].keys() & {"away_ns", "first_success_ns"}
        assert {each["validated_on"] for each in event["model"].values()} == {"nothing"}
    assert cell["endurance"][0]["model"]["life_years"]["high"] > cell["endurance"][0]["life_years"]
    (check,) = [e for e in cell["database"] if e["kind"] == "check"]
    assert check["ledger"]["acknowledged"] > 100
    assert (check["ledger"]["lost"], check["holds"]) == (0, True)
    shown = (out / "report.html").read_text()
    told_of = ("killed (kill -9)", "power cut at", "pages read", "first error at")
    for said in (*told_of, "90 % of the previous rate", "not validated"):
        assert said in shown, said


def test_simulated_restart_reports_shutdown_and_outage(study, tmp_path):
    axes = STUDY[STUDY.index("[axis.storage]") : STUDY.index("[storage.disk]")]
    text = STUDY.replace(axes, 'use.storage = "flash"\n').replace('time = "4 s"', 'time = "6 s"')
    text += '[event.upgrade]\nat = "1 s"\nphase = "run"\nrestart = { down = "500 ms" }\n'
    out = tmp_path / "out"
    done = tameshi("run", study(text), "--world", "simulated", "--out", out)
    assert done.returncode == 0, done.stderr
    (cell,) = results(out)["cells"]
    kinds = {event["kind"]: event for event in cell["database"]}
    restart, loaded = kinds["restart"], kinds["pool_loaded"]
    assert restart["event"] == loaded["event"] == "upgrade" and restart["back"]
    assert (restart["pages"], restart["log_bytes"]) == (0, 0) and restart["pages_flushed"] > 0
    assert restart["away_ns"] >= restart["shutdown_ns"] + restart["recovery_ns"] + 500_000_000
    assert loaded["pages"] <= loaded["listed"] == restart["pages_listed"]
    assert kinds["check"]["holds"] and kinds["check"]["ledger"]["lost"] == 0
    assert (
        kinds["outage"]["outage"]["first_success_ns"] > kinds["outage"]["outage"]["first_error_ns"]
    )
    assert next(h["kind"] for s in cell["timeline"] for h in s["happened"]) == "restart"
    shown = (out / "report.html").read_text()
    assert restart["model"].keys() == {"shutdown_ns", "away_ns", "recovery_ns"}
    for said in ("shutdown at", "listed pages reloaded", "first error at", "not validated"):
        assert said in shown, said


def test_drive_failure_and_rebuild_during_tpcc_are_reported(study, tmp_path):
    text = STUDY[: STUDY.index("[axis")] + STUDY[STUDY.index("[storage.disk]") :]
    text = text.replace(
        'device = "sas-15k-146gb"\nsize = "8 GB"',
        'size = "8 GB"\nraid1 = { members = 2, device = "es3000-1.2t" }',
    )
    text = text[: text.index("[storage.flash]")] + text[text.index("[host]") :]
    text += '[event.dies]\nat = "1 s"\nfail = { member = 1 }\n'
    text += '[event.replaced]\nat = "2 s"\nreplace = { member = 1 }\n'
    out = tmp_path / "out"
    done = tameshi("run", study(text), "--world", "simulated", "--out", out)
    assert done.returncode == 0, done.stderr
    (cell,) = results(out)["cells"]
    rates = [
        stream["operations"]["transaction"]["rate"]
        for stretch in cell["timeline"]
        for stream in stretch["streams"]
    ]
    assert len(rates) == 3 and all(rate > 0 for rate in rates)
    assert any(stretch["rebuilds"] for stretch in cell["timeline"])
    shown = (out / "report.html").read_text()
    assert "member 1 of disk" in shown and "TPC-C" in shown


OVERLOAD = """
title = "More transactions than the disk commits"
question = "Is the queue told, and the rate that is served?"
[storage.disk]
device = "sata-7k2-1tb"
[engine.mysql]
version = "5.7"
buffer_pool = "64 MiB"
flush_method = "O_DIRECT"
redo_log = "64 MiB"
[workload.key_update]
tables = 1
rows = 20000
row_size = "200 B"
clients = 4
rate = "2000 /s"
[phase.run]
workload = ["key_update"]
until.time = "10 s"
"""


def test_queue_of_an_overload_is_counted(study, tmp_path):
    """Case p3-overload: queue = arrived - completed - in service, and 4 clients are busy."""
    out = tmp_path / "out"
    done = tameshi("run", study(OVERLOAD), "--world", "simulated", "--out", out)
    assert done.returncode == 0, done.stderr
    output = tameshi("report", out, "--format", "sysbench").stdout
    waiting, working = (
        [int(n) for n in re.findall(rf"{what}: (\d+)", output)]
        for what in ("queue length", "concurrency")
    )
    rates = [float(n) for n in re.findall(r" tps: ([0-9.]+)", output)]
    assert len(waiting) == len(rates) == 10
    assert working == [4] * 10
    completed = 0.0
    for second, rate in enumerate(rates):
        # Means over a second: what has come by its middle, less what was served by then.
        expected = 2000 * (second + 0.5) - completed - rate / 2 - 4
        assert abs(waiting[second] - expected) < 0.1 * expected, (second, waiting, rates)
        completed += rate
