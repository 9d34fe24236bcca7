"""Ready studies of failures, with real servers on served drives."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from command import codes, results, tameshi_process
from emulated_studies import all_events
from served import left, only_served_drives


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    """One test at a time: each checks that nothing is left of any served drive."""
    with only_served_drives():
        yield


def emulate(name: str, out: Path, *options: str) -> Path:
    """Run a ready study at quick size in the emulated world; return its folder."""
    words = ("run", name, "--quick", "--world", "emulated", "--out", out, *options)
    tameshi_process(*words)
    assert left() == []
    return out


@pytest.mark.soak
@pytest.mark.timeout(600)
def test_mirrors_fail_and_are_rebuilt_under_tpcc(tmp_path: Path) -> None:
    name = "raid1-failure-under-tpcc"
    out = emulate(name, tmp_path / "out", "--server", "mysql=mariadb")
    cells = results(out)["cells"]
    assert len(cells) == 6
    for cell in cells:
        assert cell["runs"] == {"complete": 1, "partial": 0, "failed": 0}
        assert "pool_not_warm" not in codes(cell["verdict"])
        rates = [e["value"] for e in cell["estimates"] if e["metric"] == "transaction.tpmc"]
        assert rates and rates[0] > 0
    assert len(all_events(out, "fail")) == len(all_events(out, "replace")) == 2
    assert all(check["holds"] for check in all_events(out, "check"))


@pytest.mark.soak
@pytest.mark.timeout(600)
def test_torn_pages_stop_a_server_that_writes_them_once(tmp_path: Path) -> None:
    out = emulate("atomic-write-under-power-cuts", tmp_path / "out")
    cells = {tuple(cell["levels"].values()): cell for cell in results(out)["cells"]}
    for (pages, drive), cell in cells.items():
        (run,) = cell["power_cuts"]
        if run["broken_by_tool"] is not None:
            # The tool refuses a file whose first page is broken, and counts it as one page.
            assert bool(run["broken_by_tool"]) == bool(run["broken"])
            assert run["broken_by_tool"] <= run["broken"]
        if (pages, drive) == ("once", "units"):
            # One cut in eight tears nothing, and some tear no page.
            assert run["broken"] and run["starts"] >= run["cuts"] - 1
            continue
        assert run["starts"] == run["cuts"] == 5 and cell["runs"]["complete"] == 1
        assert not run["broken"] or pages == "twice"
    assert all(check["holds"] for check in all_events(out, "check"))
    page = (out / "report.html").read_text()
    assert "Power cuts while pages were written" in page
