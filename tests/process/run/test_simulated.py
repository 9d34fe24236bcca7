"""Simulated studies through the command line: results, determinism, resume."""

import json

import pytest
from command import SMALL, digests, outcomes, results, tameshi


def test_a_study_becomes_runs_results_and_a_report(study, tmp_path):
    done = tameshi("run", study(), "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    found = results(tmp_path / "out")
    assert [(c["levels"], c["runs"]["complete"]) for c in found["cells"]] == [
        ({"read": read, "depth": depth}, 2) for read in ("0 %", "100 %") for depth in ("1", "4")
    ]
    metrics = {e["metric"] for e in found["cells"][0]["estimates"]}
    assert {"write.iops", "write.bandwidth", "write.latency.p99", "write.latency.max"} <= metrics
    assert found["verdict"]["level"] == "valid"
    assert (tmp_path / "out" / "report.html").stat().st_size > 400_000
    assert str(tmp_path / "out" / "report.html") in done.stdout


def test_estimates_agree_with_what_the_record_counts(study, tmp_path):
    """IOPS × mean latency = outstanding, in a closed loop without idle time, on any device."""
    tameshi("run", study(), "--out", tmp_path / "out")
    for cell in results(tmp_path / "out")["cells"]:
        kind = "read" if cell["levels"]["read"] == "100 %" else "write"
        value = {e["metric"]: e["value"] for e in cell["estimates"]}
        outstanding = value[f"{kind}.iops"] * value[f"{kind}.latency.mean"] / 1e9
        # Requests that straddle an end of the window count once at each end: one in a window's
        # worth.
        assert abs(outstanding / int(cell["levels"]["depth"]) - 1) < 0.2
        assert value[f"{kind}.bandwidth"] == pytest.approx(value[f"{kind}.iops"] * 4096)


def test_results_are_identical_under_concurrent_load(study, tmp_path):
    path = study()
    for out, jobs in (("a", "1"), ("b", "2")):
        assert tameshi("run", path, "--out", tmp_path / out, "--jobs", jobs).returncode == 0
    a, b = tmp_path / "a", tmp_path / "b"
    assert (a / "results.json").read_bytes() == (b / "results.json").read_bytes()
    assert len(digests(a)) == 4
    assert digests(a) == digests(b)


def test_results_hold_no_time_host_path_or_commit(study, tmp_path):
    import platform

    tameshi("run", study(), "--out", tmp_path / "out")
    text = (tmp_path / "out" / "results.json").read_text()
    assert str(tmp_path) not in text
    assert platform.node() not in text
    assert platform.release() not in text


def test_finished_runs_are_not_made_again(study, tmp_path):
    path, out = study(), tmp_path / "out"
    tameshi("run", path, "--out", out)
    before = {p: p.stat().st_mtime_ns for p in out.glob("runs/*/outcome.json")}
    again = tameshi("run", path, "--out", out)
    assert again.returncode == 0
    assert "0 runs to make (4 finished before)" in again.stderr
    assert {p: p.stat().st_mtime_ns for p in out.glob("runs/*/outcome.json")} == before


def test_a_changed_study_is_run_anew(study, tmp_path):
    out = tmp_path / "out"
    tameshi("run", study(), "--out", out)
    changed = SMALL.replace('"120 ms"', '"130 ms"')
    assert "4 runs to make" in tameshi("run", study(changed), "--out", out).stderr
    assert len(outcomes(out)) == 8


def test_quick_merges_its_part_in(study, tmp_path):
    text = SMALL + "[quick]\nrun.repetitions = 1\naxis.depth.levels = [2]\n"
    assert tameshi("run", study(text), "--quick", "--out", tmp_path / "out").returncode == 0
    cells = results(tmp_path / "out")["cells"]
    assert [c["levels"]["depth"] for c in cells] == ["2", "2"]


def test_defined_windows_have_their_own_estimates(study, tmp_path):
    text = SMALL + '[window.late]\nphase = "p"\nfrom = "60 ms"\nto = "100 ms"\n'
    assert tameshi("run", study(text), "--out", tmp_path / "out").returncode == 0
    windows = {e["window"] for c in results(tmp_path / "out")["cells"] for e in c["estimates"]}
    assert windows == {"p", "late"}


def test_drive_of_every_cell_is_named_as_modelled(study, tmp_path):
    """It once named only the last cell's: "model of raid0 of 4" for one, two and four drives."""
    of_drives = """
    title = "t"
    question = "q?"
    axis.drives = { set = "storage.d.raid0.members", levels = [1, 2] }
    storage.d = { raid0 = { members = 1, of = { device = "null" } } }
    workload.stream.s = {}
    phase.p = { workload = ["stream.s"], until = { amount = "1 MiB" } }
    """
    out = tmp_path / "out"
    done = tameshi("run", study(of_drives), "--out", out)
    assert done.returncode == 0, done.stderr
    for run in (out / "runs").iterdir():
        document = json.loads((run / "environment.json").read_text(encoding="utf-8"))
        assert document["model"] == "raid0 of 1 null, raid0 of 2 null"
