"""A database in the simulated world, through the command line."""

from pathlib import Path

import pytest
from command import results, tameshi

STUDIES = Path(__file__).resolve().parents[2] / "studies"

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


def test_pool_and_storage_matter_and_the_report_says_what_limits(study, tmp_path):
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


def test_what_the_model_does_not_know_is_refused_by_name(study, tmp_path):
    text = STUDY.replace('flush_method = "O_DIRECT"', "")
    done = tameshi("run", study(text), "--world", "simulated", "--out", tmp_path / "out")
    assert done.returncode != 0
    assert "engine.mysql.flush_method" in done.stderr
    unknown = STUDY.replace('version = "5.7.18"', 'version = "3.23"')
    done = tameshi("run", study(unknown), "--world", "simulated", "--out", tmp_path / "out")
    assert done.returncode != 0
    assert "5.5" in done.stderr and "engine.mysql.version" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("name", "metric"),
    [
        ("mysql-disk-or-flash", "transaction.tpmc"),
        ("pcie-ssd-mysql", "transaction.rate"),
        ("key-update", "transaction.rate"),
    ],
)
def test_a_study_of_real_servers_is_simulated_as_it_stands(name, metric, tmp_path):
    path = STUDIES / f"{name}.toml"
    planned = tameshi("plan", path, "--world", "simulated")
    assert planned.returncode == 0, planned.stderr
    assert "not yet" not in planned.stdout, planned.stdout
    out = tmp_path / "out"
    done = tameshi("run", path, "--quick", "--world", "simulated", "--out", out)
    assert done.returncode == 0, done.stderr
    for cell in results(out)["cells"]:
        assert cell["runs"]["complete"] == 1
        found = {e["metric"]: e["value"] for e in cell["estimates"]}
        assert found[metric] > 0 or cell["phase"] != "tpcc", cell["levels"]
