"""Programs on real databases, through the command line, from an empty folder."""

import subprocess
from pathlib import Path
from typing import Any

import pytest
from command import codes, outcomes, results, start, tameshi, wait_until

PRODUCTS = """
title = "Three products"
question = "Do programs run on all of them?"
[storage.disk]
size = "1 GiB"
[axis.product]
sqlite = { use.engine = "sqlite" }
mariadb = { use.engine = "mariadb" }
postgresql = { use.engine = "postgresql" }
[engine.sqlite]
options = { journal_mode = "WAL" }
[engine.mariadb]
buffer_pool = "16 MiB"
redo_log = "8 MiB"
[engine.postgresql]
buffer_pool = "16 MiB"
redo_log = "64 MiB"
[workload.key_update]
tables = 1
rows = 2000
row_size = "300 B"
clients = 2
[phase.run]
workload = ["key_update"]
ramp = "200 ms"
until = { time = "1500 ms" }
[run]
start = "cold"
interval = "100 ms"
"""
TPCC = """
title = "TPC-C"
question = "Is it right?"
[storage.disk]
device = "sas-15k-146gb"
size = "1 GiB"
[workload.tpcc]
clients = 1
[phase.run]
workload = ["tpcc"]
until = { time = "2 s" }
[run]
interval = "100 ms"
"""


def measured(path: Path, place: Path, out: Path, *more: str) -> Any:
    return tameshi("run", path, "--world", "measured", f"--on=disk={place}", "--out", out, *more)


def by_metric(cell: dict[str, Any]) -> dict[tuple[str, str], float]:
    return {(e["subject"], e["metric"]): e["value"] for e in cell["estimates"]}


@pytest.mark.timeout(300)
def test_one_study_runs_on_all_products_from_a_clean_machine(study, tmp_path, place):
    out = tmp_path / "out"
    done = measured(study(PRODUCTS), place, out)
    assert done.returncode == 0, done.stderr
    cells = {cell["levels"]["product"]: cell for cell in results(out)["cells"]}
    assert list(cells) == ["sqlite", "mariadb", "postgresql"]
    for product, cell in cells.items():
        found = by_metric(cell)
        assert found["key_update", "transaction.rate"] > 0
        assert (
            found["key_update", "statement.rate"] >= found["key_update", "transaction.rate"] * 0.9
        )
        assert found["key_update", "transaction.latency.p99"] > 0
        (caches,) = [e for e in cell["database"] if e["kind"] == "caches"]
        assert caches["start"] == "cold"
        assert not [code for code in codes(cell["verdict"]) if "cold" in code]
        if product != "sqlite":
            assert 0 <= found["server", "server.hit_ratio"] <= 1
            assert found["server", "process.processors"] > 0
    # No created file remains, and each server's log is kept.
    assert list(place.iterdir()) == []
    assert len(list(out.glob("runs/*/server.log"))) == 2
    report = (out / "report.html").read_text()
    assert "QPS" in report and "hit ratio" in report
    again = measured(study(PRODUCTS), place, out)
    assert "0 runs to make (3 finished before)" in again.stderr, again.stderr


def test_tpcc_on_the_embedded_default_is_loaded_once_and_checked(study, tmp_path, place):
    out = tmp_path / "out"
    two = TPCC.replace(
        "[storage", "[axis.clients]\nset = 'workload.tpcc.clients'\nlevels = [1, 2]\n[storage", 1
    )
    done = measured(study(two), place, out)
    assert done.returncode == 0, done.stderr
    cells = results(out)["cells"]
    assert [cell["levels"]["clients"] for cell in cells] == ["1", "2"]
    events = [event for cell in cells for event in cell["database"]]
    (loaded,) = [event for event in events if event["kind"] == "loaded"]
    assert len(loaded["conditions"]) == 12
    checks = [event for event in events if event["kind"] == "check"]
    assert len(checks) == 2 and all(check["holds"] for check in checks)
    for cell in cells:
        found = by_metric(cell)
        kinds = {subject for subject, _ in found if subject.startswith("tpcc.")}
        assert {"tpcc.new_order", "tpcc.payment"} <= kinds
        orders = found["tpcc.new_order", "transaction.rate"]
        assert found["tpcc.new_order", "transaction.tpmc"] == pytest.approx(60 * orders)
        total = sum(found[kind, "transaction.rate"] for kind in kinds)
        assert found["tpcc", "transaction.rate"] == pytest.approx(total)


