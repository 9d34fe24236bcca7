"""Events of a study in the simulated world, in results and report."""

from pathlib import Path

import pytest
from command import results, tameshi

STUDY = """
title = "A member dies and is replaced"
question = "What does it cost?"
[storage.array]
scale = 256
raid1 = { members = 2, device = "sata-ssd-480gb", rebuild_rate_min = "200 MB" }
[workload.stream.mix]
read = "50 %"
queue_depth = 4
duration = "20 s"
[phase.service]
workload = ["stream.mix"]
until = { time = "100 s" }
[event.dies]
at = "2 s"
phase = "service"
fail = { member = 1 }
[event.replaced]
at = "4 s"
replace = { member = 1 }
[event.late]
at = "90 s"
power_cut = {}
[event.needless]
at = "1 s"
replace = { member = 1 }
[run]
interval = "500 ms"
"""


def ran(folder: Path, study: str) -> tuple[Path, str]:
    """Run a study; return its results folder and terminal output."""
    (folder / "s.toml").write_text(study)
    done = tameshi("run", folder / "s.toml", "--out", folder / "out")
    assert done.returncode == 0, done.stderr
    return folder / "out", " ".join(done.stdout.split())


@pytest.fixture(scope="module")
def replaced(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    return ran(tmp_path_factory.mktemp("replaced"), STUDY)


def test_report_shows_service_after_each_event(
    replaced: tuple[Path, str],
) -> None:
    out, _ = replaced
    (cell,) = results(out)["cells"]
    kinds = [[event["kind"] for event in part["happened"]] for part in cell["timeline"]]
    assert kinds == [[], ["missed"], ["fail"], ["replace"], ["rebuilt"], ["missed"]]
    _, both, one, rebuilding, again, over = cell["timeline"]
    reads = [part["streams"][0]["operations"]["read"]["rate"] for part in (both, one, rebuilding)]
    assert reads[2] < reads[1] < reads[0]
    assert both["to_ns"] == 2_000_000_000 and one["to_ns"] == 4_000_000_000
    assert rebuilding["rebuilds"][0]["bandwidth"] > 1e8 and not again["rebuilds"]
    assert again["happened"][0]["scale"] == 256
    page = (out / "report.html").read_text()
    assert over["from_ns"] == over["to_ns"] >= 20_000_000_000
    assert "rebuild of member 1 of array completes" in page and "256 times as long" in page


def test_missed_event_is_a_warning_on_terminal(
    replaced: tuple[Path, str],
) -> None:
    out, terminal = replaced
    (cell,) = results(out)["cells"]
    assert {found["subject"] for found in cell["findings"] if found["code"] == "missed"} == {
        "late",
        "needless",
    }
    assert results(out)["verdict"]["level"] == "warning"
    said = "`needless` did not happen: member 1 works; only a failed member can be replaced"
    assert said in terminal
    page = (out / "report.html").read_text()
    assert "the event&#39;s phase, ended first" in page and "only a failed member" in page


BROKEN = (
    STUDY.replace("scale = 256", 'scale = 512\nwritten = "once"')
    .replace('"20 s"', '"6 s"')
    .replace("500 ms", "100 ms")
    .partition("[event.dies]")[0]
    + """
[event.dies]
at = "1 s"
phase = "service"
fail = { member = 1 }
[event.last]
at = "2 s"
phase = "service"
fail = { member = 0 }
[run]
interval = "100 ms"
"""
)


def test_dead_mirror_is_reported_before_its_rate(tmp_path: Path) -> None:
    out, said = ran(tmp_path, BROKEN)
    (cell,) = results(out)["cells"]
    (found,) = (found for found in cell["findings"] if found["code"] == "dead")
    assert found["subject"] == "array" and found["figures"] == {"failed_ns": 2_000_000_000.0}
    assert "Storage array failed at 2.00 s and served nothing after that." in said
    assert "a mean over an outage is no rate: array" in said


SHORT = """
title = "A phase shorter than a read"
question = "What does it say?"
[storage.disk]
device = "sas-15k-300gb"
[workload.stream.reads]
[phase]
short = { workload = ["stream.reads"], until.time = "1 us" }
rest = { workload = [], until.time = "10 ms" }
long = { workload = ["stream.reads"], until.time = "500 ms" }
[run]
interval = "1 ms"
"""


def test_empty_phase_warns_and_pause_does_not(
    tmp_path: Path,
) -> None:
    out, _ = ran(tmp_path, SHORT)
    result = results(out)
    assert result["verdict"]["level"] == "warning"
    assert {cell["phase"]: cell["verdict"]["level"] for cell in result["cells"]} == {
        "short": "warning",
        "rest": "valid",
        "long": "valid",
    }
    page = tameshi("report", str(out), "--format", "md").stdout
    assert "nothing completed: 4 KiB random read" in page
    assert page.count("No result: ") == 1
