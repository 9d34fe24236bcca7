"""Slow motion: rates of slowed time, wall time, slowed servers, power cuts."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command import results, tameshi_process
from emulated_studies import STREAM, database, events, run
from making import Maker
from served import left, only_served_drives

SLOW = 4
ARRIVING = STREAM.replace("TIME", "2 s").replace(
    "queue_depth = 2", 'arrivals = { constant = { rate = "100 /s" } }'
)
SLEEPS = {"mariadb": "SELECT SLEEP(1)", "postgresql": "SELECT pg_sleep(1)"}
DATES = {
    "mariadb": "SELECT UNIX_TIMESTAMP(NOW(6))",
    "postgresql": "SELECT extract(epoch FROM now())",
}


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    """One test at a time: each checks that nothing is left of any served drive."""
    with only_served_drives():
        yield


def phase_ns(out: Path) -> int:
    """Return the recorded length of the only phase."""
    ((begin,), (end,)) = (events(out, kind) for kind in ("phase_begin", "phase_end"))
    return int(end["t_ns"] - begin["t_ns"])


def operations(out: Path) -> dict[str, dict[str, Any]]:
    """Return the drive's figures of reads and writes."""
    (figures,) = events(out, "drive_figures")
    return {kind: figures["operations"][kind] for kind in ("read", "write")}


def test_rates_of_slowed_time_are_those_of_the_wall(tmp_path: Path) -> None:
    usual = run(tmp_path, ARRIVING)
    begin_s = time.monotonic()
    slow = run(tmp_path, ARRIVING, "--slow", str(SLOW), out="slow")
    assert time.monotonic() - begin_s > 2 * SLOW
    assert phase_ns(slow) == pytest.approx(phase_ns(usual), rel=0.05)
    for kind, of in operations(slow).items():
        before = operations(usual)[kind]
        # The load arrives at a rate of slowed time.
        assert of["operations"] == pytest.approx(before["operations"], rel=0.2)
        # The disk's own time is not slowed; the median of some 60 writes varies by a fifth.
        assert 0.5 < of["modelled_ns"]["p50"] / before["modelled_ns"]["p50"] < 2
        assert of["met_ns"]["p50"] >= of["modelled_ns"]["p50"] * 0.98
    (cell,) = results(slow)["cells"]
    assert cell["slow"] == SLOW and "slow" not in results(usual)["cells"][0]
    (environment,) = slow.glob("runs/*/environment.json")
    assert json.loads(environment.read_text())["slow"] == SLOW
    assert "in slow motion × 4" in (slow / "report.html").read_text()


def test_factor_makes_another_run(tmp_path: Path) -> None:
    short = ARRIVING.replace("2 s", "500 ms")
    out = run(tmp_path, short)
    before = set(out.glob("runs/*"))
    run(tmp_path, short, "--slow", "2")
    (more,) = set(out.glob("runs/*")) - before
    assert json.loads((more / "environment.json").read_text())["slow"] == 2
    (cell,) = results(out)["cells"]
    assert cell["slow"] == 2


def test_auto_says_what_it_chose_and_why(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(ARRIVING.replace("2 s", "300 ms"))
    options = ("--world", "emulated", "--slow", "auto", "--out", tmp_path / "out")
    done = tameshi_process("run", tmp_path / "s.toml", *options)
    assert done.returncode == 0, done.stderr
    assert "slow motion 1: the path takes" in done.stdout
    assert left() == []


@pytest.mark.timeout(300)
def test_host_decides_the_factor_which_a_repeated_command_keeps(tmp_path: Path) -> None:
    text = database("mariadb", "sas-15k-146gb").replace("1 GiB", "512 MiB").replace("4 s", "1 s")
    text = text.replace('at = "1500 ms"', 'at = "500 ms"')
    (tmp_path / "s.toml").write_text(text)
    host = "2x-xeon-e5-2680v3-centos72"
    options = ("--world", "emulated", "--slow-like", host, "--out", tmp_path / "out")
    told = []
    for _ in range(2):
        done = tameshi_process("run", tmp_path / "s.toml", *options)
        assert done.returncode == 0, done.stderr
        told += [line for line in done.stdout.splitlines() if line.startswith("slow motion ")]
    assert len(told) == 2 and told[0] == told[1] and f"simulated on `{host}`" in told[0]
    factor = float(told[0].split()[2].rstrip(":"))
    (cell,) = results(tmp_path / "out")["cells"]
    assert cell.get("slow", 1) == factor >= 1
    assert len([*(tmp_path / "out").glob("runs/*/outcome.json")]) == 1
    rates = {
        cell["world"]: next(
            e["value"] for e in cell["estimates"] if e["metric"] == "statement.rate"
        )
        for cell in results(tmp_path / "out" / "slow-like")["cells"]
    }
    assert factor == pytest.approx(max(rates["simulated"] / rates["emulated"], 1), abs=1e-3)
    assert left() == []


@pytest.mark.parametrize("name", ["mariadb", "postgresql"])
def test_server_sleeps_and_dates_in_slowed_time(make: Maker, name: str) -> None:
    server = make.server(name, slow=SLOW)
    server.start()
    with server.client() as client:
        dates, begin_s = [_date(client, name)], time.monotonic()
        client.query(SLEEPS[name])
        took_s = time.monotonic() - begin_s
        dates.append(_date(client, name))
    assert SLOW <= took_s < 1.5 * SLOW
    assert dates[1] - dates[0] == pytest.approx(took_s / SLOW, rel=0.1)
    pid = server.pid
    server.kill()
    assert not [path for path in Path("/dev/shm").iterdir() if path.name.endswith(f"_{pid}")]


def _date(client: Any, name: str) -> float:
    ((date,),) = client.query(DATES[name])
    return float(date)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("engine", ["mariadb", pytest.param("postgresql", marks=pytest.mark.soak)])
def test_power_cut_in_slow_motion_loses_nothing(tmp_path: Path, engine: str) -> None:
    text = database(engine, "sas-15k-146gb").replace("1 GiB", "512 MiB").replace("4 s", "3 s")
    begin_s = time.monotonic()
    out = run(tmp_path, text, "--slow", str(SLOW))
    assert time.monotonic() - begin_s > 3 * SLOW
    (cut,), (crash,) = events(out, "drive_cut"), events(out, "crash")
    assert 1.5e9 <= cut["t_ns"] < 2e9 and 0 < cut["mounted_ns"] <= crash["away_ns"]
    (check,) = events(out, "check")
    assert check["holds"] and check["ledger"]["acknowledged"] > 10 and not check["ledger"]["lost"]