def test_an_interrupted_run_leaves_no_server_and_is_made_again(study, tmp_path, place):
    out = tmp_path / "out"
    path = study(
        PRODUCTS.replace('"1500 ms"', '"60 s"').replace(
            'sqlite = { use.engine = "sqlite" }\n', "", 1
        )
    )
    process = start("run", path, "--world", "measured", f"--on=disk={place}", "--out", out)
    wait_until(
        lambda: any("phase_ramped" in p.read_text() for p in out.glob("runs/*/events.jsonl")),
        process,
    )
    process.send_signal(2)
    _, errors = process.communicate()
    assert process.returncode == 130, errors
    assert [o["status"] for o in outcomes(out)] == ["partial"]
    data = place / "tameshi-disk-db" / "data"
    assert list(data.iterdir()) == [], "stopped, and emptied"


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("engine", "room"), [("sqlite", "90m"), ("mariadb", "200m")])
def test_full_disk_while_loading_is_reported_and_cleaned(study, tmp_path, place, engine, room):
    small = place / "small"
    small.mkdir()
    options = f"size={room},mode=755"
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(small)], check=True)
    try:
        settings = PRODUCTS[PRODUCTS.index("[engine") :].replace("rows = 2000", "rows = 300000")
        text = (
            f'title = "Full"\nquestion = "?"\nuse.engine = "{engine}"\n'
            f'[storage.disk]\nsize = "8 MiB"\n{settings}'
        )
        done = measured(study(text.replace('"300 B"', '"900 B"')), small, tmp_path / "out")
        assert done.returncode == 1, done.stderr
        (outcome,) = outcomes(tmp_path / "out")
        assert "the data set could not be loaded" in outcome["reason"]["values"]["text"], outcome
        assert "The storage ran full" in outcome["reason"]["values"]["text"], outcome
        left = [path for path in small.rglob("*") if path.is_file()]
        assert sum(path.stat().st_size for path in left) < 4096, left
    finally:
        subprocess.run(["umount", "--lazy", str(small)], check=True)


@pytest.mark.parametrize(
    ("engine", "option", "said"),
    [
        ("mariadb", 'innodb_page_size = "5000"', "5000"),
        ("postgresql", 'no_such_thing = "1"', 'unrecognized configuration parameter "no_such'),
    ],
)
def test_server_dying_at_start_is_reported_with_last_words(
    study, tmp_path, place, engine, option, said
):
    program = PRODUCTS[PRODUCTS.index("[workload") : PRODUCTS.index("[run]")]
    text = TPCC[: TPCC.index("[workload")] + program + f"[engine.{engine}.options]\n{option}"
    done = measured(study(text), place, tmp_path / "out")
    assert done.returncode == 1, done.stderr
    (outcome,) = outcomes(tmp_path / "out")
    assert said in outcome["reason"]["values"]["text"], outcome
    left = [path for path in place.rglob("*") if path.is_file()]
    assert all(path.name.startswith(".tameshi") for path in left), left


def test_value_unknown_to_sysbench_is_refused(study, tmp_path):
    for wrong in ('mysql_storage_engine = "x; DROP"', "rand_pareto_h = 1.0", "rand_spec_pct = 0"):
        oltp = f'[workload.oltp]\nmix = "read_only"\nclients = 1\ntables = 1\nrows = 9\n{wrong}'
        text = TPCC.replace("[workload.tpcc]\nclients = 1", oltp).replace('["tpcc"]', '["oltp"]')
        done = tameshi("plan", study(text), "--world", "measured")
        assert done.returncode == 2, done.stdout
        assert "sysbench's option has no such value" in done.stderr
        assert f"workload.oltp.{wrong.split()[0]}" in done.stderr


BAD = [
    (
        "simulated",
        "",
        ["--world", "simulated"],
        "this product is not simulated yet key: engine.sqlite accepted: mysql, mariadb",
    ),
    ("a file", "", ["--on=disk={study}"], "a database needs a directory"),
    ("no such place", "", ["--on=disk={study}/none"], "a database needs a directory"),
    ("version", '[engine.mariadb]\nversion = "5.5"', [], "another version of MariaDB"),
    ("small pool", '[engine.mariadb]\nbuffer_pool = "1 MiB"', [], "so small a buffer pool"),
    ("path", '[engine.mariadb]\noptions = { innodb_data_home_dir = "/etc" }', [], "names no path"),
    ("option", '[engine.mariadb]\noptions = { innodb_bufer = "1" }', [], "no such option"),
    ("product", "[engine.mysql]", ["--server=mysql=oracle"], "unknown database server"),
    ("not installed", "[engine.mysql]", [], "MySQL is not installed"),
    ("secret", '[engine.mariadb]\ndsn = "mariadb://me:x@h/d"', [], "engine.mariadb.dsn"),
    ("end", "", [], "a phase of a program ends by `time`"),
    (
        "data set",
        '[axis.rows]\nvaries = "within"\nset = "workload.key_update.rows"\nlevels = [1, 2]',
        [],
        "data set cannot change within a run",
    ),
]


@pytest.mark.parametrize(("name", "more", "options", "expected"), BAD, ids=[c[0] for c in BAD])
def test_bad_databases_are_refused_and_create_nothing(
    study, tmp_path, name, more, options, expected
):
    text = TPCC.replace(
        "[workload.tpcc]\nclients = 1\n",
        PRODUCTS[PRODUCTS.index("[workload") : PRODUCTS.index("[phase")],
    )
    text = text.replace('["tpcc"]', '["key_update"]') + more
    if name == "end":
        text = text.replace('until = { time = "2 s" }', 'until = { amount = "1 MiB" }')
    path = study(text)
    before = sorted(tmp_path.rglob("*"))
    on = (
        []
        if any("--on" in o for o in options) or name == "simulated"
        else [f"--on=disk={tmp_path}"]
    )
    world = [] if name == "simulated" else ["--world", "measured"]
    options = [option.replace("{study}", str(path)) for option in options]
    done = tameshi("run", path, "--out", tmp_path / "out", *world, *on, *options)
    assert done.returncode == 2, done.stderr
    said = " ".join(done.stderr.split())
    assert expected in said, said
    assert "me:x" not in said
    assert sorted(tmp_path.rglob("*")) == before
