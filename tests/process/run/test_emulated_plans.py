"""Plans of the emulated world: what it serves, what it refuses, and what is too fast for it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from command import tameshi

from tameshi.serve import plans

STUDY = """
title = "A drive"
question = "How fast?"
[storage.disk]
STORAGE
[workload.stream.io]
block_size = "4 KiB"
read = "50 %"
[phase]
run = { workload = ["stream.io"], until.time = "1 s" }
[run]
seed = 1
"""
REFUSED = [
    (
        "standby",
        'replica = { of = { device = "sas-15k-146gb" }, link = "tcp-1gbe" }\n[event.out]\n'
        'at = "100 ms"\nfail = { member = 0 }',
        "drives of a served block mirror do not fail yet",
    ),
    (
        "partition",
        'partition = { of = { device = "es3600p-v3-3.2t" }, functions = 4 }',
        "functions of a shared drive are not served yet",
    ),
    (
        "command",
        'device = "sas-15k-146gb"\n[event.out]\nat = "100 ms"\nfailover = {}',
        "`failover` is an event of a database, and no phase runs a program",
    ),
    (
        "channel",
        'device = "es3000-1.2t"\n[event.out]\nat = "100 ms"\nfail = { channel = 1 }',
        "channels of a served drive do not fail yet",
    ),
    (
        "size",
        'device = "sas-15k-146gb"\nsize = "9 TiB"',
        "less than the requested size",
    ),
]


def study(tmp_path: Path, storage: str) -> Path:
    """Write a study with a storage, and perhaps an event."""
    path = tmp_path / "study.toml"
    head, event, rest = storage.partition("\n[")
    path.write_text(STUDY.replace("STORAGE", head) + event + rest)
    return path


@pytest.mark.parametrize(
    ("storage", "expected"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED]
)
def test_what_cannot_be_served_is_refused(tmp_path: Path, storage: str, expected: str) -> None:
    done = tameshi("plan", study(tmp_path, storage), "--world", "emulated")
    said = " ".join((done.stdout + done.stderr).split())
    assert done.returncode == 2, said
    assert expected in said, said


def test_plan_names_latencies_below_the_path(tmp_path: Path) -> None:
    fast = study(tmp_path, 'device = "optane-p4800x-375g"\nsize = "1 GiB"')
    said = " ".join(tameshi("plan", fast, "--world", "emulated").stdout.split())
    assert "serves its storages from memory" in said
    assert "storage `disk` completes a read in" in said and "its latencies cannot be lower" in said
    slow = study(tmp_path, 'raid1 = { members = 2, device = "sas-15k-146gb" }')
    assert "a read in" not in tameshi("plan", slow, "--world", "emulated").stdout


@pytest.mark.parametrize("option", ["--event=x=true", "--destroy=/tmp/x"])
def test_options_of_measured_runs_are_refused(tmp_path: Path, option: str) -> None:
    path = study(tmp_path, 'device = "sas-15k-146gb"')
    done = tameshi("run", path, "--world", "emulated", option, "--out", tmp_path / "out")
    assert done.returncode == 2
    assert "this option applies to measured runs only" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("option", "verify", "expected"),
    [
        ("--on=other=/tmp", True, "no run of the study uses this storage"),
        ("--on=disk=/nowhere/at/all", True, "there is no such directory"),
        ("--on=disk=/dev/shm", True, "as the data are without --on"),
        ("--on=disk=/tmp", False, "this storage keeps no data"),
    ],
)
def test_unfit_directory_of_a_storage_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str, verify: bool, expected: str
) -> None:
    monkeypatch.setattr(plans, "require_rights", lambda: None)
    path = study(tmp_path, 'device = "sas-15k-146gb"\nsize = "1 GiB"')
    if verify:
        path.write_text(path.read_text().replace("read =", 'verify = "checksum"\nread ='))
    done = tameshi("run", path, "--world", "emulated", option, "--out", tmp_path / "out")
    assert done.returncode == 2 and expected in " ".join(done.stderr.split()), done.stderr
    assert not (tmp_path / "out").exists()


def test_simulated_run_takes_no_place_for_a_storage(tmp_path: Path) -> None:
    done = tameshi("run", study(tmp_path, 'device = "sas-15k-146gb"'), "--on=disk=/tmp")
    assert done.returncode == 2
    assert "measured and emulated runs only" in " ".join(done.stderr.split())


def test_run_without_root_is_refused_with_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    path = study(tmp_path, 'device = "sas-15k-146gb"')
    done = tameshi("run", path, "--world", "emulated", "--out", tmp_path / "out")
    assert done.returncode == 2
    said = " ".join(done.stderr.split())
    assert "serving a drive needs root" in said and "Run it with sudo" in said
    assert not (tmp_path / "out").exists()


def test_plan_names_no_flush_that_the_kernel_leaves_out(tmp_path: Path) -> None:
    disk = study(tmp_path, 'device = "sas-15k-146gb"')
    assert "cannot be lower" not in tameshi("plan", disk, "--world", "emulated").stdout


@pytest.mark.parametrize(
    ("command", "options", "message"),
    [
        ("plan", ("--world=emulated", "--server=mysql=mariadb"), "for --slow-like only"),
        ("plan", ("--slow-like=free",), "slow motion applies to emulated runs only"),
        ("run", ("--slow-like=free",), "slow motion applies to emulated runs only"),
        ("run", ("--world=emulated", "--slow-like=free"), "the study has no database server"),
        ("run", ("--world=emulated", "--slow-like=x", "--slow=2"), "the factor that --slow sets"),
    ],
)
def test_slow_motion_as_of_a_host_is_refused_with_reason(
    tmp_path: Path, command: str, options: tuple[str, ...], message: str
) -> None:
    path = study(tmp_path, 'device = "sas-15k-146gb"')
    out = ("--out", tmp_path / "out") if command == "run" else ()
    done = tameshi(command, path, *options, *out)
    assert done.returncode == 2 and message in " ".join(done.stderr.split())
    assert not (tmp_path / "out").exists()
